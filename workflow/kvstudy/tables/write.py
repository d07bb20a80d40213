"""Writing a study's tables as CSV and LaTeX."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kvstudy.analysis.files import Analysis
from kvstudy.study.model import (
    BottleneckTable,
    ComparisonTable,
    MachineTable,
    OpenLoopTable,
    OperationsTable,
    PercentilesTable,
    RatiosTable,
    RunsTable,
    Study,
    TrimmedTable,
    ValidityTable,
)
from kvstudy.tables import (
    bottleneck,
    checks,
    comparison,
    machine,
    open_loop,
    operations,
    results,
    trimmed,
    validity,
)
from kvstudy.tables.latex import fill
from kvstudy.tables.pages import is_small, pages
from kvstudy.tidy.probes import Probes
from kvstudy.tidy.results import Results


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
) -> list[Path]:
    """Write ``<name>.csv`` and ``<name>.tex`` of each table into ``output``; returns the .tex.

    ``titles`` and ``meanings`` are what each store and its operations are called.
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
        elif isinstance(table, OpenLoopTable):
            frame = open_loop.rows(analysis, table.workload)
            values = open_loop.content(frame, study.open_loop, study.store_names, titles)
        elif isinstance(table, RunsTable):
            frame, template = of(analysis.intervals, table.workload), "checks"
            values = checks.runs(frame, analysis.steadiness, table.workload, titles)
        elif isinstance(table, ComparisonTable):
            frame = comparison.long_form(table, study, found, analysis.floor)
            values = comparison.content(table, frame, study, titles)
        else:
            shown = given(study, found, table.workload)
            frame = results.long_form(table, shown, found)
            values = results.content(table, shown, found, titles)
        if template == "checks":
            found_pages = pages(values["columns"], values["sections"])
            values |= {"pages": found_pages, "small": is_small(found_pages)}
        text = fill(templates / f"{template}.tex.j2", **values)
        frame.to_csv(output / f"{table.name}.csv", index=False, lineterminator="\n")
        path = output / f"{table.name}.tex"
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return written


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
