"""The report's text: Markdown templates filled with the facts of a run."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from jinja2 import Environment

from kvstudy.analyse.audit.check import LARGE, SMALL
from kvstudy.analyse.audit.doubts import MARK
from kvstudy.analyse.findings import bottleneck
from kvstudy.analyse.tidy.numbers import change, grouped
from kvstudy.analyse.tidy.outcomes import TOLERATED_FAILURES
from kvstudy.analyse.tidy.series import STALL_SECONDS
from kvstudy.language.current import N_, _, current
from kvstudy.language.locale import decimal, list_of, long_date, plural
from kvstudy.language.recorded import recorded
from kvstudy.present.report import numbers
from kvstudy.present.report.course import FEWEST_SECONDS, MOST_WATCHING
from kvstudy.present.report.escape import Markup, code, for_markdown
from kvstudy.present.report.facts import RunFacts, WorkloadFacts
from kvstudy.present.report.floats import Floats
from kvstudy.present.report.glance import glance_facts
from kvstudy.present.report.properties import property_sources
from kvstudy.present.report.surroundings import Surroundings
from kvstudy.present.report.templates import fill, text_environment
from kvstudy.present.report.transcript import transcript
from kvstudy.stats.intervals import NOISY
from kvstudy.stats.littles_law import CLIENT_BELOW
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.stats.warmup import STEADY_SECONDS, STEADY_VARIATION
from kvstudy.stores.definition import Deviation
from kvstudy.study.cells import cell_path
from kvstudy.study.controls import measured_uses
from kvstudy.study.figure_kinds import RunOrder, Transcript
from kvstudy.study.workload import operations_of


def write_text(folder: Path, run: RunFacts, floats: Floats, raw: Path) -> str:
    """The Markdown of the whole report. ``raw`` holds the cells, for the transcripts."""
    return fill(prose_environment(folder), "report.md.j2", _context(run, floats, raw))


def text_folder(report: Path) -> Path:
    """The templates of the text in the current language, below the folder ``report``."""
    return report / "text" / current()


def prose_environment(folder: Path) -> Environment:
    """Templates of the text, with the filters that say how values look in it."""
    environment = text_environment(folder)
    environment.filters |= {
        "md": Markup,
        "code": code,
        "listed": listed,
        "numbers": distinct_numbers,
        "significant": numbers.plain,
        "as_unit": numbers.as_unit,
        "as_range": numbers.as_range,
        "as_percent": numbers.as_percent,
        "as_rough_percent": numbers.as_rough_percent,
        "bytes": numbers.as_bytes,
        "as_duration": numbers.as_duration,
        "as_time": as_time,
        "as_day": lambda moment: Markup(as_date(moment)),
        "rho": numbers.as_correlation,
        "p_value": numbers.as_p_value,
        "change": change,
        "shortest": lambda value: Markup(decimal(f"{value:g}")),
        # As a command takes it, whatever the language.
        "plain": lambda value: Markup(f"{value:g}"),
        "translated": recorded,
        "plural": plural,
    }
    return environment


def listed(items: Iterable[str]) -> Markup:
    """``a``, ``a and b``, ``a, b and c``."""
    texts = [for_markdown(item) for item in items]
    if not texts:
        raise ValueError("an empty list; ask for its length before")
    return Markup(list_of(texts))


def distinct_numbers(values: Iterable[int]) -> Markup:
    """Each number once, in order: ``1, 2 and 4``."""
    return listed(grouped(str(value)) for value in sorted(set(values)))


def as_time(moment: datetime) -> Markup:
    """``20 November 2026, 19:46 (UTC)``."""
    zone = f" ({moment.tzname()})" if moment.tzinfo else ""
    return Markup(f"{as_date(moment)}, {moment:%H:%M}{zone}")


def as_date(moment: datetime) -> str:
    return long_date(moment)


def _context(run: RunFacts, floats: Floats, raw: Path) -> dict[str, object]:
    study = run.study
    several = [workload for workload in run.workloads if len(workload.operations) > 1]
    return {
        "run": run,
        "study": study,
        "source": study.source,
        "audit": run.audit,
        "against": run.against,
        "client_below": CLIENT_BELOW,
        "rejected_mark": MARK,
        "small": SMALL,
        "large": LARGE,
        "noisy": NOISY,
        "floats": floats,
        "run_order": next(each for each in study.figures if isinstance(each, RunOrder)),
        "glance": glance_facts(study, run.environment),
        "machine": Surroundings(
            run.environment,
            {use.name: run.title(use.name) for use in measured_uses(study)},
            run.names,
        ),
        "property_sources": property_sources(study, run.title),
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
        "run_sizes": _sizes(run),
        "measured_titles": [store.title for store in run.measured_stores],
        "deviations": _deviations(run),
        "operations": {
            operation
            for workload in run.workloads
            for operation in ["insert", *operations_of(workload.properties)]
        },
        "combined": " + ".join(map(_, several[0].operations)) if several else None,
        "transcripts": [_transcript(figure, run, raw) for figure in run.transcripts],
    }


def _deviations(run: RunFacts) -> list[tuple[str, Deviation]]:
    """Each deviation once, with the titles of the stores that share it."""
    titles: dict[tuple[Path, Deviation], list[str]] = {}
    for store in run.measured_stores:
        for deviation in store.definition.deviations:
            titles.setdefault((store.definition.folder, deviation), []).append(store.title)
    return [(list_of(names), deviation) for (_, deviation), names in titles.items()]


def _sizes(run: RunFacts) -> list[tuple[WorkloadFacts, list[str]]]:
    """The titles of the workloads that have the same sizes, with the first of them."""
    found: dict[tuple[str, ...], tuple[WorkloadFacts, list[str]]] = {}
    for workload in run.workloads:
        key = tuple(cell.parameters for cell in workload.sizes)
        found.setdefault(key, (workload, []))[1].append(workload.title)
    return list(found.values())


def _transcript(figure: Transcript, run: RunFacts, raw: Path) -> dict[str, object]:
    """The figure with its lines, or with the reason why there are none."""
    cells = [
        row
        for row in run.cells
        if (row["store"], row["workload"]) == (figure.store, figure.workload)
    ]
    shown = next(
        workload.result.cell.parameters
        for workload in run.workloads
        if workload.use.name == figure.workload
    )
    cells.sort(
        key=lambda row: (row["parameters"] != shown, row["parameters"], int(row["repetition"]))
    )
    for row in cells:
        if row["status"] == "measured":
            path = (row[key] for key in ("store", "workload", "parameters", "repetition"))
            name = cell_path(*path)
            return {
                "figure": figure,
                "cell": name,
                "sizes": run.names.sizes.get((row["workload"], row["parameters"]), ""),
                "lines": transcript(raw / name, figure.part),
            }
    reason = cells[0]["reason"] if cells else N_("not planned")
    return {"figure": figure, "cell": "", "lines": [], "reason": reason}
