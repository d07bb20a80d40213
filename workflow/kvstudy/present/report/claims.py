"""What the report says of the source's claims before their table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kvstudy.analyse.claims.evaluate import CLIENT_BOUND, IN_FLOOR, UNEQUAL
from kvstudy.analyse.claims.judge import WEAKEST_FIRST, Support
from kvstudy.analyse.claims.quantities import THREADS
from kvstudy.analyse.claims.table import read_claims
from kvstudy.errors import KvstudyError
from kvstudy.present.tables.claims import VALUE
from kvstudy.stats.ratios import Verdict


@dataclass(frozen=True)
class ClaimFacts:
    """How many claims there are, by verdict (strongest first) and by the source's own data.

    A trial run has no verdicts. ``parts`` counts what was asked of measured values, one ratio
    or value each; ``measured_parts`` are those that have an answer, by verdict.
    ``unsupported`` are names of claims that the source's own data deny, ``resting`` of others
    that rest on values that the audit of the source rejects. ``once`` tells that some
    verdict rests on one repetition, ``in_floor`` and ``client_bound`` that a value is marked
    so, ``unequal`` that updates mean another thing on some store, ``threads`` that some claim
    is about saturation, ``by_verdict`` has each verdict's claims with their names.
    """

    count: int
    verdicts: list[tuple[str, int]]
    parts: int
    measured_parts: list[tuple[str, int]]
    supports: list[tuple[str, int]]
    unsupported: list[str]
    resting: list[str]
    once: bool
    in_floor: bool
    client_bound: bool
    unequal: bool
    threads: bool
    by_verdict: list[tuple[str, list[tuple[str, str]]]]

    @property
    def unmeasured_parts(self) -> int:
        return self.parts - sum(count for _, count in self.measured_parts)


def claim_facts(path: Path) -> ClaimFacts:
    """From ``claims.csv``; KvstudyError when it or its table is missing."""
    rows = read_claims(path)
    if rows.empty:
        raise KvstudyError(f"{path}: has no claims; write it with 'kvstudy claims'")
    claims = rows.drop_duplicates("id")
    found = [(one.value, int((claims["verdict"] == one).sum())) for one in reversed(WEAKEST_FIRST)]
    parts = _parts(rows)
    supports = [(one.value, int((claims["source"] == one).sum())) for one in Support]
    return ClaimFacts(
        len(claims),
        [each for each in found if each[1]],
        sum(parts.values()),
        [(one, parts[one]) for one, _ in found if parts[one] and one != Verdict.NOT_MEASURED],
        [each for each in supports if each[1]],
        list(claims.loc[claims["source"] == Support.NOT, "id"]),
        list(rows.loc[(rows["rests_on"] != "") & (rows["source"] != Support.NOT), "id"].unique()),
        bool((rows["n"] == 1).any()),
        bool(rows["marks"].str.contains(IN_FLOOR).any()),
        bool(rows["marks"].str.contains(CLIENT_BOUND).any()),
        bool(rows["marks"].str.contains(UNEQUAL).any()),
        bool((rows["unit"] == THREADS).any()),
        [
            (verdict.value, list(of[["id", "claim"]].itertuples(index=False, name=None)))
            for verdict in Verdict
            if len(of := claims[claims["verdict"] == verdict])
        ],
    )


def _parts(rows: pd.DataFrame) -> Counter[str]:
    """How many parts of all claims have which verdict."""
    found: Counter[str] = Counter()
    for counts in rows.loc[(rows["kind"] != VALUE) & (rows["verdicts"] != ""), "verdicts"]:
        for part in counts.split(", "):
            count, verdict = part.split(" ", 1)
            found[verdict] += int(count)
    return found
