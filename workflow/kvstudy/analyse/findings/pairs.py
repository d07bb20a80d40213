"""Every two stores compared: how many times one is faster, and what do the runs decide?

And the noise floor: by how much the machine shows one store from itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Protocol

from kvstudy.analyse.findings import AnalysisTable
from kvstudy.analyse.findings.spread import Setting, Spread
from kvstudy.libraries import np, pd, special
from kvstudy.stats.intervals import LEVEL
from kvstudy.stats.power import repetitions_to_decide
from kvstudy.stats.ratios import (
    Decision,
    Ratio,
    adjusted,
    decide,
    possible_equalities,
)
from kvstudy.study.controls import AGAIN, noise_store
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

FLOOR_NUMBERS = ["n", "ratio", "low", "high", "p", "p_all", "floor"]
FLOOR = AnalysisTable(
    "floor",
    ["workload", "parameters", "store", *FLOOR_NUMBERS],
    FLOOR_NUMBERS,
    make=lambda run, tables: floors(run.spread, run.study),
)
NUMBERS = ["n", "ratio", "low", "high", "p", "p_adjusted", "would_decide"]
PAIRS = AnalysisTable(
    "pairs",
    ["workload", "parameters", "faster", "slower", *NUMBERS, "decision", "in_floor"],
    NUMBERS,
    make=lambda run, tables: pairs(
        run.spread, run.study.store_names, floor_of(tables["floor"]), run.compared
    ),
)


def floors(spread: Spread, study: Study) -> pd.DataFrame:
    """Per workload: the store that was measured under two names, compared with itself.

    Columns: workload, parameters, store, n repetitions, ratio (first name by second) with its 95 %
    interval and p-value; p_all and floor, which are one of all rows. A repetition cannot cure what
    makes one store differ from itself each time, such as its place in the order or on the disk.
    ``p_all`` is the p-value that there is nothing of the kind, from the sum of squares of the
    ratios' normal scores over all workloads. If it is below 0.05, ``floor`` is exp of the root mean
    square of ln ratio: by so much one store differs from itself, and two stores must differ by
    more. Else it is 1. NaN where there is one repetition.
    """
    store = noise_store(study)
    rows: list[list[object]] = []
    scores, squares = 0.0, []
    for setting in spread.runs:
        ratio = spread.ratio(setting, store, f"{store}{AGAIN}")
        if ratio is None:
            continue
        rows.append([*setting, store, ratio.n, ratio.value, ratio.low, ratio.high, ratio.p])
        if ratio.p is not None and setting[0] != MEAN:
            scores += float(special.ndtri(ratio.p / 2)) ** 2
            squares.append(math.log(ratio.value) ** 2)
    p_all = floor = None
    if squares:
        p_all = float(special.chdtrc(len(squares), scores))
        floor = math.exp(math.sqrt(np.mean(squares))) if p_all < 1 - LEVEL else 1.0
    return FLOOR.frame([[*row, p_all, floor] for row in rows])


def floor_of(floors: pd.DataFrame) -> float | None:
    """The noise floor of a run; None where it is not known."""
    known = floors["floor"].dropna()
    return float(known.iloc[0]) if len(known) else None


def pairs(
    spread: Spread,
    stores: list[str],
    floor: float | None = None,
    compared: list[list[str]] | None = None,
) -> pd.DataFrame:
    """Ratios of all pairs of ``stores`` under each workload, of throughput or of another metric.

    Pairs are those of the stores in each list of ``compared``; None: of all. Columns: workload,
    parameters, faster, slower (the store with the larger value, the other), n repetitions that both
    have, ratio (of the geometric means, at least 1) with its 95 % interval, p (that it is not above
    the noise ``floor``), p_adjusted (for the pairs of one workload and its parameters, see
    ``stats.ratios.adjusted``), would_decide (about how many repetitions would decide an undecided
    pair; NaN where that is not known or far too many), decision (``stats.ratios.decide``: faster,
    equal, undecided), and as "yes", "no", or "" when it is not known: in_floor (there is a noise
    floor above 1, and the interval is not above it). Stores without a common repetition have no
    row.
    """
    rows: list[list[object]] = []
    for setting, of in spread.runs.items():
        measured = [store for store in stores if store in of]

        def ratio(one: str, other: str, setting: Setting = setting) -> Ratio | None:
            return spread.ratio(setting, one, other, floor or 1.0)

        rows += [[*setting, *row] for row in _rows(ratio, measured, floor, compared)]
    return PAIRS.frame(rows)


def mean_pairs(
    spread: Spread,
    settings: list[Setting],
    stores: list[str],
    floor: float | None = None,
    compared: list[list[str]] | None = None,
) -> pd.DataFrame:
    """As ``pairs``, of the geometric mean over the workloads of ``settings``, called ``MEAN``."""
    if not settings:
        return PAIRS.frame([])

    def ratio(one: str, other: str) -> Ratio | None:
        return spread.mean_ratio(settings, one, other, floor or 1.0)

    rows = _rows(ratio, stores, floor, compared)
    return PAIRS.frame([[MEAN, "all", *row] for row in rows])


def _rows(
    ratio: Callable[[str, str], Ratio | None],
    stores: list[str],
    floor: float | None,
    compared: list[list[str]] | None,
) -> list[list[object]]:
    ratios: dict[tuple[str, str], Ratio] = {}
    for one, other in combinations(stores, 2):
        if compared and not any({one, other} <= {*group} for group in compared):
            continue
        if (of := ratio(one, other)) is None:
            continue
        pair = (one, other) if of.value >= 1 else (other, one)
        ratios[pair] = of if of.value >= 1 else ratio(other, one)
    rows = []
    for pair, of in adjusted(ratios, possible_equalities(ratios)).items():
        decision = decide(of)
        more = math.nan
        if decision is Decision.UNDECIDED:
            more = repetitions_to_decide(of, floor or 1.0) or math.nan
        in_floor = ""
        if floor is not None:
            in_floor = "yes" if floor > 1 and (of.low or 1.0) <= floor else "no"
        numbers = [of.n, of.value, of.low, of.high, of.p, of.p_adjusted, more]
        rows.append([*pair, *numbers, decision.value, in_floor])
    return rows


def faster_pairs(pairs: pd.DataFrame) -> pd.DataFrame:
    """The ``pairs`` of which one store is faster, and not within the noise floor."""
    return pairs[(pairs["decision"] == Decision.FASTER) & (pairs["in_floor"] != "yes")]


def undecided_by_correction(pairs: pd.DataFrame) -> pd.DataFrame:
    """The ``pairs`` that the correction alone leaves undecided: each by itself is faster.

    ``comparisons`` is for how many pairs each was corrected.
    """
    tested = pairs.groupby(["workload", "parameters"])["p"].transform("count")
    rows = pairs.assign(comparisons=tested)
    undecided = (rows["decision"] == Decision.UNDECIDED) & rows["p_adjusted"].notna()
    return rows[undecided & (rows["low"] > 1) & (rows["in_floor"] != "yes")]


class PairRow(Protocol):
    """A row of ``pairs``."""

    faster: str
    slower: str
    ratio: float
    low: float
    high: float
    decision: str


def ratio_of(row: PairRow, store: str) -> tuple[float, float, float]:
    """Return the ratio of ``store`` to the other one in a row of ``pairs``, with its interval."""
    if store == row.faster:
        return row.ratio, row.low, row.high
    return 1 / row.ratio, 1 / row.high, 1 / row.low


def fastest_first(pairs: pd.DataFrame, stores: Iterable[str]) -> list[str]:
    """The ``stores`` by their mean logarithmic ratio to the others, over all workloads.

    Stores that are in no pair keep their place at the end.
    """
    logs: dict[str, list[float]] = {}
    for row in pairs.itertuples():
        logs.setdefault(row.faster, []).append(math.log(row.ratio))
        logs.setdefault(row.slower, []).append(-math.log(row.ratio))
    speed = {store: math.fsum(of) / len(of) for store, of in logs.items()}
    return sorted(stores, key=lambda store: -speed.get(store, -math.inf))


def by_pair(pairs: pd.DataFrame) -> dict[frozenset[str], PairRow]:
    """The rows of ``pairs`` of one workload and its parameters by their two stores."""
    return {frozenset((row.faster, row.slower)): row for row in pairs.itertuples()}


def order_of(pairs: pd.DataFrame, stores: Iterable[str]) -> dict[tuple[str, str], int]:
    """For ``stats.ranks``: every two of the ``stores``, 1 where the first one is faster.

    ``pairs`` are those of one workload and its parameters.
    """
    rows = by_pair(pairs)
    stores_ahead = {}
    for pair in combinations(stores, 2):
        row = rows.get(frozenset(pair))
        key = (row.faster, row.slower) if row else pair
        stores_ahead[key] = int(row is not None and row.decision == Decision.FASTER)
    return stores_ahead
