"""From the files of a run to its workbook."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path

from xlsxwriter.exceptions import FileCreateError

from kvstudy import __version__
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.files import ycsb_versions
from kvstudy.documents.workbook.chart import add_chart
from kvstudy.documents.workbook.content import Content, as_utc, moment
from kvstudy.documents.workbook.grids import GridSheet
from kvstudy.documents.workbook.references import CellReferences
from kvstudy.documents.workbook.sheet import LINE, Book, print_set_up, quoted, sheet_names
from kvstudy.documents.workbook.tables import Runs, averages, cells
from kvstudy.errors import EnvironmentFault
from kvstudy.language.reasons import sentence
from kvstudy.layout.numbers import MARK
from kvstudy.study.controls import is_control

UNKNOWN = "not recorded"
# Letters of a line of the sheet that shows what the run is.
LINE_LETTERS = 112
HOW = [
    "The first sheets are the tables of the report; behind what they show are unrounded numbers, "
    "which are formulas where they are of single runs.",
    "A run is one measurement on a fresh, empty server. Means over the runs are geometric of "
    "throughput and goodput, and plain of all else; ratios are of geometric means. A percentile is "
    "averaged like any other value, and that mean is no percentile of all operations.",
    "Formulas refer to the sheets of single runs. A run that failed or was not measured is empty, "
    "with its reason. An invalid run (more failed operations than the study expects) keeps its "
    "values in grey; no formula counts it.",
    "“read+update” and the like: the plain mean of the operations' values, not weighted by how "
    "many there were; their counts are summed.",
    "Standard deviations are those of a sample (n - 1); the coefficient of variation is the "
    "standard deviation by the mean.",
    "Latencies are service times in microseconds, as YCSB records them.",
    f"Grey numbers next to averages are those that the source published; {MARK}: they are "
    "inconsistent with its others.",
]
RAW_LOGS = (
    "The last sheet has a checksum for each cell: the SHA-256 of the file SHA256SUMS, which has "
    "those of the cell's logs."
)


def about(content: Content, book: Book, name: str, sheets: dict[str, str]) -> None:
    """Fill the sheet ``name``; ``sheets`` are the others with what they hold."""
    sheet = book.get_worksheet_by_name(name)
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, 110)
    print_set_up(sheet, f"{content.study.title}, {content.run.name}")
    sheet.hide_gridlines(2)
    sheet.write_string(0, 0, content.study.title, book.style(bold=True, font_size=16))
    wrapped, bold = book.style(text_wrap=True), book.style(bold=True)
    link = book.style(font_color="#0563C1", underline=1)
    row = 1
    heading = {"Sheets": sheets.items(), "How to read it": [("", text) for text in HOW]}
    for title, lines in {"": _facts(content), **heading}.items():
        if title:
            row += 2
            sheet.write_string(row, 0, title, book.style(bold=True, font_size=12))
        for label, text in lines:
            row += 1
            if title == "Sheets":
                sheet.write_url(row, 0, f"internal:{quoted(label)}!A1", link, label)
            elif label:
                sheet.write_string(row, 0, label, bold)
            sheet.write_string(row, 1, text, wrapped)
            # Viewers do not all fit the height of a row to text that wraps.
            if len(text) > LINE_LETTERS:
                sheet.set_row(row, LINE * -(-len(text) // LINE_LETTERS))


def _facts(content: Content) -> list[tuple[str, str]]:
    run, study, environment = content.run, content.study, content.run.environment
    facts = [("Question", " ".join(study.question.split())), ("Run", run.name)]
    facts += [("Careful", content.trial)] if content.trial else []
    rows = list(run.cells.itertuples())
    for name, controls in (("Cells", False), ("Control cells", True)):
        states = [content.status(row)[0] for row in rows if is_control(row.store) == controls]
        counts = Counter(measured=0)
        counts.update(states)
        words = ", ".join(f"{count} {state}" for state, count in counts.items())
        facts += [(name, f"{len(states)} planned: {words}")] if states else []
    started = sorted(filter(None, run.cells["started"]), key=moment)
    when = f"{as_utc(started[0])} to {as_utc(started[-1])}" if started else UNKNOWN
    facts.append(("When", when))
    for parts in environment.get("machines") or [[]]:
        words = [
            f"{part['component']}: {sentence(part['name'])}"
            + (f" ({sentence(part['details'])})" if part["details"] else "")
            for part in parts
        ]
        facts.append(("Where", "; ".join(words) or UNKNOWN))
    for store, record in environment["stores"].items():
        # YCSB without a store has no server that a provider could start.
        provider = record["provider"].replace("none", "")
        words = [record["version"] or f"version {UNKNOWN}", provider, *record["images"]]
        facts.append((content.title(store), ", ".join(filter(None, words))))
    facts.append(("YCSB", ", ".join(ycsb_versions(environment)) or UNKNOWN))
    cite = f"Made with kvstudy {__version__} (Apache-2.0). Name the run, {run.name}"
    if source := study.source:
        words = f"{source.author}: {source.title}. {source.published_as}, {source.year}."
        facts.append(("Source", words))
        cite += ", and cite the source above"
    return [*facts, ("How to cite", f"{cite}."), ("Raw logs", RAW_LOGS)]


# Text stays text, whatever it begins with.
OPTIONS = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
# A run without any date has this one, since a workbook must have one and now would differ.
NO_DATE = datetime(2000, 1, 1)


def write_workbook(run: Run, output: Path) -> list[str]:
    """Write ``output`` in one step; returns the names of its sheets.

    The same run gives the same bytes. EnvironmentFault when the file cannot be written.
    """
    content, study = Content(run), run.study
    # That of the report's first page is the first sheet.
    tables = sorted(study.tables, key=lambda table: table.kind != "grid")
    stores = dict.fromkeys(store for store, *_ in content.settings)
    controls = [name for name in stores if name not in study.store_names]
    of_stores = [content.title(name) for name in study.store_names]
    of_controls = "single runs of the cells that show what differences mean"
    shown = [(table.name, table.caption) for table in tables]
    sheets = [
        *(shown[0], ("About", ""), *shown[1:]),
        ("Averages and spread", "means with their spread, and published values"),
        *((title, f"single runs of {title}") for title in of_stores),
        *([("Controls", of_controls)] if controls else []),
        ("Cells", "all planned cells, what became of them, and checksums"),
    ]
    names = sheet_names([title for title, _ in sheets])
    first, about_it, *others, last = names
    of_tables, of_runs = [first, *others[: len(tables) - 1]], others[len(tables) :]

    output.parent.mkdir(parents=True, exist_ok=True)
    staging = output.with_name(f".{output.name}.new")
    book = Book(staging, OPTIONS)
    moments = [moment(text) for text in run.cells["started"] if text]
    created = max(moments).replace(tzinfo=None) if moments else NO_DATE
    book.set_properties({"title": study.title, "subject": run.name, "created": created})
    for name in names:
        book.add_worksheet(name)
    places = CellReferences()
    holds = {name: text for name, (_, text) in zip(names, sheets, strict=True) if text}
    about(content, book, about_it, holds)
    # Formulas ask where the runs stand, so these sheets are filled first.
    runs = Runs(content, places)
    for name, store in zip(of_runs, study.store_names, strict=False):
        runs.write(book, name, [store], with_store=False)
    if controls:
        runs.write(book, of_runs[-1], controls, with_store=True)
    for name, table in zip(of_tables, tables, strict=True):
        rows = table.rows(run)
        sheet = GridSheet(content, places, book, name)
        sheet.write(table.caption, table.grids(rows, run))
        if name == first:
            add_chart(rows, content, book, sheet)
    averages(content, places, book, others[len(tables) - 1])
    cells(content, book, last)
    try:
        book.close()
        staging.replace(output)
    except (OSError, FileCreateError) as error:
        staging.unlink(missing_ok=True)
        raise EnvironmentFault(f"{output}: cannot be written: {error}") from None
    return names
