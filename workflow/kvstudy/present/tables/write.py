"""Writing a study's tables as CSV, LaTeX and HTML."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from kvstudy.present.tables.files import write_table
from kvstudy.present.tables.kinds import Given, made, made_audited
from kvstudy.study.model import Study
from kvstudy.study.source_parts import AuditedTable, AuditTable


def write_tables(given: Given, templates: Path, output: Path) -> list[Path]:
    """Write ``<name>.csv``, ``.tex`` and ``.html`` of each table of the study; returns the .tex.

    ``templates`` has those of each kind. KvstudyError for what is missing.
    """
    output.mkdir(parents=True, exist_ok=True)
    written = []
    for table in given.study.tables + given.study.open_loop_tables:
        each = made(table, given)
        written.append(
            write_table(table.name, each.kind, each.frame, each.values, templates, output)
        )
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
    each = made_audited(table, checks, study, titles)
    return write_table(table.name, each.kind, each.frame, each.values, templates, output)
