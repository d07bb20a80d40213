"""``kvstudy build-docx``"""

from __future__ import annotations

from pathlib import Path

import click

FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("build-docx")
@click.argument("text", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--tables", type=FOLDER, required=True, help="Folder with the tables as <name>.html.")
@click.option("--figures", type=FOLDER, required=True, help="Folder with the figures.")
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The file."
)
def command(text: Path, tables: Path, figures: Path, output: Path) -> None:
    """Build the report as a Word file from TEXT, the <run>.md of `kvstudy render`.

    front.json and references.bib stand beside it.
    """
    from kvstudy.present.report.document import Parts
    from kvstudy.present.report.docx import build_docx

    build_docx(text, Parts(tables, figures, Path("report")), output)
    print(output)
