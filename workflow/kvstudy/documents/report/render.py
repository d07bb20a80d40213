"""From a run to the text of its report and its LaTeX source."""

from __future__ import annotations

import math
from pathlib import Path

from kvstudy.analyse.audit.check import LARGE, SMALL
from kvstudy.analyse.findings import bottleneck
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.cell import STALL_SECONDS
from kvstudy.analyse.tidy.clients import ENOUGH
from kvstudy.analyse.tidy.files import path_of
from kvstudy.analyse.tidy.outcomes import TOLERATED_FAILURES
from kvstudy.documents.report.caveats import caveats
from kvstudy.documents.report.cells import joined
from kvstudy.documents.report.checklist import checklist
from kvstudy.documents.report.course import FEWEST_SECONDS, MOST_WATCHING
from kvstudy.documents.report.document import Front, write_latex
from kvstudy.documents.report.facts import RunFacts, run_facts
from kvstudy.documents.report.markdown import Floats, fill, with_appendices
from kvstudy.documents.report.transcript import transcript
from kvstudy.documents.report.workloads import MOST_EXPLAINED, MOST_TIES
from kvstudy.errors import DataError, InputError
from kvstudy.language.current import _, current
from kvstudy.language.locale import list_of, long_date
from kvstudy.layout.numbers import MARK
from kvstudy.stats import intervals, laws, over_time, percentiles, power
from kvstudy.stores.definition import Deviation
from kvstudy.study.bibliography import TEXTS, check_citations
from kvstudy.study.cells import SHORTEST_SECONDS, TRIALS
from kvstudy.study.controls import measured_uses
from kvstudy.study.exhibits import AnyFigure
from kvstudy.study.parts import AUTO
from kvstudy.study.workload import operations_of


def render(run: Run, appendix: str = "") -> Path:
    """Write the report's text and its LaTeX source; returns the main file.

    ``appendix`` is a LaTeX file next to it that ends the document, or "". KvstudyError for
    files of another study or scale.
    """
    _check_cells(run)
    check_citations(run.study_file, run.study)
    facts, study = run_facts(run), run.study
    subtitle = _("Measurements of key-value stores")
    if source := study.source:
        subtitle = _("A reproduction of {}: {} ({})").format(
            source.author, source.title, source.year
        )
    values = {
        **OF_A_RUN,
        "run": facts,
        "auto_clients": study.parameters.clients == AUTO,
        "caveats": caveats(facts),
        "checklist": checklist(facts) if facts.measured and run.scale == 1 else {},
        "audit": facts.audit,
        "machine": facts.machine,
        "run_order": study.figures_of("run-order")[0],
        "deviations": _deviations(facts),
        "operations": {
            operation
            for workload in facts.workloads
            for operation in ["insert", *operations_of(workload.properties)]
        },
        "transcripts": [_transcript(figure, facts) for figure in study.figures_of("transcript")],
    }
    words = (subtitle, _dateline(facts), subtitle)
    return write_report(run, "report.md.j2", values, *words, appendix)


def write_report(
    run: Run,
    template: str,
    values: dict[str, object],
    subtitle: str,
    dateline: str,
    subject: str,
    appendix: str = "",
) -> Path:
    """Fill ``template`` with the ``values`` and what all reports show; returns the LaTeX file.

    KvstudyError where the template fails.
    """
    study = run.study
    values = {
        **OF_A_SOURCE,
        **{"study": study, "source": study.source, "floats": Floats(run)},
        **values,
    }
    text = with_appendices(fill(TEXTS, template, values))
    workloads = {use.name: use.title for use in study.workloads}
    titles = (run.name, study.title, subtitle, dateline, subject)
    front = Front(*titles, current(), run.titles, workloads)
    return write_latex(text, front, run, run.text / "report", appendix)


def _check_cells(run: Run) -> None:
    """Refuse cells of another study or of another scale: they would just not be found."""
    path = run.folder / "cells.csv"
    if run.cells.empty:
        raise DataError(f"{path}: has no cells; write it with 'kvstudy parse'")
    sizes = {(cell.workload, cell.parameters) for cell in run.planned.values()}
    stores = [use.name for use in measured_uses(run.study)]
    for row in run.all_cells.itertuples():
        wrong = ""
        if row.store not in stores or row.workload not in run.study.workload_names:
            wrong = f"{row.store}/{row.workload} is not part of the study '{run.study.name}'"
        elif (row.workload, row.parameters) not in sizes:
            wrong = f"{row.workload}/{row.parameters} is not planned at scale {run.scale:g}"
        if wrong:
            raise InputError(f"{path}: {wrong}; parse the raw logs again")


def _dateline(run: RunFacts) -> str:
    if not run.measured:
        return _("Nothing was measured")
    days = [long_date(moment) for moment in run.started]
    if run.imports and len(days) < run.measured:
        return _("Imported logs; time of measurement not recorded")
    ends = list(dict.fromkeys([*days[:1], *days[-1:]]))
    span = _("{} to {}").format(*ends) if len(ends) == 2 else "".join(ends)
    return (_("Imported logs, measured {}") if run.imports else _("Measured {}")).format(span)


# Limits that the text names, of every report and of those with measured values.
OF_A_SOURCE = {
    "client_below": laws.CLIENT_BELOW,
    "inconsistent_mark": MARK,
    "small": SMALL,
    "large": LARGE,
    "noisy": intervals.NOISY,
}
OF_A_RUN = {
    "infinity": math.inf,
    "tolerated": TOLERATED_FAILURES,
    "near_ceiling": bottleneck.NEAR_CEILING,
    "few_in_call": bottleneck.FEW_IN_CALL,
    "trials": TRIALS,
    "enough": ENOUGH - 1,
    "full": bottleneck.FULL,
    "most_watching": MOST_WATCHING,
    "fewest_seconds": FEWEST_SECONDS,
    "steady_seconds": over_time.STEADY_SECONDS,
    "steady_variation": over_time.STEADY_VARIATION,
    "stall_seconds": STALL_SECONDS,
    "shortest_seconds": SHORTEST_SECONDS,
    "enough_beyond": percentiles.ENOUGH_BEYOND,
    "most_runs": power.MOST,
    "most_ties": MOST_TIES,
    "most_explained": MOST_EXPLAINED,
}


def _deviations(run: RunFacts) -> list[tuple[str, Deviation]]:
    """Each deviation once, with the titles of the stores that share it."""
    titles = joined(
        ((store.definition.folder, deviation), store.title)
        for store in run.measured_stores
        for deviation in store.definition.deviations
    )
    return [(list_of(names), deviation) for (_, deviation), names in titles.items()]


def _transcript(figure: AnyFigure, run: RunFacts) -> dict[str, object]:
    """The figure with its lines, or with the reason why there are none."""
    headline = run.data.headline[figure.workload]
    cells = run.cells.query("store == @figure.store and workload == @figure.workload")
    rows = sorted(
        cells.itertuples(),
        key=lambda row: (row.parameters != headline, row.parameters, int(row.repetition)),
    )
    row = next((row for row in rows if row.status == "measured"), None)
    if row is None:
        reason = rows[0].reason if rows else "not-planned"
        return {"figure": figure, "lines": [], "reason": reason}
    return {
        "figure": figure,
        "sizes": run.names.sizes(row.workload, row.parameters),
        "lines": transcript(run.data.raw / path_of(row), figure.part),
    }
