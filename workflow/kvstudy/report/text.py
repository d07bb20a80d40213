"""The report's text: Markdown templates filled with the facts of a run."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from kvstudy.analysis import bottleneck
from kvstudy.report import numbers
from kvstudy.report.course import FEWEST_SECONDS, MOST_WATCHING
from kvstudy.report.escape import Markup, code, for_markdown
from kvstudy.report.facts import RunFacts
from kvstudy.report.floats import LatexFloats
from kvstudy.report.surroundings import Surroundings
from kvstudy.report.templates import fill, text_environment
from kvstudy.report.transcript import transcript
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.stats.warmup import STEADY_SECONDS, STEADY_VARIATION
from kvstudy.stores.definition import Deviation
from kvstudy.study.cells import Cell
from kvstudy.study.controls import measured_uses
from kvstudy.study.model import RunOrder, Transcript
from kvstudy.study.workload import operations_of
from kvstudy.tidy.outcomes import TOLERATED_FAILURES


def write_text(folder: Path, run: RunFacts, floats: LatexFloats, raw: Path) -> str:
    """The Markdown of the whole report. ``raw`` holds the cells, for the transcripts."""
    environment = text_environment(folder)
    environment.filters |= {
        "md": Markup,
        "code": code,
        "listed": listed,
        "significant": numbers.plain,
        "as_unit": numbers.as_unit,
        "as_range": numbers.as_range,
        "as_percent": numbers.as_percent,
        "as_rough_percent": numbers.as_rough_percent,
        "bytes": numbers.as_bytes,
        "as_duration": numbers.as_duration,
        "as_time": as_time,
        "rho": numbers.as_correlation,
        "p_value": numbers.as_p_value,
        "shortest": lambda value: Markup(f"{value:g}"),
    }
    return fill(environment, "report.md.j2", _context(run, floats, raw))


def listed(items: Iterable[str]) -> Markup:
    """``a``, ``a and b``, ``a, b and c``."""
    texts = [for_markdown(item) for item in items]
    if not texts:
        raise ValueError("an empty list; ask for its length before")
    return Markup(" and ".join([*([", ".join(texts[:-1])] if texts[1:] else []), texts[-1]]))


def as_time(moment: datetime) -> Markup:
    """``20 November 2026, 19:46 (UTC)``."""
    zone = f" ({moment.tzname()})" if moment.tzinfo else ""
    return Markup(f"{as_date(moment)}, {moment:%H:%M}{zone}")


def as_date(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"


def _context(run: RunFacts, floats: LatexFloats, raw: Path) -> dict[str, object]:
    study = run.study
    several = [workload for workload in run.workloads if len(workload.operations) > 1]
    return {
        "run": run,
        "study": study,
        "source": study.source,
        "floats": floats,
        "run_order": next(each for each in study.figures if isinstance(each, RunOrder)),
        "machine": Surroundings(
            run.environment,
            {use.name: run.title(use.name) for use in measured_uses(study)},
            {workload.use.name: workload.title for workload in run.workloads},
        ),
        "tolerated": TOLERATED_FAILURES,
        "near_ceiling": bottleneck.NEAR_CEILING,
        "few_in_call": bottleneck.FEW_IN_CALL,
        "more_with_two": bottleneck.MORE_WITH_TWO,
        "full": bottleneck.FULL,
        "most_watching": MOST_WATCHING,
        "fewest_seconds": FEWEST_SECONDS,
        "steady_seconds": STEADY_SECONDS,
        "steady_variation": STEADY_VARIATION,
        "enough_beyond": ENOUGH_BEYOND,
        "run_sizes": _sizes(run),
        "measured_titles": [store.title for store in run.measured_stores],
        "deviations": _deviations(run),
        "operations": {
            operation
            for workload in run.workloads
            for operation in ["insert", *operations_of(workload.properties)]
        },
        "combined": " + ".join(several[0].operations) if several else None,
        "transcripts": [_transcript(figure, run, raw) for figure in run.transcripts],
    }


def _deviations(run: RunFacts) -> list[tuple[str, Deviation]]:
    """Each deviation once, with the titles of the stores that share it."""
    titles: dict[tuple[Path, Deviation], list[str]] = {}
    for store in run.measured_stores:
        for deviation in store.definition.deviations:
            titles.setdefault((store.definition.folder, deviation), []).append(store.title)
    return [(" and ".join(names), deviation) for (_, deviation), names in titles.items()]


def _sizes(run: RunFacts) -> list[tuple[Cell, list[str]]]:
    """Each size of cells with the titles of the workloads that have it."""
    sizes: dict[str, tuple[Cell, list[str]]] = {}
    for workload in run.workloads:
        for result in workload.results:
            known = sizes.setdefault(result.cell.parameters, (result.cell, []))
            known[1].append(workload.title)
    return list(sizes.values())


def _transcript(figure: Transcript, run: RunFacts, raw: Path) -> dict[str, object]:
    """The figure with its lines, or with the reason why there are none."""
    cells = [
        row
        for row in run.cells
        if (row["store"], row["workload"]) == (figure.store, figure.workload)
    ]
    cells.sort(key=lambda row: (row["parameters"], int(row["repetition"])))
    for row in cells:
        if row["status"] == "measured":
            name = f"{row['store']}/{row['workload']}/{row['parameters']}/rep{row['repetition']}"
            return {"figure": figure, "cell": name, "lines": transcript(raw / name, figure.part)}
    reason = cells[0]["reason"] if cells else "not planned"
    return {"figure": figure, "cell": "", "lines": [], "reason": reason}
