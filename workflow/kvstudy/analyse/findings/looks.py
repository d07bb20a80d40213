"""The stopping rule of a run that is measured until every comparison is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kvstudy.analyse.findings import AnalysisTable
from kvstudy.analyse.findings.pairs import floor_of, floors, pairs
from kvstudy.analyse.findings.spread import Spread
from kvstudy.libraries import pd
from kvstudy.stats.ratios import Decision
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

NUMBERS = ["repetitions", "comparisons", "undecided"]
LOOKS = AnalysisTable(
    "looks",
    [*NUMBERS, "open", "stop"],
    NUMBERS,
    make=lambda run, tables: LOOKS.frame(
        [
            look_at(run.spread, run.study, number, run.compared, run.claimed)
            for number in looks(run.study)
        ]
    ),
)


@dataclass(frozen=True)
class Claimed:
    """A claim that repetitions can decide: the workloads that it is of, and whether it is open."""

    id: str
    workloads: frozenset[str]
    open: bool


# The claims as they are after so many repetitions, with these ``floors``.
ClaimsAfter = Callable[[int, pd.DataFrame], list[Claimed]]


def looks(study: Study) -> range:
    """After how many repetitions the run is looked at; never if the study has a number of them."""
    return range(study.until.first, study.repetitions + 1) if study.until else range(0)


def look_at(
    spread: Spread,
    study: Study,
    repetitions: int,
    compared: list[list[str]] | None = None,
    claimed: ClaimsAfter = lambda repetitions, floors: [],
) -> list[object]:
    """Return the decisions after ``repetitions`` repetitions.

    Columns: repetitions, comparisons (claims that repetitions can decide, and of workloads that no
    such claim is of the pairs of stores under them and their parameters), how many of them are
    undecided, open (those: ``J1`` or ``a r10_o20_t1 redis / valkey``), and stop: ``decided`` when
    none is undecided, ``most`` when all repetitions are there, or "".
    """
    part = spread.first(repetitions)
    noise = floors(part, study)
    claims = claimed(repetitions, noise)
    rows = pairs(part, study.store_names, floor_of(noise), compared)
    rows = rows[~rows["workload"].isin({MEAN}.union(*(claim.workloads for claim in claims)))]
    names = [claim.id for claim in claims if claim.open]
    names += [
        f"{row.workload} {row.parameters} {row.faster} / {row.slower}"
        for row in rows[rows["decision"] == Decision.UNDECIDED].itertuples()
    ]
    most = "most" if repetitions == study.most_repetitions else ""
    stop = most if names else "decided"
    return [repetitions, len(claims) + len(rows), len(names), "; ".join(names), stop]
