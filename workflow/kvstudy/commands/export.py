"""``kvstudy export``"""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import SCALE

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("export")
@click.option("--study", type=FILE, required=True, help="The study.yaml.")
@SCALE
@click.option("--summary", type=FILE, required=True, help="summary.csv of the run.")
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--environment", type=FILE, required=True, help="environment.json of the run.")
@click.option("--intervals", type=FILE, required=True, help="analysis/intervals.csv of the run.")
@click.option("--tables", type=FOLDER, required=True, help="Folder with the tables.")
@click.option("--figures", type=FOLDER, required=True, help="Folder with the figures.")
@click.option("--raw", type=FOLDER, required=True, help="Raw logs of the run, for their checksum.")
@click.option(
    "--bibliography",
    type=FILE,
    default=Path("report/references.bib"),
    show_default=True,
    help="Entries of the source and of YCSB.",
)
@click.option(
    "--templates",
    type=FOLDER,
    default=Path("report/templates/export"),
    show_default=True,
    help="Folder of the templates.",
)
@click.option("--partial", is_flag=True, help="The run is one with cells missing.")
@click.option("--output", type=FOLDER, required=True, help="The folder; it is made anew.")
def command(scale: float, partial: bool, output: Path, **sources: Path) -> None:
    """Collect what a thesis of your own needs.

    Tables for \\input and as CSV, figures as PDF, SVG and PNG, numbers.tex with a macro for each
    value, references.bib, and an example in English and in Czech.
    """
    from kvstudy.present.export.folder import Sources, export

    print(export(Sources(**sources), output, scale, partial))
