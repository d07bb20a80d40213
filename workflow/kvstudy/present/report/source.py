"""What the text says of the source: its audit, its claims, its values against the measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from kvstudy.analyse.audit.check import MISFITS, Fits, Kind
from kvstudy.analyse.audit.files import gravest_first
from kvstudy.analyse.claims.evaluate import IN_FLOOR, UNEQUAL
from kvstudy.analyse.claims.judge import WEAKEST_FIRST, Support
from kvstudy.analyse.claims.quantities import THREADS
from kvstudy.analyse.claims.table import read_claims
from kvstudy.errors import KvstudyError
from kvstudy.present.report.cells import Names
from kvstudy.present.tables.audit import Misfit

# Checks that the body of the report names; an appendix has all.
MOST = 5


@dataclass(frozen=True)
class KindFacts:
    """How many checks of a kind there are, and how many of them have no verdict."""

    name: str
    title: str
    checks: int
    open: int


@dataclass(frozen=True)
class Weighting:
    """Where weighting by operations changes a published combined mean most.

    ``published`` and ``weighted`` are in us, ``share`` is the first by the second, less 1.
    """

    store: str
    workload: str
    published: float
    weighted: float
    share: float


@dataclass(frozen=True)
class AuditFacts:
    """The checks of the source: how many of which kind, and how many with which severity.

    ``rejected``: published values are marked for them. ``gravest`` are those that change most.
    """

    kinds: list[KindFacts]
    severities: dict[Fits, int]
    rejected: bool
    weighting: Weighting | None
    gravest: list[Misfit]

    @property
    def checks(self) -> int:
        """Checks that have a verdict."""
        return sum(kind.checks - kind.open for kind in self.kinds)

    @property
    def wrong(self) -> int:
        return sum(self.severities.values())

    @property
    def of_tables(self) -> list[KindFacts]:
        return [kind for kind in self.kinds if kind.name != Kind.TEXT]

    @property
    def of_text(self) -> KindFacts | None:
        return next((kind for kind in self.kinds if kind.name == Kind.TEXT), None)


def audit_facts(checks: pd.DataFrame | None, names: Names) -> AuditFacts | None:
    """What ``audit.csv`` tells; None where the study's source was not audited."""
    if checks is None or checks.empty:
        return None
    kinds = []
    for kind in Kind:
        fits = checks.loc[checks["kind"] == kind, "fits"]
        if len(fits):
            kinds.append(
                KindFacts(str(kind), kind.heading, len(fits), int((fits == Fits.NONE).sum()))
            )
    return AuditFacts(
        kinds,
        {misfit: int((checks["fits"] == misfit).sum()) for misfit in MISFITS},
        bool(((checks["fits"] == Fits.RESULT) & (checks["doubts"] != "")).any()),
        _weighting(checks, names),
        [
            Misfit.of(row, names.study, names.titles)
            for row in gravest_first(checks[checks["fits"] != Fits.DIGITS]).head(MOST).itertuples()
        ],
    )


def _weighting(checks: pd.DataFrame, names: Names) -> Weighting | None:
    rows = checks[(checks["kind"] == Kind.WEIGHTED) & (checks["metric"] == "latency_mean")]
    if rows.empty:
        return None
    shares = rows["given"] / rows["expected"] - 1
    worst = shares.abs().idxmax()
    row = rows.loc[worst]
    return Weighting(
        names.titles.get(row["store"], row["store"]),
        names.workload(row["workload"]),
        row["given"],
        row["expected"],
        float(shares[worst]),
    )


@dataclass(frozen=True)
class ClaimFacts:
    """How many claims there are, by verdict (strongest first) and by the source's own data.

    A trial run has no verdicts. ``unsupported`` are names of claims that the source's own data
    deny, ``resting`` of others that rest on values that the audit of the source rejects.
    ``once``: some verdict rests on one repetition; ``in_floor``: some value is marked so;
    ``unequal``: updates mean another thing on some store; ``threads``: some claim is about
    saturation.
    """

    count: int
    verdicts: list[tuple[str, int]]
    supports: list[tuple[str, int]]
    unsupported: list[str]
    resting: list[str]
    once: bool
    in_floor: bool
    unequal: bool
    threads: bool


def claim_facts(path: Path) -> ClaimFacts:
    """From ``claims.csv``; KvstudyError when it or its table is missing."""
    rows = read_claims(path)
    if rows.empty:
        raise KvstudyError(f"{path}: has no claims; write it with 'kvstudy claims'")
    claims = rows.drop_duplicates("id")
    verdicts = [
        (verdict.value, int((claims["verdict"] == verdict).sum()))
        for verdict in reversed(WEAKEST_FIRST)
    ]
    supports = [(support.value, int((claims["source"] == support).sum())) for support in Support]
    return ClaimFacts(
        len(claims),
        [(verdict, count) for verdict, count in verdicts if count],
        [(support, count) for support, count in supports if count],
        list(claims.loc[claims["source"] == Support.NOT, "id"]),
        list(rows.loc[(rows["rests_on"] != "") & (rows["source"] != Support.NOT), "id"].unique()),
        bool((rows["n"] == 1).any()),
        bool(rows["marks"].str.contains(IN_FLOOR).any()),
        bool(rows["marks"].str.contains(UNEQUAL).any()),
        bool((rows["unit"] == THREADS).any()),
    )
