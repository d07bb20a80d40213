"""What the text says of the source: its audit, and its claims."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from kvstudy.analyse.audit.check import MISFITS, Fits, Kind
from kvstudy.analyse.audit.files import gravest_first
from kvstudy.analyse.claims.judge import WEAKEST_FIRST, Support
from kvstudy.analyse.claims.quantities import THREADS
from kvstudy.analyse.claims.table import IN_FLOOR, UNEQUAL, read_claims
from kvstudy.errors import KvstudyError
from kvstudy.present.report.cells import Names
from kvstudy.present.tables.audit import Misfit

# Checks that the body of the report names; an appendix has all.
MOST = 5


def audit_facts(checks: pd.DataFrame | None, names: Names) -> SimpleNamespace | None:
    """What ``audit.csv`` tells; None where the study's source was not audited.

    ``checks`` are those that have a verdict; ``of_text`` are those of the text, and so many of
    these have none. ``rejected``: published values are marked for them. ``gravest`` are those
    that change most.
    """
    if checks is None or checks.empty:
        return None
    fits, kinds = checks["fits"], checks["kind"]
    of_text = fits[kinds == Kind.TEXT]
    severities = {misfit: int((fits == misfit).sum()) for misfit in MISFITS}
    gravest = gravest_first(checks[fits != Fits.DIGITS]).head(MOST)
    return SimpleNamespace(
        of_tables=[kind for kind in Kind if kind != Kind.TEXT and (kinds == kind).any()],
        of_text=len(of_text),
        open_in_text=int((of_text == Fits.NONE).sum()),
        checks=int((fits != Fits.NONE).sum()),
        severities=severities,
        wrong=sum(severities.values()),
        rejected=bool(((fits == Fits.RESULT) & (checks["doubts"] != "")).any()),
        weighting=_weighting(checks, names),
        gravest=[Misfit.of(row, names.study, names.titles) for row in gravest.itertuples()],
    )


def _weighting(checks: pd.DataFrame, names: Names) -> SimpleNamespace | None:
    """Where weighting by operations changes a published combined mean most; means in us.

    ``share`` is the published one by the weighted one, less 1.
    """
    rows = checks[(checks["kind"] == Kind.WEIGHTED) & (checks["metric"] == "latency_mean")]
    if rows.empty:
        return None
    shares = rows["given"] / rows["expected"] - 1
    row = rows.loc[shares.abs().idxmax()]
    return SimpleNamespace(
        store=names.titles.get(row["store"], row["store"]),
        workload=names.workload(row["workload"]),
        published=row["given"],
        weighted=row["expected"],
        share=float(shares[row.name]),
    )


def claim_facts(path: Path) -> SimpleNamespace:
    """From ``claims.csv``; KvstudyError when it or its table is missing.

    ``verdicts`` (strongest first, none of a trial run) and ``supports`` by the source's own data
    are counts. ``unsupported`` are names of claims that the source's own data deny, ``resting``
    of others that rest on values that the audit of the source rejects. ``once``: some verdict
    rests on one repetition; ``in_floor``: some value is marked so; ``unequal``: updates mean
    another thing on some store; ``threads``: some claim is about saturation.
    """
    rows = read_claims(path)
    if rows.empty:
        raise KvstudyError(f"{path}: has no claims; write it with 'kvstudy claims'")
    claims = rows.drop_duplicates("id")
    verdicts, supports = (
        [(word, int(count)) for word in of if (count := (claims[column] == word).sum())]
        for column, of in (("verdict", reversed(WEAKEST_FIRST)), ("source", Support))
    )
    denied, rejected = rows["source"] == Support.NOT, rows["rests_on"] != ""
    return SimpleNamespace(
        count=len(claims),
        verdicts=verdicts,
        supports=supports,
        unsupported=list(rows.loc[denied, "id"].unique()),
        resting=list(rows.loc[rejected & ~denied, "id"].unique()),
        once=bool((rows["n"] == 1).any()),
        in_floor=bool(rows["marks"].str.contains(IN_FLOOR).any()),
        unequal=bool(rows["marks"].str.contains(UNEQUAL).any()),
        threads=bool((rows["unit"] == THREADS).any()),
    )
