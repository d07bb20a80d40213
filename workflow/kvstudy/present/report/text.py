"""The report's text: Markdown templates filled with the facts of a run."""

from __future__ import annotations

import math
from pathlib import Path

from kvstudy.analyse.audit.check import LARGE, SMALL
from kvstudy.analyse.findings import bottleneck
from kvstudy.analyse.tidy.cell import STALL_SECONDS
from kvstudy.analyse.tidy.numbers import MARK
from kvstudy.analyse.tidy.outcomes import TOLERATED_FAILURES
from kvstudy.language.current import _, current
from kvstudy.language.locale import list_of
from kvstudy.present.report.course import FEWEST_SECONDS, MOST_WATCHING
from kvstudy.present.report.facts import RunFacts
from kvstudy.present.report.floats import Floats
from kvstudy.present.report.markdown import fill
from kvstudy.present.report.transcript import transcript
from kvstudy.present.report.workloads import WorkloadFacts
from kvstudy.present.tables.properties import numbered
from kvstudy.stats.intervals import NOISY
from kvstudy.stats.laws import CLIENT_BELOW
from kvstudy.stats.over_time import STEADY_SECONDS, STEADY_VARIATION
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.stats.ratios import Verdict
from kvstudy.stores.definition import Deviation
from kvstudy.study.cells import cell_path
from kvstudy.study.kinds import AnyFigure
from kvstudy.study.properties import Reference, store_properties
from kvstudy.study.workload import operations_of

# Limits that the text names, of every report and of those with measured values.
OF_A_SOURCE = {
    "client_below": CLIENT_BELOW,
    "rejected_mark": MARK,
    "small": SMALL,
    "large": LARGE,
    "noisy": NOISY,
}
OF_A_RUN = {
    "infinity": math.inf,
    "tolerated": TOLERATED_FAILURES,
    "near_ceiling": bottleneck.NEAR_CEILING,
    "few_in_call": bottleneck.FEW_IN_CALL,
    "more_with_two": bottleneck.MORE_WITH_TWO,
    "full": bottleneck.FULL,
    "most_watching": MOST_WATCHING,
    "fewest_seconds": FEWEST_SECONDS,
    "steady_seconds": STEADY_SECONDS,
    "steady_variation": STEADY_VARIATION,
    "stall_seconds": STALL_SECONDS,
    "enough_beyond": ENOUGH_BEYOND,
    # Verdicts whose claims the first page quotes.
    "quoted_verdicts": (Verdict.REPRODUCED, Verdict.DIRECTION_ONLY, Verdict.CONTRADICTED),
}


def write_text(folder: Path, run: RunFacts, floats: Floats) -> str:
    """The Markdown of the whole report."""
    study = run.study
    several = [workload for workload in run.workloads if len(workload.operations) > 1]
    values = {
        **OF_A_SOURCE,
        **OF_A_RUN,
        "run": run,
        "study": study,
        "source": study.source,
        "audit": run.audit,
        "machine": run.machine,
        "floats": floats,
        "run_order": study.figures_of("run-order")[0],
        "property_sources": _property_sources(run),
        "run_sizes": _sizes(run),
        "measured_titles": [store.title for store in run.measured_stores],
        "deviations": _deviations(run),
        "operations": {
            operation
            for workload in run.workloads
            for operation in ["insert", *operations_of(workload.properties)]
        },
        "combined": " + ".join(map(_, several[0].operations)) if several else None,
        "transcripts": [_transcript(figure, run) for figure in study.figures_of("transcript")],
    }
    return fill(folder, "report.md.j2", values)


def text_folder(report: Path) -> Path:
    """The templates of the text in the current language, below the folder ``report``."""
    return report / "text" / current()


def _property_sources(run: RunFacts) -> list[tuple[int, Reference, str]]:
    """Number, reference and title of the store; none where the study has no such table."""
    if not run.study.tables_of("properties"):
        return []
    properties = store_properties(run.study)
    return [
        (number, properties[store].references[name], run.title(store))
        for number, store, name in numbered(properties)
    ]


def _deviations(run: RunFacts) -> list[tuple[str, Deviation]]:
    """Each deviation once, with the titles of the stores that share it."""
    titles: dict[tuple[Path, Deviation], list[str]] = {}
    for store in run.measured_stores:
        for deviation in store.definition.deviations:
            titles.setdefault((store.definition.folder, deviation), []).append(store.title)
    return [(list_of(names), deviation) for (_, deviation), names in titles.items()]


def _sizes(run: RunFacts) -> list[tuple[WorkloadFacts, list[str]]]:
    """The titles of the workloads that have the same sizes, with the first of them."""
    alike: dict[tuple[str, ...], tuple[WorkloadFacts, list[str]]] = {}
    for workload in run.workloads:
        key = tuple(cell.parameters for cell in workload.sizes)
        alike.setdefault(key, (workload, []))[1].append(workload.title)
    return list(alike.values())


def _transcript(figure: AnyFigure, run: RunFacts) -> dict[str, object]:
    """The figure with its lines, or with the reason why there are none."""
    cells = [
        row
        for row in run.cells
        if (row["store"], row["workload"]) == (figure.store, figure.workload)
    ]
    one = run.data.headline[figure.workload]
    cells.sort(
        key=lambda row: (row["parameters"] != one, row["parameters"], int(row["repetition"]))
    )
    for row in cells:
        if row["status"] == "measured":
            path = (row[key] for key in ("store", "workload", "parameters", "repetition"))
            name = cell_path(*path)
            return {
                "figure": figure,
                "cell": name,
                "sizes": run.names.sizes.get((row["workload"], row["parameters"]), ""),
                "lines": transcript(run.data.raw / name, figure.part),
            }
    reason = cells[0]["reason"] if cells else "not-planned"
    return {"figure": figure, "cell": "", "lines": [], "reason": reason}
