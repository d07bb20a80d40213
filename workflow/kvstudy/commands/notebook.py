from pathlib import Path

import click


@click.command("notebook")
@click.argument("run")
@click.option(
    "--notebook",
    type=click.Path(path_type=Path, dir_okay=False),
    default="workflow/notebooks/analysis.ipynb",
    show_default=True,
    help="The notebook to run; it is not changed.",
)
@click.option("--latex", is_flag=True, help="Write notebook.tex too, for the report.")
def command(run: str, notebook: Path, latex: bool) -> None:
    """Run the analysis notebook on RUN and export it to HTML.

    The notebook checks the tidy data in a second way, draws the figures and
    shows the tables. A check that fails is an error, and nothing is written. Beside the page
    report/RUN-analysis.html it writes itself with its outputs.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.present.report.notebook import run_notebook

    print(run_notebook(find_run(run), notebook, latex))
