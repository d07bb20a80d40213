"""The decisions that a user of the stores may rest on throughput, and those that none can."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from kvstudy.analyse.findings.pairs import faster_pairs
from kvstudy.analyse.run import Run
from kvstudy.documents.report.cells import joined

# A paragraph names at most so many pairs: of more stores those with the fastest one alone.
MOST_PAIRS = 6


class Advantage(NamedTuple):
    """The store that is faster than the ``others`` in each of the ``workloads``, all by titles."""

    store: str
    others: list[str]
    workloads: list[str]


class Conclusions(NamedTuple):
    """The pairs of stores at the headline sizes, by titles.

    ``faster`` is decided in the same way wherever it is decided; of the ``contrary`` pairs one is
    faster in some workloads and the other one in others; nothing is decided between the ``open``.
    Workloads with short runs are ``excluded``, by short titles.
    """

    faster: list[Advantage]
    contrary: list[tuple[str, str]]
    open: list[tuple[str, str]]
    excluded: list[str]


def conclusions(run: Run) -> Conclusions:
    """Return what is decided between the stores of the first group, without short runs.

    A ratio within the noise floor decides nothing. Nothing is concluded of one repetition.
    """
    group, titles = run.compared[0], run.titles
    judged = [use for use in run.study.workloads if use.name not in run.short]
    shorts = {use.name: use.short for use in judged}
    pairs = run.headline_analysis.pairs
    pairs = pairs[
        pairs["workload"].isin([*shorts]) & pairs["faster"].isin(group) & (pairs["n"] > 1)
    ]
    wins = (
        faster_pairs(pairs)
        .groupby(["faster", "slower"], sort=False)["workload"]
        .agg(list)
        .to_dict()
    )
    measured = set(map(frozenset, zip(pairs["faster"], pairs["slower"], strict=True)))
    known = [pair for pair in combinations(group, 2) if frozenset(pair) in measured]
    if len(known) > MOST_PAIRS:
        most = max(
            group, key=lambda store: sum(len(of) for (one, _), of in wins.items() if one == store)
        )
        known = [pair for pair in known if most in pair]
    faster, contrary, undecided = [], [], []
    for one, other in known:
        forth, back = wins.get((one, other), []), wins.get((other, one), [])
        if forth and back:
            contrary.append((titles[one], titles[other]))
        elif forth or back:
            ahead, behind = (one, other) if forth else (other, one)
            where = tuple(shorts[name] for name in shorts if name in (forth or back))
            faster.append(((titles[ahead], where), titles[behind]))
        else:
            undecided.append((titles[one], titles[other]))
    advantages = [
        Advantage(store, others, list(where)) for (store, where), others in joined(faster).items()
    ]
    advantages.sort(key=lambda each: (-len(each.workloads), -len(each.others)))
    excluded = [use.short for use in run.study.workloads if use.name in run.short]
    return Conclusions(advantages, contrary, undecided, excluded)
