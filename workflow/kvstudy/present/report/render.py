"""From the files of a run to the LaTeX source of its report."""

from __future__ import annotations

import re
from pathlib import Path

from kvstudy.analyse.run import Run
from kvstudy.errors import KvstudyError
from kvstudy.language.current import _, current
from kvstudy.language.locale import long_date
from kvstudy.present.report.document import Front, Parts, write_latex
from kvstudy.present.report.facts import RunFacts
from kvstudy.present.report.floats import Floats
from kvstudy.present.report.text import text_folder, write_text
from kvstudy.study.controls import measured_uses
from kvstudy.study.model import Study
from kvstudy.study.run_names import REPORT


def render(run: Run, output: Path, appendix: str = "") -> Path:
    """Write the report's text and its LaTeX source into ``output``; returns the main file.

    ``appendix`` is a LaTeX file in ``output`` that ends the document, or "". KvstudyError for
    files of another study or scale.
    """
    _check_cells(run)
    parts = Parts(run.tables, run.figures, REPORT)
    _check_source(run.study, parts.references)
    facts = RunFacts(run)
    floats = Floats(run.study.source, run.tables, run.figures)
    text = write_text(text_folder(REPORT), facts, floats)
    return write_latex(text, _front(facts), parts, output, appendix)


def _check_cells(run: Run) -> None:
    """Refuse cells of another study or of another scale: they would just not be found."""
    path = run.folder / "cells.csv"
    if run.cells.empty:
        raise KvstudyError(f"{path}: has no cells; write it with 'kvstudy parse'")
    sizes = {(cell.workload, cell.parameters) for cell in run.planned.values()}
    stores = [use.name for use in measured_uses(run.study)]
    for row in run.all_cells.itertuples():
        if row.store not in stores or row.workload not in run.study.workload_names:
            raise KvstudyError(
                f"{path}: {row.store}/{row.workload} is not part of the study "
                f"'{run.study.name}'; parse the raw logs again"
            )
        if (row.workload, row.parameters) not in sizes:
            raise KvstudyError(
                f"{path}: {row.workload}/{row.parameters} is not planned at scale "
                f"{run.scale:g}; parse the raw logs again"
            )


def _check_source(study: Study, bibliography: Path) -> None:
    """The source must be in the bibliography, or every citation of it is a question mark."""
    try:
        text = bibliography.read_text(encoding="utf-8")
    except OSError as error:
        raise KvstudyError(f"{bibliography}: cannot be read: {error.strerror}") from None
    keys = re.findall(r"^@\w+\{([^,\s]+),", text, re.M)
    if study.source and study.source.key not in keys:
        raise KvstudyError(
            f"{bibliography}: has no entry '{study.source.key}', which the study "
            f"'{study.name}' names as its source; add one"
        )


def _dateline(run: RunFacts) -> str:
    days = [long_date(moment) for moment in run.started]
    span = days[0] if days else ""
    if days and days[0] != days[-1]:
        span = _("{} to {}").format(days[0], days[-1])
    if not run.measured:
        return _("Nothing was measured")
    if run.imports is None:
        return _("Measured {}").format(span)
    if len(days) < len(run.measured):
        return _("Imported logs; when they were measured is not recorded")
    return _("Imported logs, measured {}").format(span)


def _front(run: RunFacts) -> Front:
    study, source = run.study, run.study.source
    subtitle = _("Measurements of key-value stores")
    if source:
        subtitle = _("A reproduction of {}: {} ({})").format(
            source.author, source.title, source.year
        )
    return Front(
        run=run.name,
        title=study.title,
        subtitle=subtitle,
        dateline=_dateline(run),
        author=source.author if source else "",
        subject=subtitle,
        stores=run.names.titles,
        workloads={use.name: use.title for use in study.workloads},
        language=current(),
    )
