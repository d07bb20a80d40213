"""``kvstudy render``"""

from __future__ import annotations

import click

from kvstudy.commands.options import LANGUAGE


@click.command("render")
@click.argument("run")
@LANGUAGE
@click.option(
    "--appendix", default="", help="A LaTeX file in the output's folder that ends the document."
)
def command(run: str, appendix: str) -> None:
    """Make the text of the report of RUN, and its LaTeX source.

    Fills the text in report/text with the data of the run and writes it as <run>.md with
    front.json, which 'kvstudy build-html' and 'kvstudy build-docx' read. For 'kvstudy
    build-pdf' it writes the main file <run>.tex, body.tex and references.bib.
    """
    from kvstudy.analyse.run import find_run
    from kvstudy.present.report.render import Inputs, render

    of = find_run(run)
    inputs = Inputs(
        study=of.study_file,
        cells=of.folder / "cells.csv",
        open_loop=of.folder / "open-loop" / "cells.csv",
        summary=of.folder / "summary.csv",
        published=of.published_file,
        environment=of.folder / "environment.json",
        probes=of.folder / "probes.csv",
        analysis=of.analysis_folder,
        tables=of.tables,
        figures=of.figures,
        raw=of.raw,
        claims=of.text / "claims.csv" if of.claims_file else None,
        audit=of.audit_file,
        appendix=appendix,
    )
    print(render(inputs, of.text / "report", of.scale, of.partial))
