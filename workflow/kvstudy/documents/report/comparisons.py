"""Facts of the first page on two stores that a table of the study compares."""

from __future__ import annotations

import math
from typing import NamedTuple

from kvstudy.analyse.findings.pairs import by_pair, faster_pairs, ratio_of
from kvstudy.analyse.run import Run
from kvstudy.exhibits.tables.comparison import KINDS
from kvstudy.study.exhibits import AnyTable


class WorkloadRatio(NamedTuple):
    """The store's throughput by the baseline's in a ``workload``, with its 95 % interval."""

    workload: str
    ratio: float
    low: float
    high: float


class Failures(NamedTuple):
    """The shares (0 to 1) of the ``operations`` that failed on the baseline and on the store.

    Both are of all workloads; ``published`` are the source's two, None where it lacks one.
    """

    operations: str
    baseline: float
    store: float
    published: tuple[float, float] | None


class ComparisonFacts(NamedTuple):
    """A ``table`` of the kind ``comparison``: workloads by short titles, at the headline sizes.

    ``decided`` are those where one of the two stores is faster, and not within the noise floor;
    ``open`` all others. ``failures`` is None if no operation failed.
    """

    table: AnyTable
    decided: list[WorkloadRatio]
    open: list[str]
    failures: Failures | None


def comparison_facts(run: Run) -> list[ComparisonFacts]:
    """Return what each such table of the study shows, where more than two stores were measured.

    The answers on the fastest store say the same of two. Nothing is said of one repetition, and of
    workloads with short runs of the two.
    """
    pairs = run.headline_analysis.pairs
    if len({*pairs["faster"], *pairs["slower"]}) <= 2:
        return []
    pairs = pairs[pairs["n"] > 1]
    decided_rows = faster_pairs(pairs).index
    facts = []
    for table in run.study.tables_of("comparison"):
        both = frozenset((table.baseline, table.store))
        decided, undecided = [], []
        for use in run.study.workloads:
            row = by_pair(pairs[pairs["workload"] == use.name]).get(both)
            if row is None or both.intersection(run.short.get(use.name, [])):
                continue
            if row.Index in decided_rows:
                decided.append(WorkloadRatio(use.short, *ratio_of(row, table.store)))
            else:
                undecided.append(use.short)
        if decided or undecided:
            facts.append(ComparisonFacts(table, decided, undecided, _failures(table, run)))
    return facts


def _failures(table: AnyTable, run: Run) -> Failures | None:
    # The last one is of all workloads.
    row = next(table.rows(run).iloc[-1:].itertuples())
    if not (row.failed_baseline > 0 or row.failed_store > 0):
        return None
    published = (row.published_failed_baseline, row.published_failed_store)
    known = not any(map(math.isnan, published))
    return Failures(
        KINDS[row.failed_operation],
        row.failed_baseline,
        row.failed_store,
        published if known else None,
    )
