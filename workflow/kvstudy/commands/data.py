"""A run's data for further questions."""

import shutil
import subprocess
import sys
from pathlib import Path

import click

from kvstudy.errors import EnvironmentFault

QUESTIONS = Path("workflow/notebooks/questions.ipynb")
# The programs of JupyterLab and of the plain notebook.
PROGRAMS = ("jupyter-lab", "jupyter-notebook")


@click.command("open")
@click.argument("run")
def open_(run: str) -> None:
    """Open a notebook with the data of RUN in JupyterLab or Jupyter Notebook.

    The notebook is results/RUN/questions.ipynb. It loads the data and answers three example
    questions; add your own. It is written once, then yours.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.share.data.notebook import write_questions

    path = write_questions(find_run(run), QUESTIONS)
    click.echo(path)
    bin_folder = str(Path(sys.executable).parent)
    programs = (shutil.which(name, path=bin_folder) or shutil.which(name) for name in PROGRAMS)
    program = next(filter(None, programs), None)
    if program is None:
        raise EnvironmentFault(
            f"{path} is written, but no Jupyter is here to open it: install one with 'pip install "
            "jupyterlab' in the activated environment, or open the file in an editor that runs "
            f"notebooks, with {sys.executable} as its Python"
        )
    sys.exit(subprocess.run([program, str(path)], check=False).returncode)


@click.command("data")
@click.argument("run")
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="The folder to create [default: RUN-data].",
)
def data(run: str, output: Path | None) -> None:
    """Write the data of RUN as CSV and Parquet with a schema, for R and other programs.

    datapackage.json describes each column (Frictionless Data Package).
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.share.data.package import write_package

    of = find_run(run)
    output = output or Path(f"{of.name}-data")
    write_package(of, output)
    click.echo(output)
