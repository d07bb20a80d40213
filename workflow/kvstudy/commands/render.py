"""``kvstudy render``"""

from __future__ import annotations

from pathlib import Path

import click

from kvstudy.commands.options import LANGUAGE, SCALE

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("render")
@click.option("--study", type=FILE, required=True, help="The study.yaml.")
@click.option("--cells", type=FILE, required=True, help="cells.csv of the run.")
@click.option(
    "--open-loop", type=FILE, required=True, help="cells.csv of the run's open-loop cells."
)
@click.option("--summary", type=FILE, required=True, help="summary.csv of the run.")
@click.option(
    "--published", type=FILE, help="published.csv of the study, if its source has values."
)
@click.option("--claims", type=FILE, help="claims.csv of the run, if the study has claims.")
@click.option("--audit", type=FILE, help="audit.csv of the study's source, if it has one.")
@click.option("--environment", type=FILE, required=True, help="environment.json of the run.")
@click.option("--probes", type=FILE, required=True, help="probes.csv of the run.")
@click.option("--analysis", type=FOLDER, required=True, help="The run's analysis.")
@click.option("--tables", type=FOLDER, required=True, help="Folder with the tables as <name>.tex.")
@click.option(
    "--figures", type=FOLDER, required=True, help="Folder with the figures as <name>.pdf."
)
@click.option("--raw", type=FOLDER, required=True, help="Raw logs of the run, for transcripts.")
@SCALE
@LANGUAGE
@click.option("--partial", is_flag=True, help="Say on the first page that cells are missing.")
@click.option(
    "--appendix", default="", help="A LaTeX file in the output's folder that ends the document."
)
@click.option("--output", type=FOLDER, required=True, help="Folder for text and LaTeX source.")
def command(scale: float, partial: bool, output: Path, **inputs: Path | str | None) -> None:
    """Make the text of the report, and its LaTeX source.

    Fills the text in report/text with the data of the run and writes it as <run>.md with
    front.json, which 'kvstudy build-html' and 'kvstudy build-docx' read. For 'kvstudy
    build-pdf' it writes the main file <run>.tex, body.tex and references.bib.
    """
    from kvstudy.present.report.render import Inputs, render

    print(render(Inputs(**inputs), output, scale, partial))
