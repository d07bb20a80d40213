"""Every two stores compared: how many times one is faster, and what do the runs decide?

And the noise floor: what chance alone makes of two equal stores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any

from kvstudy.analyse.findings import Finding
from kvstudy.analyse.tidy.summary import throughputs
from kvstudy.libraries import pd
from kvstudy.stats.intervals import LEVEL
from kvstudy.stats.power import repetitions_to_decide
from kvstudy.stats.ratios import Decision, Ratio, adjusted, decide, paired_ratio, unpaired_ratio
from kvstudy.study.controls import AGAIN, noise_store
from kvstudy.study.model import Study

FLOOR_NUMBERS = ["n", "ratio", "low", "high", "error", "floor"]
FLOOR = Finding(
    "floor",
    ["workload", "parameters", "store", *FLOOR_NUMBERS],
    FLOOR_NUMBERS,
    make=lambda run, made: floors(throughputs(run.values), run.study),
)
NUMBERS = ["n", "ratio", "low", "high", "p", "p_holm", "would_decide"]
PAIRS = Finding(
    "pairs",
    ["workload", "parameters", "faster", "slower", *NUMBERS, "decision", "in_floor"],
    NUMBERS,
    make=lambda run, made: pairs(
        throughputs(run.own_values), made["floor"], run.study.imported is None, run.compared
    ),
)


def floors(values: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Per workload: the store that was measured under two names, compared with itself.

    Columns: workload, parameters, store, n repetitions, ratio of the ``values`` (first
    name by second, paired by repetition) with its 95 % interval and the standard error of its
    logarithm, floor: the larger of ``high`` and 1/``low`` (NaN for a single repetition). A
    ratio of two stores below it could be of one store with itself.
    """
    store = noise_store(study)
    again = f"{store}{AGAIN}"
    rows: list[list[object]] = []
    for key, runs in _runs(values):
        if not {store, again} <= runs.keys() or _apart(runs[store], runs[again]):
            continue
        found = paired_ratio(runs[store], runs[again])
        floor = None if found.low is None else max(found.high, 1 / found.low)
        rows.append([*key, store, found.n, found.value, found.low, found.high, found.error, floor])
    return FLOOR.frame(rows)


def pairs(
    values: pd.DataFrame,
    floors: pd.DataFrame,
    paired: bool = True,
    compared: list[list[str]] | None = None,
) -> pd.DataFrame:
    """Ratios of all pairs under each workload, of throughput or of another metric.

    Pairs are those of the stores in each list of ``compared``; None: of all. They are ``paired``
    by repetition if the stores of one were measured side by side, as they are here; the
    repetitions of imported logs only have the same number.
    ``values`` has one row per repetition, all of one metric. Columns: workload, parameters,
    faster, slower (the store with the larger value, the other), n repetitions that both have,
    ratio (of the geometric means, at least 1) with its 95 % interval, p, p_holm (Holm over the
    pairs of one workload and its parameters), would_decide (about how many repetitions would decide
    an undecided pair; NaN where that is not known or far too many), decision
    (``stats.ratios.decide``: faster, equal, undecided), and as "yes", "no", or "" when it is
    not known: in_floor (the ratio is not above the noise floor, see ``floors``). Stores without a
    common repetition have no row.
    """
    rows: list[list[object]] = []
    known = {(row.workload, row.parameters): row for row in floors.dropna().itertuples()}
    for key, runs in _runs(values):
        noise = known.get(key)
        for stores, ratio in adjusted(_ratios(runs, paired, compared)).items():
            decision = decide(ratio, noise and noise.floor)
            more = math.nan
            if decision is Decision.UNDECIDED:
                again = noise and Ratio(noise.ratio, noise.n, error=noise.error)
                more = repetitions_to_decide(ratio, again) or math.nan
            numbers = [ratio.n, ratio.value, ratio.low, ratio.high, ratio.p, ratio.p_holm, more]
            in_floor = "" if noise is None else "yes" if ratio.value <= noise.floor else "no"
            rows.append([*key, *stores, *numbers, decision.value, in_floor])
    return PAIRS.frame(rows)


def undone(pairs: pd.DataFrame) -> pd.DataFrame:
    """The ``pairs`` that Holm's correction leaves undecided although their own interval excludes 1.

    ``comparisons`` is for how many pairs each was corrected.
    """
    tested = pairs.groupby(["workload", "parameters"])["p"].transform("count")
    rows = pairs.assign(comparisons=tested)
    undecided = (rows["decision"] == Decision.UNDECIDED) & (rows["p_holm"] >= 1 - LEVEL)
    return rows[undecided & (rows["low"] > 1)]


def ratio_of(row, store: str) -> tuple[float, float, float]:
    """How many times ``store`` is as fast as the other one in a row of ``pairs``, with interval."""
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


def by_pair(pairs: pd.DataFrame) -> dict[frozenset[str], Any]:
    """The rows of ``pairs`` of one workload and its parameters by their two stores."""
    return {frozenset((row.faster, row.slower)): row for row in pairs.itertuples()}


def order_of(pairs: pd.DataFrame, stores: Iterable[str]) -> dict[tuple[str, str], int]:
    """For ``stats.ranks``: every two of the ``stores``, 1 where the first one is faster.

    ``pairs`` are those of one workload and its parameters.
    """
    rows = by_pair(pairs)
    found = {}
    for pair in combinations(stores, 2):
        row = rows.get(frozenset(pair))
        key = (row.faster, row.slower) if row else pair
        found[key] = int(row is not None and row.decision == Decision.FASTER)
    return found


def _runs(values: pd.DataFrame) -> Iterator[tuple[tuple[str, str], dict[str, pd.Series]]]:
    """Each workload and its parameters with the stores' values by repetition."""
    for key, group in values.groupby(["workload", "parameters"], sort=False):
        stores = group.groupby("store", sort=False)
        yield key, {store: of.set_index("repetition")["value"] for store, of in stores}


def _ratios(
    runs: dict[str, pd.Series], paired: bool, compared: list[list[str]] | None
) -> dict[tuple[str, str], Ratio]:
    """The ratios of the faster to the slower store."""
    ratios = {}
    for one, other in combinations(runs, 2):
        if compared and not any({one, other} <= {*group} for group in compared):
            continue
        if paired and _apart(runs[one], runs[other]):
            continue
        by = paired_ratio if paired else unpaired_ratio
        ratio = by(runs[one], runs[other])
        if ratio.value >= 1:
            ratios[one, other] = ratio
        else:
            ratios[other, one] = by(runs[other], runs[one])
    return ratios


def _apart(one: pd.Series, other: pd.Series) -> bool:
    """Whether they have no repetition in common."""
    return one.index.intersection(other.index).empty
