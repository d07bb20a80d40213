"""Whether the stores stand in the same order in both runs."""

from __future__ import annotations

from itertools import combinations, pairwise

import pandas as pd

from kvstudy.present.comparison.matching import Match, Matching
from kvstudy.present.comparison.runs import Run
from kvstudy.present.comparison.words import EQUAL, TIE
from kvstudy.stats.intervals import log_t_interval
from kvstudy.stats.ranks import agreement_of_runs
from kvstudy.stats.ratios import Decision, Ratio, adjusted, decide, paired_ratio, unpaired_ratio

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
