"""What the text says about failed and missed operations, and about the servers' own counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kvstudy.analysis.agreement import TOLERATED, flagged, reasons
from kvstudy.analysis.files import Analysis
from kvstudy.study.model import Study

# A smaller difference of throughput and goodput is not worth a word.
WORTH_SAYING = 0.001


@dataclass(frozen=True)
class Slower:
    """Goodput is lower than throughput by ``share`` (0 to 1)."""

    store: str
    workload: str
    share: float


@dataclass(frozen=True)
class Disagreement:
    """The server counted ``counted`` commands, YCSB's operations make ``expected``."""

    store: str
    workload: str
    repetition: str
    counter: str
    counted: int
    expected: int


@dataclass(frozen=True)
class ValidityFacts:
    """Stores and workloads have their titles.

    ``void`` is the number of void cells; ``unknown`` are stores whose misses are not
    known. ``checked`` cells were compared with their server's counters, within
    ``tolerance``; ``unchecked`` gives each reason with its stores.
    """

    void: int
    slower: list[Slower]
    unknown: list[str]
    checked: int
    tolerance: float
    disagreements: list[Disagreement]
    unchecked: list[tuple[str, list[str]]]


def validity_facts(analysis: Analysis, study: Study, titles: Mapping[str, str]) -> ValidityFacts:
    """``titles`` are those of the study's stores; others are not spoken of."""
    found = analysis.validity[analysis.validity["store"].isin(study.store_names)]
    agreement = analysis.agreement[analysis.agreement["store"].isin(study.store_names)]
    compared = agreement[agreement["reason"] == ""]
    keys = ["store", "workload", "parameters", "repetition"]
    return ValidityFacts(
        void=int(found["void"].sum()),
        slower=[
            Slower(titles[row.store], study.workload(row.workload).title, lost)
            for row in found.itertuples()
            if (lost := 1 - row.goodput / row.throughput) > WORTH_SAYING
        ],
        unknown=[
            titles[store]
            for store, rows in found.groupby("store", sort=False)
            if rows["missed"].isna().all()
        ],
        checked=len(compared[keys].drop_duplicates()),
        tolerance=TOLERATED,
        disagreements=[
            Disagreement(
                titles[row.store],
                study.workload(row.workload).title,
                row.repetition,
                row.counter,
                round(row.counted),
                round(row.least if row.deviation < 0 else row.most),
            )
            for row in flagged(compared).itertuples()
        ],
        unchecked=[
            (reason, [titles[store] for store in stores]) for reason, stores in reasons(agreement)
        ],
    )
