"""How much each store's throughput changed from run A to run B."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise

import pandas as pd

from kvstudy.present.comparison.matching import Match, Matching
from kvstudy.present.comparison.runs import EQUAL, TIE, Run
from kvstudy.stats.intervals import Interval, log_t_interval
from kvstudy.stats.power import repetitions_to_decide
from kvstudy.stats.ranks import agreement_of_runs
from kvstudy.stats.ratios import (
    Decision,
    Ratio,
    adjusted,
    decide,
    equivalence_p,
    equivalent,
    paired_ratio,
    unpaired_quotient,
    unpaired_ratio,
)

SIGNS = {Decision.FASTER: ">", Decision.EQUAL: EQUAL, Decision.UNDECIDED: TIE}
COLUMNS = [
    *["workload", "parameters", "stores", "order_a", "order_b"],
    *["pairs", "same", "opposite", "neither", "tau"],
]


def orders(a: Run, b: Run, matching: Matching) -> pd.DataFrame:
    """One row per workload and parameters with at least two shared stores.

    ``order_a`` and ``order_b`` are the ``stores`` by their mean throughput, such as
    ``redis > riak ~ memcached``: ~ between two that are undecided, = between equal ones. Of the
    ``pairs`` of stores, ``same`` have the same order in both runs, ``opposite`` ones the
    opposite; ``neither`` ones are equal or undecided in at least one run. ``tau`` is Kendall's
    tau-b, NaN where one run decides none. In each run a pair is paired by repetition (not in an
    imported one), with Holm's adjustment over the pairs of the workload. What has no order is
    added to the rows that ``matching`` leaves out.
    """
    rows = []
    for match in matching.matches:
        pairs = [_pairs(run, match) for run in (a, b)]
        if len(match.stores) < 2:
            continue
        if None in pairs:
            reason = "no order: two stores have no repetition in common"
            place = {"workload": match.workload, "parameters": match.parameters}
            matching.leave_out("AB"[pairs.index(None)], reason, **place)
            continue
        found = agreement_of_runs(*map(_signs, pairs))
        neither = found.total - found.concordant - found.discordant
        numbers = [found.total, found.concordant, found.discordant, neither, found.tau]
        shown = [_order(run, match, of) for run, of in zip((a, b), pairs, strict=True)]
        rows.append([match.workload, match.parameters, ", ".join(match.stores), *shown, *numbers])
    return pd.DataFrame(rows, columns=COLUMNS)


def _pairs(run: Run, match: Match) -> dict[tuple[str, str], Ratio] | None:
    """Ratios of every two stores; None when two have no repetition in common."""
    ratios = {}
    for one, other in combinations(match.stores, 2):
        runs = [run.runs(match.workload, match.parameters, store) for store in (one, other)]
        if run.study.imported and all(runs):
            ratios[one, other] = unpaired_ratio(*(of.values() for of in runs))
            continue
        if not runs[0].keys() & runs[1].keys():
            return None
        ratios[one, other] = paired_ratio(*runs)
    return adjusted(ratios)


def _signs(pairs: dict[tuple[str, str], Ratio]) -> dict[tuple[str, str], int]:
    return {
        pair: (1 if ratio.value > 1 else -1) if ratio.differs else 0
        for pair, ratio in pairs.items()
    }


def _order(run: Run, match: Match, pairs: dict[tuple[str, str], Ratio]) -> str:
    means = {
        store: log_t_interval(run.runs(match.workload, match.parameters, store).values()).value
        for store in match.stores
    }
    ordered = sorted(means, key=means.__getitem__, reverse=True)
    text = ordered[0]
    for one, other in pairwise(ordered):
        ratio = pairs.get((one, other)) or pairs[other, one]
        text += f" {SIGNS[decide(ratio)]} {other}"
    return text


PLACE = ["workload", "parameters", "store"]
CHANGE = ["change", "low", "high", "p", "p_holm", "different", "equivalence_p", "equal"]
CHANGE.append("would_decide")
RELATIVE = [
    *[*PLACE, "base", "n_a", "ratio_a", "low_a", "high_a"],
    *["n_b", "ratio_b", "low_b", "high_b", *CHANGE],
]
ABSOLUTE = [
    *[*PLACE, "n_a", "throughput_a", "low_a", "high_a"],
    *["n_b", "throughput_b", "low_b", "high_b", *CHANGE],
]


def relative_changes(a: Run, b: Run, matching: Matching) -> pd.DataFrame:
    """The change of each store's ratio to the base, free of the machines' speeds.

    In each run, the throughputs of store and base are divided repetition by repetition:
    ``ratio_a`` and ``ratio_b`` are the geometric means over the ``n_a`` and ``n_b``
    repetitions that have both, with paired 95 % intervals. The repetitions of an
    imported run only share a number: there it is the ratio of the geometric means over all
    runs of each, with Welch's interval. ``change`` is ratio_b/ratio_a: Welch's interval and
    p-value for independent means. ``p_holm`` is adjusted over all rows,
    ``different`` (yes, no) follows from it; ``equal`` says whether the whole interval is
    within the margin of equivalence. Both are "" where a run has one repetition.
    ``would_decide`` is about how many repetitions of each run would decide an undecided change.
    What cannot be divided is added to the rows that ``matching`` leaves out.
    """
    places, ratios, sides = [], [], []
    for match in matching.matches:
        place = {"workload": match.workload, "parameters": match.parameters}
        if matching.base is None:
            break
        if matching.base not in match.stores:
            reason = f"no value of {matching.base} in both runs to divide by"
            matching.leave_out("both", reason, **place)
            continue
        for store in match.stores:
            if store == matching.base:
                continue
            parts = [_parts(run, match, store, matching.base) for run in (a, b)]
            if None in parts:
                which = " and ".join(n for n, each in zip("AB", parts, strict=True) if not each)
                reason = f"no repetition that has a value of {matching.base} too"
                matching.leave_out(
                    "both" if len(which) > 1 else which, reason, store=store, **place
                )
                continue
            places.append([match.workload, match.parameters, store, matching.base])
            sides.append([_side(*of) for of in parts])
            (above_a, below_a), (above_b, below_b) = parts
            ratios.append(unpaired_quotient(above_b + below_a, below_b + above_a))
    return _table(places, sides, ratios, RELATIVE)


def absolute_changes(a: Run, b: Run, matching: Matching) -> pd.DataFrame:
    """The change of each store's throughput itself (ops/s), of runs of one machine.

    ``throughput_a`` and ``throughput_b`` are geometric means with their 95 % intervals;
    ``change`` is B/A, Welch's interval on logarithms; the rest as in ``relative_changes``.
    """
    places, ratios, sides = [], [], []
    for match in matching.matches:
        for store in match.stores:
            of = [
                list(run.runs(match.workload, match.parameters, store).values()) for run in (a, b)
            ]
            places.append([match.workload, match.parameters, store])
            sides.append([log_t_interval(values) for values in of])
            ratios.append(unpaired_ratio(of[1], of[0]))
    return _table(places, sides, ratios, ABSOLUTE)


# Independent lists of values, and those that they are divided by.
Parts = tuple[list[list[float]], list[list[float]]]


def _parts(run: Run, match, store: str, base: str) -> Parts | None:
    """Store by base in each repetition that has both; of an imported run each by itself.

    None where nothing can be divided.
    """
    above, below = (run.runs(match.workload, match.parameters, name) for name in (store, base))
    if run.study.imported:
        both = [list(above.values())], [list(below.values())]
        return both if above and below else None
    shared = above.keys() & below
    return ([[above[each] / below[each] for each in shared]], []) if shared else None


def _side(above: list[list[float]], below: list[list[float]]) -> Interval | Ratio:
    return unpaired_quotient(above, below) if below else log_t_interval(above[0])


def _table(places: list, sides: list, ratios: Sequence[Ratio], columns: list[str]) -> pd.DataFrame:
    rows = []
    for place, both, ratio in zip(
        places, sides, adjusted(dict(enumerate(ratios))).values(), strict=True
    ):
        cells = [number for side in both for number in (side.n, side.value, side.low, side.high)]
        change = [ratio.value, ratio.low, ratio.high, ratio.p, ratio.p_holm]
        more = repetitions_to_decide(ratio) if decide(ratio) is Decision.UNDECIDED else None
        verdicts = [_word(ratio.differs), equivalence_p(ratio), _word(equivalent(ratio)), more]
        rows.append([*place, *cells, *change, *verdicts])
    return pd.DataFrame(rows, columns=columns)


def _word(answer: bool | None) -> str:
    return {True: "yes", False: "no", None: ""}[answer]
