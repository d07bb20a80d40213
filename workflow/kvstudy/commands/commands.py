from pathlib import Path

import click


@click.command("commands")
@click.argument("run")
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file [default: standard output].",
)
def command(run: str, output: Path | None) -> None:
    """Write the plain commands of every measured cell of RUN, in the order of measurement.

    Paste the first lines and then those of a cell into bash to repeat the cell by hand.
    """
    from kvstudy.present.export.by_hand import commands_of_run
    from kvstudy.study.load import load_study
    from kvstudy.study.run_names import RESULTS, find_name, refuse_published

    name = refuse_published(find_name(run))
    study = load_study(name.study_file)
    text = commands_of_run(study, name.scale, name.base, RESULTS / name.base / "raw")
    if output is None:
        print(text, end="")
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")
    print(output)
