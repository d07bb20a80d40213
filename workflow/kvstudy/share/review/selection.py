"""The part of an archive's comparisons that fits into the minutes of a reviewer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import floor, log10

from kvstudy.measure.planning.costs import Estimator
from kvstudy.share.review.original import ArchivedPair, Original
from kvstudy.stats.ratios import Decision
from kvstudy.study.cells import Cell, plan
from kvstudy.study.model import Study

# Seconds of a run phase and repetitions, best first.
SHAPES = ((16.0, 6), (8.0, 6), (4.0, 5), (4.0, 3), (2.0, 3))
LOAD_SECONDS = 10.0
FEWEST, MOST = 3, 12
# A slower store has fewer operations than the others.
MOST_TIMES = 5.0
# Of the time, by the archive's own times: this machine may be a third slower than the archive's,
# and verifying takes its part.
USABLE = 0.7
# Fewer operations show the start of the client, not the store.
LEAST_OPERATIONS, LEAST_RECORDS = 5000, 1000


@dataclass(frozen=True)
class ReviewSelection:
    """The measured part: a ``study`` with the chosen ``pairs``, and why others are not tried.

    ``seconds`` is what a repetition takes by the archive's costs, None where nothing fits.
    """

    study: Study | None
    pairs: list[ArchivedPair]
    not_tried: list[tuple[ArchivedPair, str]]
    seconds: float | None = None

    @property
    def cells(self) -> list[Cell]:
        return plan(self.study) if self.study else []


def select(
    original: Original, name: str, missing: dict[str, str], seconds: float
) -> ReviewSelection:
    """Choose workloads, stores and sizes that fit into ``seconds``.

    ``missing`` says why a store cannot be measured here. Workloads with most claims come first,
    and are dropped last; then the slowest store is.
    """
    pairs, not_tried = [], []
    for pair in original.pairs:
        reason = _untried(original, pair, missing)
        (not_tried.append((pair, reason)) if reason else pairs.append(pair))
    estimator = Estimator(original.costs)
    stores = [use.name for use in original.study.stores if any(use.name in p.stores for p in pairs)]
    while len(stores) > 1:
        workloads = _by_importance(original, pairs, stores)
        while workloads:
            for run_seconds, repetitions in SHAPES:
                study = review_study(original, name, stores, workloads, run_seconds)
                needed = _repetition_seconds(study, estimator)
                if needed is not None and needed * repetitions <= USABLE * seconds:
                    chosen = [p for p in pairs if p.workload in workloads and p.stores <= {*stores}]
                    rest = [p for p in pairs if p not in chosen]
                    late = "does not fit into the time"
                    return ReviewSelection(
                        study, chosen, not_tried + [(p, late) for p in rest], needed
                    )
            workloads.pop()
        stores.remove(_slowest(original, stores))
    late = "does not fit into the time" if pairs else ""
    return ReviewSelection(None, [], not_tried + [(pair, late) for pair in pairs])


def _untried(original: Original, pair: ArchivedPair, missing: dict[str, str]) -> str:
    """Return why the pair cannot be tried, or "" where it can."""
    if pair.decision is Decision.UNDECIDED:
        return "the archive leaves it undecided"
    for kind, name in (
        ("workload", pair.workload),
        *(("store", store) for store in (pair.faster, pair.slower)),
    ):
        if reason := original.foreign.get((kind, name)):
            return reason
    for store in (pair.faster, pair.slower):
        if store in missing:
            return f"{original.titles[store]}: {missing[store]}"
    return ""


def _by_importance(
    original: Original, pairs: Iterable[ArchivedPair], stores: list[str]
) -> list[str]:
    """Return the workloads that two of the ``stores`` are compared under, most claims first."""
    counts: dict[str, int] = {}
    for pair in pairs:
        if pair.stores <= {*stores}:
            counts[pair.workload] = counts.get(pair.workload, 0) + 1 + 10 * len(pair.claims)
    order = [name for name in original.study.workload_names if name in counts]
    return sorted(order, key=lambda name: -counts[name])


def _slowest(original: Original, stores: list[str]) -> str:
    def rate(store: str) -> float:
        return min(value for (name, _workload), value in original.rates.items() if name == store)

    return min(stores, key=rate)


def _repetition_seconds(study: Study, estimator: Estimator) -> float | None:
    """Return what one repetition takes; None where a cell has no estimate."""
    estimates = [estimator(cell) for cell in plan(study) if cell.repetition == 1]
    if not all(estimates):
        return None
    return sum(estimate.seconds for estimate in estimates)


def review_study(
    original: Original, name: str, stores: list[str], workloads: list[str], run_seconds: float
) -> Study:
    """Return the archive's study with these stores and workloads, at sizes that take so long."""
    uses = []
    for use in original.study.stores:
        if use.name in stores:
            kept = use.model_dump(mode="json", exclude_unset=True)
            kept |= {"store": use.store, "name": use.name, "title": original.titles[use.name]}
            kept |= _sizes(original, use.name, stores, workloads, run_seconds)
            uses.append({key: value for key, value in kept.items() if value is not None})
    of_workloads = []
    for use in original.study.workloads:
        if use.name in workloads:
            cell = next(cell for (_store, of), cell in original.cells.items() if of == use.name)
            base = _base(original, use.name)
            kept = {"name": use.name, "file": use.file, "title": use.title, "short": use.short}
            kept |= {"properties": dict(use.properties), "threads": cell.threads}
            kept |= {"records": base.records}
            kept |= {"operations": base.operations} if base.operations else {}
            if base.seconds is not None:
                kept["seconds"] = min(base.seconds, max(1, round(run_seconds)))
            if use.stores:
                kept["stores"] = [name for name in use.stores if name in stores]
            of_workloads.append(kept)
    shared = original.study.parameters
    first = of_workloads[0]
    return Study.model_validate(
        {
            "name": name,
            "title": f"Review of {original.run.name}",
            "question": f"Do the comparisons of {original.run.name} hold on this machine?",
            "stores": uses,
            "workloads": of_workloads,
            "parameters": {
                "records": first["records"],
                "operations": first.get("operations", 1),
                "threads": first["threads"],
                "clients": shared.clients,
                "properties": dict(shared.properties),
            },
            "repetitions": {"from": FEWEST, "to": MOST},
            "seed": int(original.digest[:7], 16),
            "noise_floor": False,
            "client_ceiling": False,
            "expected_failures": [
                failure.model_dump(mode="json", exclude_unset=True)
                for failure in original.study.expected_failures
                if failure.store in stores
            ],
        }
    )


def _base(original: Original, workload: str) -> Cell:
    """Return the largest cell of the workload: its sizes are those of stores without their own."""
    cells = [cell for (_store, name), cell in original.cells.items() if name == workload]
    return max(cells, key=lambda cell: (cell.records, cell.operations))


def _sizes(
    original: Original, store: str, stores: list[str], workloads: list[str], run_seconds: float
) -> dict[str, int]:
    """Return records and operations of the store, where the archive's would take longer.

    Stores have the same number of operations, by the fastest one's rate: a client is slow at first,
    and would count more in a run of fewer. Only a store that would take ``MOST_TIMES`` as long has
    its own.
    """
    cells = [original.cells[store, name] for name in workloads if (store, name) in original.cells]
    rates = [original.rates[store, name] for name in workloads if (store, name) in original.rates]
    if not cells or not rates:
        return {}
    sizes = {}
    fastest = max(
        rate
        for (name, workload), rate in original.rates.items()
        if name in stores and workload in workloads
    )
    slow = fastest > MOST_TIMES * min(rates)
    wanted = rounded(max((max(rates) if slow else fastest) * run_seconds, LEAST_OPERATIONS))
    operations = max(cell.operations for cell in cells)
    # A timed run ends by its seconds.
    if operations and all(cell.seconds is None for cell in cells):
        sizes["operations"] = min(operations, wanted)
    loads = [
        cost.phases["load"].count / cost.phases["load"].runtime
        for cost in original.costs
        if cost.cell.store == store and "load" in cost.phases and cost.phases["load"].runtime
    ]
    records = max(cell.records for cell in cells)
    if loads:
        sizes["records"] = min(records, rounded(max(max(loads) * LOAD_SECONDS, LEAST_RECORDS)))
    return sizes


def rounded(number: float) -> int:
    """Return the number with one or two digits and zeros: 5000, 12 000."""
    scale = 10 ** max(floor(log10(number)) - 1, 0)
    return int(number // scale * scale)


def size_words(cell: Cell, archived: Cell) -> str:
    """Return how the sizes of two cells differ, "" where they do not."""
    parts = []
    for what in ("records", "operations", "seconds"):
        one, other = getattr(cell, what), getattr(archived, what)
        if one != other:
            parts.append(f"{one:,} of {other:,} {what}".replace(",", "\N{NARROW NO-BREAK SPACE}"))
    return ", ".join(parts)


def sizes_of(selection: ReviewSelection, original: Original) -> Iterator[tuple[str, str, str]]:
    """Yield store, workload and how their sizes differ from the archive's."""
    for cell in selection.cells:
        if cell.repetition == 1:
            archived = original.cells[cell.store, cell.workload]
            yield cell.store, cell.workload, size_words(cell, archived)
