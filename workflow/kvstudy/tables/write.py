"""Writing a study's tables as CSV and LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from kvstudy.analysis.files import Analysis
from kvstudy.errors import KvstudyError
from kvstudy.study.base import AnyTable
from kvstudy.study.curves import ScalingTable, SweepTable
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
    RunsTable,
    StoreTable,
    TrimmedTable,
    ValidityTable,
)
from kvstudy.tables import (
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
from kvstudy.tables.latex import fill
from kvstudy.tables.pages import is_small, pages
from kvstudy.tidy.probes import Probes
from kvstudy.tidy.results import Results
from kvstudy.tidy.swept import Swept


def write_tables(
    study: Study,
    found: Results,
    probes: Probes,
    analysis: Analysis,
    environment: dict,
    environment_path: Path,
    titles: dict[str, str],
    meanings: dict[str, dict[str, str]],
    templates: Path,
    output: Path,
    swept: Swept,
    scalings: pd.DataFrame,
    audited: pd.DataFrame | None = None,
) -> list[Path]:
    """Write ``<name>.csv`` and ``<name>.tex`` of each table into ``output``; returns the .tex.

    ``titles`` and ``meanings`` are what each store and its operations are called; ``swept``
    and ``scalings`` (``analysis.scaling``) have all sizes, ``found`` and ``analysis`` those shown.
    ``audited`` are the checks of the source (``audit.files``), if it has any.
    """
    output.mkdir(parents=True, exist_ok=True)
    written = []
    for table in study.tables + study.open_loop_tables:
        frame: pd.DataFrame
        template = table.kind
        if isinstance(table, MachineTable):
            frame = machine.rows(environment, study, titles, environment_path)
            values = machine.content(frame, study)
        elif isinstance(table, OperationsTable):
            frame = operations.rows(probes, study, meanings)
            values = operations.content(probes, study, titles)
        elif isinstance(table, ValidityTable):
            frame = analysis.validity
            values = validity.content(frame, study, titles)
        elif isinstance(table, RatiosTable):
            frame, template = analysis.pairs, "checks"
            values = checks.ratios(analysis, study, titles)
        elif isinstance(table, BottleneckTable):
            frame, template = analysis.bottleneck, "checks"
            values = bottleneck.content(frame, study, titles)
        elif isinstance(table, TrimmedTable):
            frame, template = analysis.trimmed, "checks"
            values = trimmed.content(frame, study, titles)
        elif isinstance(table, PercentilesTable):
            frame, template = of(analysis.percentiles, table.workload), "checks"
            frame = checks.with_averages(frame, found)
            values = checks.percentiles(frame, table.workload, titles)
        elif isinstance(table, AuditTable | AuditedTable):
            written.append(
                write_audited(table, checks_of(study, audited), study, titles, templates, output)
            )
            continue
        elif isinstance(table, AgainstTable):
            frame, template = against.rows(table, study, found, analysis.pairs), "checks"
            values = against.content(frame, study, titles)
        elif isinstance(table, OpenLoopTable):
            frame = open_loop.rows(analysis, table.workload)
            values = open_loop.content(frame, study.open_loop, study.store_names, titles)
        elif isinstance(table, RunsTable):
            frame, template = of(analysis.intervals, table.workload), "checks"
            values = checks.runs(frame, analysis.steadiness, table.workload, titles)
        elif isinstance(table, StoreTable):
            frame, template = store.rows(table.store, study, found, analysis), "checks"
            values = store.content(frame, study)
        elif isinstance(table, SweepTable):
            frame, template = sweep.rows(table, study, swept), "checks"
            values = sweep.content(table, frame, study, titles)
        elif isinstance(table, ScalingTable):
            frame, template = scalings, "checks"
            values = scaling.content(frame, study, titles)
        elif isinstance(table, RelativeTable):
            frame, template = relative.rows(table, analysis.rounds, swept.published), "checks"
            values = relative.content(table, frame, swept.published, titles)
        elif isinstance(table, BreakEvenTable):
            frame, template = break_even.rows(table, analysis.rounds, swept.published), "checks"
            values = break_even.content(table, frame, titles)
        elif isinstance(table, ComparisonTable):
            frame = comparison.long_form(table, study, found, analysis.floor)
            values = comparison.content(table, frame, study, titles)
        elif isinstance(table, PropertiesTable):
            frame = properties.long_form(
                study, store_properties(study), published_properties(study)
            )
            values = properties.content(frame, study, titles)
        elif isinstance(table, RankingTable):
            frame = ranking.long_form(table, study, found, analysis)
            values = ranking.content(frame, study, titles)
        else:
            shown = given(study, found, table.workload)
            frame = results.long_form(table, shown, found)
            values = results.content(table, shown, found, titles)
        written.append(_write(table, frame, template, values, templates, output))
    return written


def write_audited(
    table: AuditTable | AuditedTable,
    checks: pd.DataFrame,
    study: Study,
    titles: dict[str, str],
    templates: Path,
    output: Path,
) -> Path:
    """Write a table of the audit of the source, whose ``checks`` need no measurement."""
    if isinstance(table, AuditTable):
        values = audit.content(checks, study, titles)
        return _write(table, checks, table.kind, values, templates, output)
    checks = audit.of_workload(checks, table.workload)
    values = audit.beside(checks, study, titles)
    return _write(table, checks, "checks", values, templates, output)


def _write(
    table: AnyTable,
    frame: pd.DataFrame,
    template: str,
    values: dict[str, Any],
    templates: Path,
    output: Path,
) -> Path:
    if template == "checks":
        found_pages = pages(values["columns"], values["sections"])
        values |= {"pages": found_pages, "small": is_small(found_pages)}
    text = fill(templates / f"{template}.tex.j2", **values)
    frame.to_csv(output / f"{table.name}.csv", index=False, lineterminator="\n")
    path = output / f"{table.name}.tex"
    path.write_text(text, encoding="utf-8")
    return path


def checks_of(study: Study, audited: pd.DataFrame | None) -> pd.DataFrame:
    """The checks of the source; KvstudyError where they are missing."""
    if audited is None:
        raise KvstudyError(
            f"{STUDIES / study.name / 'study.yaml'}: tables: the study's source is audited, but "
            "--audit is missing; make the file with `kvstudy audit`"
        )
    return audited


def of(frame: pd.DataFrame, workload: str) -> pd.DataFrame:
    """The rows of ``workload``."""
    return frame[frame["workload"] == workload]


def given(study: Study, found: Results, workload: str) -> Study:
    """The study with the stores that belong into a table of ``workload``.

    All of them, but of imported logs those that have one: others were never meant to.
    """
    if not study.imported or found.has_published:
        return study
    states = {use.name: found.state(use.name, workload).label for use in study.stores}
    some = [use for use in study.stores if states[use.name] != "not measured"]
    return study.model_copy(update={"stores": some or study.stores})
