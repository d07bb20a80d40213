"""A sheet that is one table: header, frozen panes, filter, widths and how it prints."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from xlsxwriter import Workbook
from xlsxwriter.format import Format
from xlsxwriter.utility import xl_rowcol_to_cell
from xlsxwriter.worksheet import Worksheet

LONGEST = 31
# Excel keeps this name for itself.
RESERVED = {"history"}


def sheet_names(titles: list[str]) -> list[str]:
    """A name for each title, in order: at most 31 characters, none twice, whatever the case.

    What Excel forbids in names becomes a space; names that are taken get a number.
    """
    found: list[str] = []
    taken = set(RESERVED)
    for title in titles:
        plain = " ".join(re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", title).split())
        plain = plain.strip("' ") or "Sheet"
        name, number = _cut(plain, ""), 1
        while name.lower() in taken:
            number += 1
            name = _cut(plain, f" ({number})")
        taken.add(name.lower())
        found.append(name)
    return found


def _cut(title: str, end: str) -> str:
    # Excel counts UTF-16 units: a character beyond the basic plane counts twice.
    room = LONGEST - len(end)
    while len(title.encode("utf-16-le")) // 2 > room:
        title = title[:-1]
    return title.rstrip("' ") + end


def quoted(sheet: str) -> str:
    """The name as formulas need it."""
    return "'" + sheet.replace("'", "''") + "'"


A4 = 9
# Letters of what does not count, or is not measured here.
GREY = "#767676"
# Excel would mark the cells for these.
REMARKS = ["number_stored_as_text", "formula_differs", "formula_range"]
# What a cell of Excel can hold.
LONGEST_TEXT = 32767
WIDEST = 45
# Height of a line, in points.
LINE = 15
MOST_LINES = 6


@dataclass(frozen=True)
class Column:
    """A column of a sheet. ``width`` in characters; 0 takes what the header needs.

    A column with text as the reason of something is ``aside``: it is not printed.
    """

    header: str
    number_format: str = ""
    width: float = 0
    aside: bool = False


class Book(Workbook):
    """A workbook whose formats are each made once."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self._made: dict[tuple, Format] = {}

    def style(self, **properties: object) -> Format:
        """The format with these properties of XlsxWriter."""
        key = tuple(sorted(properties.items()))
        if key not in self._made:
            self._made[key] = self.add_format({"valign": "top"} | properties)
        return self._made[key]


class Sheet:
    """Rows below one header. Text is never read as formula, number or link."""

    def __init__(
        self,
        book: Book,
        name: str,
        columns: list[Column],
        frozen: int,
        title: str,
        pages_wide: int = 1,
    ) -> None:
        """Begin the sheet that the book has under ``name``.

        ``frozen`` columns stay in view and stand on each printed page, as the header does.
        """
        self.name = name
        self.row = 0
        self._ruled = 0
        self._columns = columns
        self._book = book
        self._sheet: Worksheet = book.get_worksheet_by_name(name)
        for number, column in enumerate(columns):
            words = max(len(word) for word in column.header.split())
            width = column.width or min(WIDEST, max(11, words + 3))
            self._sheet.set_column(number, number, width)
            align = {"align": "right"} if column.number_format else {"align": "left", "indent": 1}
            style = book.style(
                bold=True, text_wrap=True, bottom=1, bg_color="#EDEDED", valign="bottom", **align
            )
            self._sheet.write_string(0, number, column.header, style)
        self._sheet.set_row(0, 62)
        self._sheet.freeze_panes(1, frozen)
        print_set_up(self._sheet, title, pages_wide)
        self._sheet.repeat_rows(0)
        if pages_wide > 1:
            self._sheet.repeat_columns(0, frozen - 1)

    def next(self) -> int:
        """Go to the next row; returns its number from 0."""
        self.row += 1
        return self.row

    def text(self, column: int, text: str, **style: object) -> None:
        """Write ``text``; nothing for "". Text that is put aside may take several lines."""
        if not text:
            return
        if self._columns[column].aside:
            style["text_wrap"] = True
            lines = -(-len(text) // int(self._columns[column].width))
            # Viewers do not all fit the height of a row to text that wraps.
            self._sheet.set_row(self.row, LINE * min(lines, MOST_LINES))
        elif style.get("align") != "right":
            style |= {"align": "left", "indent": 1}
        if len(text) > LONGEST_TEXT:
            text = text[: LONGEST_TEXT - 1] + "…"
        self._sheet.write_string(self.row, column, text, self._book.style(**self._lined(style)))

    def write(self, column: int, *values: str | float | None) -> None:
        """Write texts and numbers side by side, from ``column`` on."""
        for at, value in enumerate(values, column):
            (self.text if isinstance(value, str) else self.number)(at, value)

    def number(self, column: int, value: float | None, **style: object) -> None:
        """Write ``value`` in the column's format; nothing for None and NaN."""
        if value is None or math.isnan(value):
            return
        self._sheet.write_number(self.row, column, value, self._of(column, style))

    def formula(self, column: int, formula: str, value: float, **style: object) -> None:
        """Write ``formula`` with the ``value`` that it has, for viewers that do not calculate."""
        self._sheet.write_formula(self.row, column, formula, self._of(column, style), value)

    def done(self) -> None:
        """Put the filter over all rows that were written."""
        last = len(self._columns) - 1
        self._sheet.autofilter(0, 0, max(self.row, 1), last)
        printed = last - sum(column.aside for column in self._columns)
        self._sheet.print_area(0, 0, max(self.row, 1), printed)
        # Versions are text, and neighbouring formulas differ where runs are missing.
        everything = f"A1:{xl_rowcol_to_cell(max(self.row, 1), last)}"
        self._sheet.ignore_errors(dict.fromkeys(REMARKS, everything))

    def rule(self) -> None:
        """Draw a thin line above the row that was begun: here another block begins."""
        if self.row > 1:
            for column in range(len(self._columns)):
                self._sheet.write_blank(self.row, column, None, self._book.style(top=4))
        self._ruled = self.row

    def _of(self, column: int, style: dict[str, object]) -> Format:
        form = style.pop("number_format", self._columns[column].number_format)
        given = {"num_format": form} if form else {}
        return self._book.style(**given, **self._lined(style))

    def _lined(self, style: dict[str, object]) -> dict[str, object]:
        return style | ({"top": 4} if self._ruled == self.row > 1 else {})


def print_set_up(sheet: Worksheet, title: str, pages_wide: int = 1) -> None:
    """A4 across, as wide as ``pages_wide`` pages, with title, sheet and page number."""
    sheet.set_landscape()
    sheet.set_paper(A4)
    sheet.set_margins(left=0.5, right=0.5, top=0.75, bottom=0.75)
    sheet.fit_to_pages(pages_wide, 0)
    # In headers & begins a code; 255 characters are the limit of Excel.
    sheet.set_header(f"&L{title.replace('&', '&&')[:120]}&R&A")
    sheet.set_footer("&C&P / &N")
