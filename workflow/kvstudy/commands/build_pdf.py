"""``kvstudy build-pdf``"""

from __future__ import annotations

from pathlib import Path

import click


@click.command("build-pdf")
@click.argument("main", type=click.Path(path_type=Path, dir_okay=False))
@click.option(
    "--build",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for TeX's auxiliary files [default: build beside MAIN].",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The PDF; written only when the build is without fault.",
)
def command(main: Path, build: Path | None, output: Path) -> None:
    """Build the PDF from the LaTeX source MAIN with latexmk.

    Undefined references and citations, text or tables over the margin,
    characters that a font lacks and labels defined twice fail the build.
    """
    from kvstudy.report.build import build_pdf

    build_pdf(main, build or main.parent / "build", output)
    print(output)
