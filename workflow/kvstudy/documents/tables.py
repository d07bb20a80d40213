"""Writing the tables of a run: CSV, LaTeX and HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kvstudy.exhibits.table import Table
from kvstudy.render.tables import write_grids

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


def write_tables(run: Run, output: Path) -> list[Path]:
    """Write ``<name>.csv``, ``.tex`` and ``.html`` of each table of the study; returns the .tex.

    KvstudyError for what is missing.
    """
    return [write_table(table, run, output) for table in run.study.tables]


def write_table(table: Table, run: Run, output: Path) -> Path:
    """Write the three files of a ``table`` into ``output``, made if missing; returns the .tex."""
    rows = table.rows(run)
    grids, choices = table.grids(rows, run), table.choices(rows, run)
    return write_grids(table.name, table.kind, rows, grids, output, choices)
