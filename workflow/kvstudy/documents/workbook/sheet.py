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
    names: list[str] = []
    taken = set(RESERVED)
    for title in titles:
        plain = " ".join(re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", title).split())
        plain = plain.strip("' ") or "Sheet"
        name, number = _cut(plain, ""), 1
        while name.lower() in taken:
            number += 1
            name = _cut(plain, f" ({number})")
        taken.add(name.lower())
        names.append(name)
    return names


def _cut(title: str, end: str) -> str:
    # Excel counts UTF-16 units: a character beyond the basic plane counts twice.
    room = 2 * (LONGEST - len(end))
    title = title.encode("utf-16-le")[:room].decode("utf-16-le", "ignore")
    return title.rstrip("' ") + end


def quoted(sheet: str) -> str:
    """The name as formulas need it."""
    return "'" + sheet.replace("'", "''") + "'"


A4 = 9
# Letters of what does not count, or is not measured here.
GREY = "#767676"
HEAD = {"bold": True, "text_wrap": True, "bottom": 1, "bg_color": "#EDEDED", "valign": "bottom"}
# What does not count, or is not there.
NOTHING = {"italic": True, "font_color": GREY}
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
    """Rows below one header. Text is never read as formula, number or link.

    ``row`` is the number, from 0, of the row that is written. A column is named by its header, or
    is a number.
    """

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

        ``frozen`` columns stay in view and are on each printed page, as the header does.
        """
        self.name, self.row = name, 0
        self._columns, self._book = columns, book
        self._numbers = {column.header: number for number, column in enumerate(columns)}
        self._block: object = None
        # The line above the row, where a block begins.
        self._line: dict[str, object] = {}
        self._sheet: Worksheet = book.get_worksheet_by_name(name)
        for number, column in enumerate(columns):
            words = max(len(word) for word in column.header.split())
            width = column.width or min(WIDEST, max(11, words + 3))
            self._sheet.set_column(number, number, width)
            align = {"align": "right"} if column.number_format else {"align": "left", "indent": 1}
            style = book.style(**HEAD, **align)
            self._sheet.write_string(0, number, column.header, style)
        self._sheet.set_row(0, 62)
        self._sheet.freeze_panes(1, frozen)
        print_set_up(self._sheet, title, pages_wide)
        self._sheet.repeat_rows(0)
        if pages_wide > 1:
            self._sheet.repeat_columns(0, frozen - 1)

    def number_of(self, column: str | int) -> int:
        return self._numbers.get(column, column)

    def cell(self, column: str) -> str:
        """``J5``: the column's cell in the row that is written."""
        return xl_rowcol_to_cell(self.row, self.number_of(column))

    def next(self, block: object = None) -> None:
        """Go to the next row; above the first one of a ``block`` is a thin line."""
        self.row += 1
        self._line = {"top": 4} if block != self._block and self.row > 1 else {}
        self._block = block
        for column in range(len(self._columns) if self._line else 0):
            self._sheet.write_blank(self.row, column, None, self._book.style(**self._line))

    def put(self, column: str | int, value: str | float | None, **style: object) -> None:
        """Write a text, or a number in the column's format; nothing for "", None and NaN."""
        number = self.number_of(column)
        if isinstance(value, str):
            self._text(number, value, style)
        elif value is not None and not math.isnan(value):
            self._sheet.write_number(self.row, number, value, self._style(number, style))

    def write(self, column: str, *values: str | float | None) -> None:
        """Write texts and numbers side by side, from ``column`` on."""
        for number, value in enumerate(values, self.number_of(column)):
            self.put(number, value)

    def formula(self, column: str | int, formula: str, value: float, **style: object) -> None:
        """Write ``formula`` with the ``value`` that it has, for viewers that do not calculate.

        The value alone if there is none; nothing for NaN.
        """
        number = self.number_of(column)
        if formula and not math.isnan(value):
            form = self._style(number, style)
            self._sheet.write_formula(self.row, number, formula, form, value)
        else:
            self.put(number, value, **style)

    def _text(self, number: int, text: str, style: dict[str, object]) -> None:
        """Text that is put aside may take several lines."""
        if not text:
            return
        if self._columns[number].aside:
            style["text_wrap"] = True
            lines = -(-len(text) // int(self._columns[number].width))
            # Viewers do not all fit the height of a row to text that wraps.
            self._sheet.set_row(self.row, LINE * min(lines, MOST_LINES))
        elif style.get("align") != "right":
            style |= {"align": "left", "indent": 1}
        if len(text) > LONGEST_TEXT:
            text = text[: LONGEST_TEXT - 1] + "…"
        self._sheet.write_string(self.row, number, text, self._book.style(**style, **self._line))

    def done(self) -> None:
        """Put the filter over all rows that were written."""
        last = len(self._columns) - 1
        self._sheet.autofilter(0, 0, max(self.row, 1), last)
        printed = last - sum(column.aside for column in self._columns)
        self._sheet.print_area(0, 0, max(self.row, 1), printed)
        # Versions are text, and neighbouring formulas differ where runs are missing.
        everything = f"A1:{xl_rowcol_to_cell(max(self.row, 1), last)}"
        self._sheet.ignore_errors(dict.fromkeys(REMARKS, everything))

    def _style(self, number: int, style: dict[str, object]) -> Format:
        form = style.pop("num_format", self._columns[number].number_format)
        return self._book.style(**({"num_format": form} if form else {}), **style, **self._line)


def print_set_up(sheet: Worksheet, title: str, pages_wide: int = 1) -> None:
    """A4 across, as wide as ``pages_wide`` pages, with title, sheet and page number."""
    sheet.set_landscape()
    sheet.set_paper(A4)
    sheet.set_margins(left=0.5, right=0.5, top=0.75, bottom=0.75)
    sheet.fit_to_pages(pages_wide, 0)
    # In headers & begins a code; 255 characters are the limit of Excel.
    sheet.set_header(f"&L{title.replace('&', '&&')[:120]}&R&A")
    sheet.set_footer("&C&P / &N")
