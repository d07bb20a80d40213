"""How each kind of table is made: the model of study.yaml, its rows, what templates show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from kvstudy.analyse.findings.files import Analysis
from kvstudy.analyse.tidy.probes import Probes
from kvstudy.analyse.tidy.results import Results
from kvstudy.analyse.tidy.swept import Swept
from kvstudy.errors import KvstudyError
from kvstudy.present.tables import (
    against,
    audit,
    bottleneck,
    break_even,
    checks,
    comparison,
    machine,
    open_loop,
    operations,
    properties,
    ranking,
    relative,
    results,
    scaling,
    store,
    sweep,
    trimmed,
    validity,
)
from kvstudy.study.curves import ScalingTable, SweepTable
from kvstudy.study.kinds import AnyTable
from kvstudy.study.load import STUDIES
from kvstudy.study.model import Study
from kvstudy.study.properties import PropertiesTable
from kvstudy.study.property_files import published_properties, store_properties
from kvstudy.study.ranking import RankingTable
from kvstudy.study.relative import BreakEvenTable, RelativeTable
from kvstudy.study.source_parts import AgainstTable, AuditedTable, AuditTable
from kvstudy.study.table_kinds import (
    BottleneckTable,
    ComparisonTable,
    MachineTable,
    OpenLoopTable,
    OperationsTable,
    PercentilesTable,
    RatiosTable,
    ResultsTable,
    RunsTable,
    StoreTable,
    TrimmedTable,
    ValidityTable,
)


@dataclass(frozen=True)
class Given:
    """What the tables of a run are made from.

    ``titles`` and ``meanings`` are what each store and its operations are called; ``swept``
    and ``scalings`` (``analysis.scaling``) have all sizes, ``found`` and ``analysis`` those shown.
    ``environment`` is the content of the file ``environment_path``. ``audited`` are the checks
    of the source (``audit.files``), if it has any.
    """

    study: Study
    found: Results
    probes: Probes
    analysis: Analysis
    environment: dict
    environment_path: Path
    titles: dict[str, str]
    meanings: dict[str, dict[str, str]]
    swept: Swept
    scalings: pd.DataFrame
    audited: pd.DataFrame | None = None


@dataclass(frozen=True)
class Made:
    """A table: ``frame`` is its CSV, ``values`` fill the templates of its ``kind``."""

    frame: pd.DataFrame
    kind: str
    values: dict[str, Any]


def made(table: AnyTable, given: Given) -> Made:
    """The ``table``; KvstudyError where something that it needs is missing."""
    return KINDS[type(table)](table, given)


def made_audited(
    table: AuditTable | AuditedTable, checks: pd.DataFrame, study: Study, titles: dict[str, str]
) -> Made:
    """A table of the audit of the source, whose ``checks`` need no measurement."""
    if isinstance(table, AuditTable):
        return Made(checks, table.kind, audit.content(checks, study, titles))
    checks = audit.of_workload(checks, table.workload)
    return of_checks(checks, audit.beside(checks, study, titles))


def of_checks(frame: pd.DataFrame, grid: checks.Grid) -> Made:
    """A table of sections; those with the same columns share a head."""
    return Made(frame, "checks", {**grid, "parts": checks.parts(grid)})


def _machine(table: MachineTable, given: Given) -> Made:
    study = given.study
    frame = machine.rows(given.environment, study, given.titles, given.environment_path)
    return Made(frame, table.kind, machine.content(frame, study))


def _operations(table: OperationsTable, given: Given) -> Made:
    probes, study = given.probes, given.study
    frame = operations.rows(probes, study, given.meanings)
    return Made(frame, table.kind, operations.content(probes, study, given.titles))


def _validity(table: ValidityTable, given: Given) -> Made:
    frame = given.analysis.validity
    return Made(frame, table.kind, validity.content(frame, given.study, given.titles))


def _ratios(table: RatiosTable, given: Given) -> Made:
    grid = checks.ratios(given.analysis, given.study, given.titles)
    return of_checks(given.analysis.pairs, grid)


def _bottleneck(table: BottleneckTable, given: Given) -> Made:
    frame = given.analysis.bottleneck
    return of_checks(frame, bottleneck.content(frame, given.study, given.titles))


def _trimmed(table: TrimmedTable, given: Given) -> Made:
    frame = given.analysis.trimmed
    return of_checks(frame, trimmed.content(frame, given.study, given.titles))


def _percentiles(table: PercentilesTable, given: Given) -> Made:
    frame = checks.with_averages(of(given.analysis.percentiles, table.workload), given.found)
    return of_checks(frame, checks.percentiles(frame, table.workload, given.titles))


def _audited(table: AuditTable | AuditedTable, given: Given) -> Made:
    study = given.study
    if given.audited is None:
        raise KvstudyError(
            f"{STUDIES / study.name / 'study.yaml'}: tables: the study's source is audited, but "
            "--audit is missing; make the file with `kvstudy audit`"
        )
    return made_audited(table, given.audited, study, given.titles)


def _against(table: AgainstTable, given: Given) -> Made:
    frame = against.rows(table, given.study, given.found, given.analysis.pairs)
    return of_checks(frame, against.content(frame, given.study, given.titles))


def _open_loop(table: OpenLoopTable, given: Given) -> Made:
    study = given.study
    frame = open_loop.rows(given.analysis, table.workload)
    values = open_loop.content(frame, study.open_loop, study.store_names, given.titles)
    return Made(frame, table.kind, values)


def _runs(table: RunsTable, given: Given) -> Made:
    frame, steadiness = of(given.analysis.intervals, table.workload), given.analysis.steadiness
    return of_checks(frame, checks.runs(frame, steadiness, table.workload, given.titles))


def _store(table: StoreTable, given: Given) -> Made:
    frame = store.rows(table.store, given.study, given.found, given.analysis)
    return of_checks(frame, store.content(frame, given.study))


def _sweep(table: SweepTable, given: Given) -> Made:
    frame = sweep.rows(table, given.study, given.swept)
    return of_checks(frame, sweep.content(table, frame, given.study, given.titles))


def _scaling(table: ScalingTable, given: Given) -> Made:
    return of_checks(given.scalings, scaling.content(given.scalings, given.study, given.titles))


def _relative(table: RelativeTable, given: Given) -> Made:
    published = given.swept.published
    frame = relative.rows(table, given.analysis.rounds, published)
    return of_checks(frame, relative.content(table, frame, published, given.titles))


def _break_even(table: BreakEvenTable, given: Given) -> Made:
    frame = break_even.rows(table, given.analysis.rounds, given.swept.published)
    return of_checks(frame, break_even.content(table, frame, given.titles))


def _comparison(table: ComparisonTable, given: Given) -> Made:
    study = given.study
    frame = comparison.long_form(table, study, given.found, given.analysis.floor)
    return Made(frame, table.kind, comparison.content(table, frame, study, given.titles))


def _properties(table: PropertiesTable, given: Given) -> Made:
    study = given.study
    frame = properties.long_form(study, store_properties(study), published_properties(study))
    return Made(frame, table.kind, properties.content(frame, study, given.titles))


def _ranking(table: RankingTable, given: Given) -> Made:
    study = given.study
    frame = ranking.long_form(table, study, given.found, given.analysis)
    return Made(frame, table.kind, ranking.content(frame, study, given.titles))


def _results(table: ResultsTable, given: Given) -> Made:
    shown = with_results(given.study, given.found, table.workload)
    frame = results.long_form(table, shown, given.found)
    return Made(frame, table.kind, results.content(table, shown, given.found, given.titles))


KINDS: dict[type, Callable[[Any, Given], Made]] = {
    AgainstTable: _against,
    AuditTable: _audited,
    AuditedTable: _audited,
    BottleneckTable: _bottleneck,
    BreakEvenTable: _break_even,
    ComparisonTable: _comparison,
    MachineTable: _machine,
    OpenLoopTable: _open_loop,
    OperationsTable: _operations,
    PercentilesTable: _percentiles,
    PropertiesTable: _properties,
    RankingTable: _ranking,
    RatiosTable: _ratios,
    RelativeTable: _relative,
    ResultsTable: _results,
    RunsTable: _runs,
    ScalingTable: _scaling,
    StoreTable: _store,
    SweepTable: _sweep,
    TrimmedTable: _trimmed,
    ValidityTable: _validity,
}


def of(frame: pd.DataFrame, workload: str) -> pd.DataFrame:
    """The rows of ``workload``."""
    return frame[frame["workload"] == workload]


def with_results(study: Study, found: Results, workload: str) -> Study:
    """The study with the stores that belong into a table of ``workload``.

    All of them, but of imported logs those that have one: others were never meant to.
    """
    if not study.imported or found.has_published:
        return study
    states = {use.name: found.state(use.name, workload).label for use in study.stores}
    some = [use for use in study.stores if states[use.name] != "not measured"]
    return study.model_copy(update={"stores": some or study.stores})
