"""What the text says of workloads with rounds: relative performance, and a cache's gain."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.swept import MEASURED
from kvstudy.study.kinds import AnyTable
from kvstudy.study.model import Study
from kvstudy.study.workload import Rounds, properties_of, rounds_of


@dataclass(frozen=True)
class RelativeFacts:
    """A table of relative performance; ``rows`` are its measured ones, by records."""

    table: AnyTable
    rows: list


@dataclass(frozen=True)
class BreakEvenFacts:
    """A table of break-evens.

    ``row`` is the measured one that the text gives: of as many records as the source's,
    or of the most below that; None where nothing was measured. ``source`` are the source's
    rows by their origin.
    """

    table: AnyTable
    row: object | None
    source: dict[str, object]


@dataclass(frozen=True)
class RoundsFacts:
    """A workload with rounds, and what belongs to its section."""

    rounds: Rounds
    relative: list[RelativeFacts]
    break_even: list[BreakEvenFacts]


def rounds_facts(
    study: Study, analysis: Analysis, published: pd.DataFrame | None
) -> dict[str, RoundsFacts]:
    """The facts of each workload that has rounds, by its name."""

    def of(workload: str, items: list) -> list:
        return [item for item in items if item.workload == workload]

    facts = {}
    for use in study.workloads:
        if rounds := rounds_of(properties_of(study, use)):
            facts[use.name] = RoundsFacts(
                rounds,
                [
                    _relative(table, analysis, published)
                    for table in of(use.name, study.tables_of("relative"))
                ],
                [
                    _crossing(table, analysis, published)
                    for table in of(use.name, study.tables_of("break-even"))
                ],
            )
    return facts


def _relative(table: AnyTable, analysis: Analysis, published: pd.DataFrame | None) -> RelativeFacts:
    frame = table.values(analysis.rounds, published)
    measured = frame[(frame["origin"] == MEASURED) & frame["ratio"].notna()]
    return RelativeFacts(table, list(measured.itertuples()))


def _crossing(
    table: AnyTable, analysis: Analysis, published: pd.DataFrame | None
) -> BreakEvenFacts:
    frame = table.values(analysis.rounds, published)
    source = {row.origin: row for row in frame[frame["origin"] != MEASURED].itertuples()}
    measured = list(frame[frame["origin"] == MEASURED].itertuples())
    records = {row.records for row in source.values()} or {row.records for row in measured}
    fits = [row for row in measured if row.records <= max(records, default=0)] or measured[:1]
    return BreakEvenFacts(table, fits[-1] if fits else None, source)
