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
@click.option(
    "--study",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The study.yaml whose lines warnings name.",
)
def command(main: Path, build: Path | None, output: Path, study: Path | None) -> None:
    """Build the PDF from the LaTeX source MAIN with latexmk.

    Undefined references and citations and labels defined twice fail the build. What
    does not fit the page and characters that no font has are warned of.
    """
    from kvstudy.present.report.build import build_pdf

    for warning in build_pdf(main, build or main.parent / "build", output, study):
        print(f"warning: {warning}")
    print(output)
