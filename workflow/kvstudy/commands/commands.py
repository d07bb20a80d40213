"""``kvstudy commands``"""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import SCALE


@click.command("commands")
@click.option("--study", type=click.Path(path_type=Path), required=True, help="The study.yaml.")
@SCALE
@click.option(
    "--raw",
    type=click.Path(path_type=Path, file_okay=False),
    help="Raw logs of the run [default: results/RUN/raw].",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file [default: standard output].",
)
def command(study: Path, scale: float, raw: Path | None, output: Path | None) -> None:
    """Write the plain commands of every measured cell, in the order of measurement.

    Paste the first lines and then those of a cell into bash to repeat the cell by hand.
    """
    from kvstudy.present.export.by_hand import commands_of_run
    from kvstudy.study.cells import run_name
    from kvstudy.study.load import load_study

    loaded = load_study(study)
    run = run_name(loaded.name, scale)
    text = commands_of_run(loaded, scale, run, raw or Path("results") / run / "raw")
    if output is None:
        print(text, end="")
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    print(output)
