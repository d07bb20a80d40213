"""The chain of a ratio of two stores: the pairs of repetitions behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kvstudy.analyse.run import Run
from kvstudy.errors import KvstudyError
from kvstudy.share.trace.address import Address, resolve
from kvstudy.share.trace.chain import Chain, chain, same


@dataclass(frozen=True)
class RatioChain:
    """Throughput of ``faster`` by that of ``slower``, with its 95 % interval (NaN for one pair).

    ``pairs`` are (repetition, ratio); ``paired`` is false for imported logs, whose
    repetitions only share a number: then ``pairs`` is empty.
    """

    faster: str
    slower: str
    workload: str
    parameters: str
    ratio: float
    low: float
    high: float
    place: str
    paired: bool
    pairs: list[tuple[str, float]]
    chains: list[Chain]
    problems: list[str]


def ratio_chain(run: Run, text: str) -> RatioChain:
    """Follow the ratio ``STORE/OTHER/WORKLOAD[/SIZES]``; KvstudyError when there is none."""
    parts = text.split("/")
    if len(parts) not in (3, 4):
        raise KvstudyError(
            f"ratio:{text}: name a ratio as ratio:STORE/OTHER/WORKLOAD, "
            "for example ratio:redis/memcached/a"
        )
    one, other, *rest = parts
    sides = {store: resolve(run, "/".join([store, *rest, "throughput"])) for store in (one, other)}
    setting: Address = sides[one]
    path = run.analysis_folder / "pairs.csv"
    frame = run.analysis.pairs
    rows = frame[
        (frame["workload"] == setting.workload)
        & (frame["parameters"] == setting.parameters)
        & frame["faster"].isin([one, other])
        & frame["slower"].isin([one, other])
    ]
    if rows.empty:
        raise KvstudyError(
            f"ratio:{text}: {path} has no such pair: the two have no repetition in common that "
            f"counts, or one is a control; see 'kvstudy trace {sides[other]}'"
        )
    row = rows.iloc[0]
    chains = [chain(run, sides[store]) for store in (row["faster"], row["slower"])]
    given = [
        {each.repetition: each.value for each in side.repetitions if each.counts} for side in chains
    ]
    paired = run.study.imported is None
    pairs = [
        (repetition, value / given[1][repetition])
        for repetition, value in given[0].items()
        if paired and repetition in given[1]
    ]
    place = f"{path}:{rows.index[0] + 2}"
    problems = [problem for side in chains for problem in side.problems]
    if pairs:
        again = math.exp(sum(math.log(value) for _, value in pairs) / len(pairs))
        if not same(again, row["ratio"]):
            problems.append(
                f"{place}: {row['ratio']!r} is not the geometric mean of its pairs, {again!r}; "
                "run 'kvstudy analyse' again"
            )
    return RatioChain(
        *(row["faster"], row["slower"], setting.workload, setting.parameters),
        *(row["ratio"], row["low"], row["high"], place, paired, pairs, chains, problems),
    )
