"""The last sheet: every planned cell, what became of it, and the checksum of its raw logs."""

from __future__ import annotations

from xlsxwriter import Workbook

from kvstudy.present.workbook.content import Content, as_utc
from kvstudy.present.workbook.sheet import Column, Formats, Sheet
from kvstudy.study.cells import cell_path

COLUMNS = [
    Column("Store", width=26),
    Column("Workload", width=16),
    Column("Parameters", width=22),
    Column("Run", "0", 6),
    Column("Status", width=13),
    Column("Position in the order", "0", 9),
    Column("Started", width=24),
    Column("Duration (s)", "0.0", 10),
    Column("Server version", width=12),
    Column("SHA-256 of the cell's file SHA256SUMS", width=68),
    Column("Reason", width=70, aside=True),
]


def cells(content: Content, book: Workbook, formats: Formats, name: str) -> None:
    """Write one row per planned cell."""
    title = f"{content.study.title}, {content.run}: cells and checksums"
    sheet = Sheet(book, formats, name, COLUMNS, 4, title)
    for setting in content.settings:
        for row in content.outcomes.get(setting, []):
            store, workload, parameters = setting
            status, reason = content.status(row)
            sheet.next()
            sheet.text(0, content.title(store))
            sheet.text(1, content.workload(workload))
            sheet.text(2, parameters)
            sheet.number(3, int(row.repetition))
            sheet.text(4, status)
            sheet.number(5, float(row.position) if row.position else None)
            sheet.text(6, as_utc(row.started))
            sheet.number(7, row.wall_seconds)
            sheet.text(8, row.server_version)
            path = cell_path(*setting, row.repetition)
            sheet.text(9, content.digests.get(path, ""), font_name="Courier New", font_size=9)
            sheet.text(10, reason)
    sheet.done()
