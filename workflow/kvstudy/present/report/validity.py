"""What the text says about failed and missed operations, and about the servers' own counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.findings.agreement import TOLERATED, flagged
from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.summary import CELL, SETTING
from kvstudy.language.current import _
from kvstudy.present.report.cell_names import CellNames
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
    """The server counted ``counted`` commands, YCSB's operations make ``expected``.

    That is the worst of ``cells`` cells that differ only in their repetition.
    """

    store: str
    workload: str
    repetition: str
    cells: int
    counter: str
    counted: int
    expected: int


@dataclass(frozen=True)
class ValidityFacts:
    """Stores and workloads have their titles.

    ``void`` is the number of void cells; ``unknown`` are stores whose misses are not
    known. ``checked`` cells were compared with their server's counters, within
    ``tolerance``; ``unchecked`` gives each reason with the stores that it concerns, and
    with the workload if it does not concern all of them.
    """

    void: int
    slower: list[Slower]
    unknown: list[str]
    checked: int
    tolerance: float
    disagreements: list[Disagreement]
    unchecked: list[tuple[str, list[str]]]


def validity_facts(
    analysis: Analysis, study: Study, titles: Mapping[str, str], names: CellNames
) -> ValidityFacts:
    """``titles`` are those of the study's stores; others are not spoken of."""
    found = analysis.validity[analysis.validity["store"].isin(study.store_names)]
    agreement = analysis.agreement[analysis.agreement["store"].isin(study.store_names)]
    compared = agreement[agreement["reason"] == ""]
    return ValidityFacts(
        void=int(found["void"].sum()),
        slower=[
            Slower(titles[row.store], names.workload(row.workload, row.parameters), lost)
            for row in found.itertuples()
            if (lost := 1 - row.goodput / row.throughput) > WORTH_SAYING
        ],
        unknown=[
            titles[store]
            for store, rows in found.groupby("store", sort=False)
            if rows["missed"].isna().all()
        ],
        checked=len(compared[CELL].drop_duplicates()),
        tolerance=TOLERATED,
        disagreements=_disagreements(compared, names, titles),
        unchecked=_unchecked(agreement, study, titles),
    )


def _disagreements(
    compared: pd.DataFrame, names: CellNames, titles: Mapping[str, str]
) -> list[Disagreement]:
    found = []
    for _place, rows in flagged(compared).groupby([*SETTING, "counter"], sort=False):
        row = rows.loc[rows["deviation"].abs().idxmax()]
        found.append(
            Disagreement(
                titles[row["store"]],
                names.workload(row["workload"], row["parameters"]),
                row["repetition"],
                len(rows),
                row["counter"],
                round(row["counted"]),
                round(row["least"] if row["deviation"] < 0 else row["most"]),
            )
        )
    return found


def _unchecked(
    agreement: pd.DataFrame, study: Study, titles: Mapping[str, str]
) -> list[tuple[str, list[str]]]:
    found: dict[str, list[str]] = {}
    for store, rows in agreement.groupby("store", sort=False):
        for reason, of in rows[rows["reason"] != ""].groupby("reason", sort=False):
            where = [titles[store]]
            if len(of) < len(rows):
                names = [name for name in study.workload_names if name in set(of["workload"])]
                where = [
                    _("{} under {}").format(titles[store], study.workload(name).title)
                    for name in names
                ]
            found.setdefault(reason, []).extend(where)
    return list(found.items())
