"""The sheets of the tables of the report: the same cells, as numbers and formulas."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal

from kvstudy.documents.workbook.content import Content
from kvstudy.documents.workbook.references import CellReferences
from kvstudy.documents.workbook.sheet import GREY, HEAD, LINE, WIDEST, Book, print_set_up
from kvstudy.layout.grid import Grid, Head, TableCell, TableRow, notes_of
from kvstudy.layout.rich_text import RichText

# The row of the first head, below caption, study and the notice of a trial run.
TOP = 4
# Notes and that notice need some columns even where a table has fewer; characters of a number.
FEWEST_COLUMNS, NARROWEST = 4, 11
MINUS = "\N{MINUS SIGN}"
NUMBER = re.compile(r"\d{1,3}(?:[\u202f\u00a0]\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
# What a number may be shown in, with what shows it so in a number format.
SCALES = {"1": "", "100": "%", "0.001": ",", "0.000001": ",,"}
LONGEST_FORMAT = 255


class GridSheet:
    """Writes the grids of a table below each other; ``row`` is the next free one."""

    def __init__(self, content: Content, places: CellReferences, book: Book, name: str) -> None:
        self._content, self._places, self._book = content, places, book
        self.sheet = book.get_worksheet_by_name(name)
        self.row, self.columns = TOP, FEWEST_COLUMNS

    def write(self, caption: str, grids: list[Grid]) -> None:
        """Fill the sheet."""
        grids = [grid.without_strips() for grid in grids]
        sheet, style, content = self.sheet, self._book.style, self._content
        print_set_up(sheet, content.heading(caption))
        sheet.hide_gridlines(2)
        self._set_widths(grids)
        sheet.write_string(0, 0, caption, style(bold=True, font_size=14))
        sheet.write_string(1, 0, f"{content.study.title}, {content.run.name}", style())
        if content.trial:
            self._merged(2, content.trial, bold=True, font_color="#9C2020")
        for grid in grids:
            self._grid(grid)
        for note in notes_of(grids):
            self._merged(self.row, str(note), font_color=GREY)
            self.row += 1
        sheet.print_area(0, 0, self.row, self.columns)

    def _set_widths(self, grids: list[Grid]) -> None:
        self.columns = max([FEWEST_COLUMNS, *(len(grid.columns) for grid in grids)])
        self._widths = [NARROWEST] * (1 + self.columns)
        for line in (line for grid in grids for line in grid.lines):
            for column, cell in enumerate((line.label, *line.cells)):
                longest = 2 + max(map(len, str(cell).split("\n")))
                self._widths[column] = min(WIDEST, max(longest, self._widths[column]))
        for column, width in enumerate(self._widths):
            self.sheet.set_column(column, column, width)

    def _merged(self, row: int, text: str, **style: object) -> None:
        """Text over all columns, with room for its lines: viewers do not all fit merged cells."""
        form = self._book.style(text_wrap=True, **style)
        self.sheet.merge_range(row, 0, row, self.columns, text, form)
        self.sheet.set_row(row, LINE * -(-len(text) // int(sum(self._widths))))

    def _grid(self, grid: Grid) -> None:
        self._heads(grid)
        for section in grid.sections:
            for text, style in ((section.title, {"italic": True}), (section.note, {})):
                if text:
                    self.sheet.write_string(self.row, 0, text, self._book.style(**style))
                    self.row += 1
            for number, line in enumerate(section.lines):
                self._line(grid, line, first=number == 0)
        self.row += 1

    def _heads(self, grid: Grid) -> None:
        style = self._book.style(**HEAD, align="right")
        column = 1
        for title, width in grid.groups:
            if title and width > 1:
                last = column + width - 1
                middle = self._book.style(**HEAD, align="center")
                self.sheet.merge_range(self.row, column, self.row, last, str(title), middle)
            elif title:
                self.sheet.write_string(self.row, column, str(title), style)
            column += width
        self.row += bool(grid.groups)
        if any(grid.columns) or not grid.groups:
            self.sheet.write_string(self.row, 0, grid.corner, self._book.style(**HEAD))
            for column, head in enumerate(grid.columns, start=1):
                self.sheet.write_string(self.row, column, str(head), style)
            words = [len(str(head)) / self._widths[at] for at, head in enumerate(grid.columns, 1)]
            self.sheet.set_row(self.row, LINE * (1 + int(max(words, default=0))))
            self.row += 1

    def _line(self, grid: Grid, line: TableRow, first: bool) -> None:
        height = 1
        for column, cell in enumerate((line.label, *line.cells)):
            head = grid.columns[column - 1] if column else Head(RichText())
            number = column > 0 and not grid.widths[column - 1]
            style = {"align": "right"} if number else {"text_wrap": True}
            if line.published or head.published:
                style["font_color"] = GREY
            if head.gap and first:
                self.sheet.write_string(self.row, column, head.gap, self._book.style(**style))
            elif cell:
                self._cell(column, cell, style)
            if not number:
                texts = str(cell).split("\n")
                height = max(height, sum(1 + len(text) // self._widths[column] for text in texts))
        self.sheet.set_row(self.row, LINE * height)
        self.row += 1
        for note in line.notes:
            self._merged(self.row, note)
            self.row += 1

    def _cell(self, column: int, cell: TableCell, style: dict[str, object]) -> None:
        marks = set.intersection(*({*span.marks} for span in cell.text.spans))
        style |= {mark: True for mark in ("bold", "italic") if mark in marks}
        if "grey" in marks:
            style["font_color"] = GREY
        if not (form := number_format(cell)):
            self.sheet.write_string(self.row, column, str(cell), self._book.style(**style))
        elif cell.runs and (formula := self._places.formula(cell.runs, cell.value)):
            looks = self._book.style(**style, num_format=form)
            self.sheet.write_formula(self.row, column, formula, looks, cell.value)
        else:
            looks = self._book.style(**style, num_format=form)
            self.sheet.write_number(self.row, column, cell.value, looks)


def number_format(cell: TableCell) -> str:
    """The format in which the cell's number is printed as in its text; "" if there is none.

    A number that ends in 5 is rounded up by a spreadsheet: it gets another digit where the text
    rounds it down.
    """
    text = str(cell)
    for match in NUMBER.finditer(text) if cell.value is not None else ():
        printed = re.sub(r"\s", "", match[0])
        decimals = len(printed.partition(".")[2])
        start, end = text[: match.start()], text[match.end() :]
        for scale, sign in SCALES.items():
            shown = abs(Decimal(f"{cell.value:.15g}")) * Decimal(scale)
            if f"{float(shown):.{decimals}f}" != printed or (sign == "%") > ("%" in end):
                continue
            rounded = shown.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
            decimals += str(rounded) != printed
            number = ("#,##0" if printed != match[0] else "0") + "." * (decimals > 0)
            number += "0" * decimals + sign.strip("%")
            before, percent, after = end.partition("%") if sign == "%" else (end, "", "")
            number += _literal(before) + percent + _literal(after)
            form = _literal(start.removesuffix(MINUS)) + number
            if cell.value < 0:
                form += f";{_literal(start)}{number}"
            return form if len(form) <= LONGEST_FORMAT else ""
    return ""


def _literal(text: str) -> str:
    return '"' + text.replace('"', "\N{RIGHT DOUBLE QUOTATION MARK}") + '"' if text else ""
