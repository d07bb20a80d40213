"""What the text says of the audit of the source, and of published against measured."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.audit.check import MISFITS, Fits, Kind
from kvstudy.present.tables.audit import KINDS
from kvstudy.study.model import Study
from kvstudy.study.source_parts import AgainstTable, AuditedTable, AuditTable, Slopes


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

    ``rejected``: published values are marked for them.
    """

    kinds: list[KindFacts]
    severities: dict[Fits, int]
    rejected: bool
    weighting: Weighting | None
    tables: list[AuditTable]
    beside: dict[str, AuditedTable]

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


@dataclass(frozen=True)
class AgainstFacts:
    """Tables and figures of published against measured."""

    tables: list[AgainstTable]
    figures: list[Slopes]


def audit_facts(
    checks: pd.DataFrame | None, study: Study, titles: dict[str, str]
) -> AuditFacts | None:
    """What ``audit.csv`` tells; None where the study's source was not audited."""
    if checks is None or not len(checks):
        return None
    kinds = []
    for kind, title in KINDS.items():
        fits = checks.loc[checks["kind"] == kind, "fits"]
        if len(fits):
            kinds.append(KindFacts(str(kind), title, len(fits), int((fits == Fits.NONE).sum())))
    return AuditFacts(
        kinds,
        {each: int((checks["fits"] == each).sum()) for each in MISFITS},
        bool(((checks["fits"] == Fits.RESULT) & (checks["doubts"] != "")).any()),
        _weighting(checks, study, titles),
        [table for table in study.tables if isinstance(table, AuditTable)],
        {table.workload: table for table in study.tables if isinstance(table, AuditedTable)},
    )


def _weighting(checks: pd.DataFrame, study: Study, titles: dict[str, str]) -> Weighting | None:
    rows = checks[(checks["kind"] == Kind.WEIGHTED) & (checks["metric"] == "latency_mean")]
    if not len(rows):
        return None
    shares = rows["given"] / rows["expected"] - 1
    row = rows.loc[shares.abs().idxmax()]
    return Weighting(
        titles.get(row["store"], row["store"]),
        study.workload(row["workload"]).title,
        row["given"],
        row["expected"],
        float(row["given"] / row["expected"] - 1),
    )


def against_facts(study: Study, pairs: pd.DataFrame) -> AgainstFacts | None:
    """Published against measured; None where no two stores (``pairs``) were measured."""
    if not len(pairs):
        return None
    tables = [table for table in study.tables if isinstance(table, AgainstTable)]
    figures = [figure for figure in study.figures if isinstance(figure, Slopes)]
    return AgainstFacts(tables, figures) if tables or figures else None
