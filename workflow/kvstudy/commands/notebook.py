"""``kvstudy notebook``: the analysis, step by step."""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import SCALE

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("notebook")
@click.option("--study", type=FILE, required=True, help="The study.yaml.")
@SCALE
@click.option(
    "--results",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Folder of the run: cells.csv, measurements.csv, analysis/ and so on.",
)
@click.option(
    "--published", type=FILE, help="published.csv of the study, if its source has values."
)
@click.option(
    "--notebook",
    type=FILE,
    default="workflow/notebooks/analysis.ipynb",
    show_default=True,
    help="The notebook to run; it is not changed.",
)
@click.option("--output", type=FILE, required=True, help="The HTML page.")
@click.option("--executed", type=FILE, help="The notebook with its outputs, to go on with.")
@click.option(
    "--latex", type=FILE, help="A part of a LaTeX document; figures go to a folder beside it."
)
def command(
    study: Path,
    scale: float,
    results: Path,
    published: Path | None,
    notebook: Path,
    output: Path,
    executed: Path | None,
    latex: Path | None,
) -> None:
    """Run the analysis notebook and export it to HTML, and to LaTeX.

    The notebook checks the tidy data in a second way, draws the figures and
    shows the tables. A check that fails is an error, and nothing is written.
    """
    from kvstudy.present.report.notebook import Outputs, run_notebook

    parameters = {
        "study": str(study),
        "scale": scale,
        "results": str(results),
        "published": str(published) if published else None,
    }
    run_notebook(notebook, parameters, Outputs(output, executed, latex))
    print(output)
