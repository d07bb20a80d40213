"""``kvstudy build-html``"""

from __future__ import annotations

from pathlib import Path

import click

FOLDER = click.Path(path_type=Path, file_okay=False)


@click.command("build-html")
@click.argument("text", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--tables", type=FOLDER, required=True, help="Folder with the tables as <name>.html.")
@click.option("--figures", type=FOLDER, required=True, help="Folder with the figures.")
@click.option(
    "--provenance",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The run's provenance.json; tables and figures then name their cells.",
)
@click.option(
    "--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The file."
)
def command(text: Path, tables: Path, figures: Path, provenance: Path | None, output: Path) -> None:
    """Build the report as one HTML page from TEXT, the <run>.md of `kvstudy render`.

    front.json and references.bib stand beside it.
    """
    from kvstudy.present.report.document import Parts
    from kvstudy.present.report.html import build_html

    build_html(text, Parts(tables, figures, Path("report")), output, provenance)
    print(output)
