"""From the files of a run to its workbook."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from xlsxwriter import Workbook
from xlsxwriter.exceptions import FileCreateError

from kvstudy.errors import KvstudyError
from kvstudy.present.workbook.about import about
from kvstudy.present.workbook.averages import side_by_side, with_spread
from kvstudy.present.workbook.content import Content, as_utc, moment
from kvstudy.present.workbook.runs import CONTROLS, Places, Runs
from kvstudy.present.workbook.sheet import Column, Formats, Sheet, sheet_names
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


# Text stays text, whatever it begins with.
OPTIONS = {
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
}
# A run without any date has this one, since a workbook must have one and now would differ.
NO_DATE = datetime(2000, 1, 1)
AVERAGES = ["About", "Averages", "Averages and spread"]


def write_workbook(content: Content, output: Path) -> list[str]:
    """Write ``output`` in one step; returns the names of its sheets.

    The same content gives the same bytes. KvstudyError when the file cannot be written.
    """
    study = content.study
    stores = dict.fromkeys(key[0] for key in content.settings)
    controls = [name for name in stores if name not in study.store_names]
    titles = [content.title(name) for name in study.store_names]
    titles += [CONTROLS] if controls else []
    names = sheet_names([*AVERAGES, *titles, "Cells"])
    of_runs = names[len(AVERAGES) : -1]

    output.parent.mkdir(parents=True, exist_ok=True)
    beside = output.with_name(f".{output.name}.new")
    book = Workbook(beside, OPTIONS)
    created = _created(content)
    book.set_properties({"title": study.title, "subject": content.run, "created": created})
    for name in names:
        book.add_worksheet(name)
    formats, places = Formats(book), Places()
    holds = ["the means, stores side by side", "means with their spread, and published values"]
    holds += [f"single runs of {title}" for title in titles[: len(study.store_names)]]
    holds += ["single runs of the cells that show what differences mean"] if controls else []
    holds += ["all planned cells, what became of them, and checksums"]
    about(content, book, formats, names[0], list(zip(names[1:], holds, strict=True)))
    # Formulas ask where the runs stand, so these sheets are filled first.
    runs = Runs(content, places)
    for name, store in zip(of_runs, study.store_names, strict=False):
        runs.write(book, formats, name, [store], with_store=False)
    if controls:
        runs.write(book, formats, of_runs[-1], controls, with_store=True)
    side_by_side(content, places, book, formats, names[1])
    with_spread(content, places, book, formats, names[2])
    cells(content, book, formats, names[-1])
    try:
        book.close()
        beside.replace(output)
    except (OSError, FileCreateError) as error:
        beside.unlink(missing_ok=True)
        raise KvstudyError(f"{output}: cannot be written: {error}") from None
    return names


def _created(content: Content) -> datetime:
    """When the last cell was started, in UTC and without a zone."""
    moments = [moment(text) for text in content.cells["started"] if text]
    return max(moments).replace(tzinfo=None) if moments else NO_DATE
