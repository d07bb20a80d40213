from pathlib import Path

import click


@click.command("export")
@click.argument("run")
@click.option("--language", default="en", show_default=True, help="Of the tables and figures.")
def command(run: str, language: str) -> None:
    """Collect what a thesis of your own needs of RUN.

    Tables for \\input and as CSV, figures as PDF, SVG and PNG, numbers.tex with a macro for each
    value, references.bib, and an example in English and in Czech. The folder export is made anew.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.language.current import using
    from kvstudy.present.export.folder import Sources, export

    of = find_run(run)
    # The numbers for LaTeX and the folder's own texts are English beside tables of any language.
    with using(language):
        tables, figures, output = of.tables, of.figures, of.text / "export"
    sources = Sources(
        study=of.study_file,
        summary=of.folder / "summary.csv",
        cells=of.folder / "cells.csv",
        environment=of.folder / "environment.json",
        intervals=of.analysis_folder / "intervals.csv",
        bibliography=Path("report/references.bib"),
        tables=tables,
        figures=figures,
        raw=of.raw,
        templates=Path("report/templates/export"),
    )
    print(export(sources, output, of.scale, of.partial))
