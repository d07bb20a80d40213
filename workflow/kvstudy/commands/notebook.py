"""``kvstudy notebook``"""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE, SCALE

FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("notebook")
@click.option("--study", type=FILE, required=True, help="The study.yaml.")
@SCALE
@LANGUAGE
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option("--measurements", type=FILE, required=True, help="measurements.csv of the run.")
@click.option("--summary", type=FILE, required=True, help="summary.csv of the run.")
@click.option("--probes", type=FILE, required=True, help="probes.csv of the run.")
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
def command(notebook: Path, output: Path, scale: float, **parameters: Path | None) -> None:
    """Run the analysis notebook and export it to HTML.

    The notebook checks the tidy data in a second way, draws the figures and
    shows the tables. A check that fails is an error, and no page is written.
    """
    from kvstudy.report.notebook import run_notebook

    texts = {name: None if path is None else str(path) for name, path in parameters.items()}
    run_notebook(notebook, texts | {"scale": scale}, output)
    print(output)
