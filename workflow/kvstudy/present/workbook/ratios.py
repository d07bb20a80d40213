"""The first sheet: the grid of the report's first page, and a chart of it."""

from __future__ import annotations

import math
from collections.abc import Iterable

from xlsxwriter.utility import xl_rowcol_to_cell
from xlsxwriter.worksheet import Worksheet

from kvstudy.analyse.tidy.numbers import FARTHEST, MARK, significant
from kvstudy.present.typeset.latex import BOUND
from kvstudy.present.workbook.content import Content
from kvstudy.present.workbook.runs import Places
from kvstudy.present.workbook.sheet import Book, print_set_up, quoted
from kvstudy.study.parts import MEAN

# The row of the grid's head.
HEAD = 4
LINES = {
    "ratio": "",
    "low": "   95 % interval from",
    "high": "   to",
    "p99": "   p99 (µs)",
    "published": "   published",
}
GREY, RED = "#767676", "#9C2020"
# Pixels: the columns, and the height of the chart below them.
LABEL, COLUMN, HEIGHT = 230, 105, 340
# Powers of 2 between the ends of the chart's axis; beyond these it has powers of 10.
MOST_DOUBLINGS = 8


def ratios(content: Content, places: Places, book: Book, name: str) -> None:
    """Fill the sheet ``name``: a column per workload, lines per store, a chart below them."""
    sheet = book.get_worksheet_by_name(name)
    print_set_up(sheet, content.heading("the stores relative to one of them"))
    sheet.fit_to_pages(1, 1)
    sheet.hide_gridlines(2)
    sheet.write_string(0, 0, content.study.title, book.style(bold=True, font_size=16))
    sheet.set_row(0, 24)
    sheet.write_string(1, 0, content.run.name, book.style())
    grid = _Grid(content)
    sheet.set_column_pixels(0, 0, LABEL)
    sheet.set_column_pixels(1, grid.width, COLUMN)
    if content.trial:
        warning = book.style(bold=True, font_color=RED, text_wrap=True)
        sheet.merge_range(2, 0, 2, grid.width, content.trial, warning)
        sheet.set_row(2, 32)
    if not grid.baseline:
        text = "No two stores have values at the sizes that tables show: nothing to compare."
        sheet.write_string(HEAD, 0, text)
        return
    head = {"bold": True, "text_wrap": True, "bottom": 1, "bg_color": "#EDEDED"}
    corner = f"Throughput relative to {content.title(grid.baseline)}"
    sheet.write_string(HEAD, 0, corner, book.style(**head))
    for column, workload in enumerate(grid.workloads, start=1):
        title = "All (geometric mean)" if workload == MEAN else content.workload(workload)
        sheet.write_string(HEAD, column, title, book.style(**head, align="right"))
    sheet.set_row(HEAD, 48)
    row, rows = HEAD, {}
    for store in grid.stores:
        rows[store] = row + 1
        for metric in grid.lines(store):
            row += 1
            _line(sheet, content, places, book, grid, store, metric, row)
    for text in _notes(content, grid):
        row += 1
        sheet.write_string(row, 0, text, book.style(font_color=GREY))
    _chart(sheet, content, book, grid, rows, row + 2)
    # Without the whiskers' lengths, which stand further to the right.
    sheet.print_area(0, 0, row + 2 + HEIGHT // 18, grid.width)


class _Grid:
    """The rows of ``tables.grid.GridTable`` that the first page shows."""

    def __init__(self, content: Content) -> None:
        study = content.study
        frame = study.tables_of("grid")[0].rows(content.run)
        # Those of the first page stand first.
        frame = frame.drop_duplicates(["workload", "store"])
        alone = frame.loc[(frame["ratio"] == 1) & frame["low"].isna(), "store"]
        self.baseline = next(iter(alone), "")
        again = [name for name in frame["store"].unique() if name not in study.store_names]
        self.stores = [*study.store_names, *again]
        there = set(frame["workload"])
        self.workloads = [name for name in [*study.workload_names, MEAN] if name in there]
        # Text and chart need some columns even where workloads do not.
        self.width = max(len(self.workloads), 4)
        self.cells = {(row.store, row.workload): row for row in frame.itertuples()}

    def values(self, store: str, metric: str) -> list[float]:
        """By workload; NaN for what is not known."""
        cells = [self.cells.get((store, workload)) for workload in self.workloads]
        return [getattr(cell, metric) if cell else math.nan for cell in cells]

    def lines(self, store: str) -> list[str]:
        """The metrics of which the store has anything, and its ratio."""
        known = [metric for metric in LINES if _known(self.values(store, metric))]
        if store == self.baseline:
            # Its ratio to itself.
            known = [metric for metric in known if metric != "published"]
        return known if "ratio" in known else ["ratio", *known]


def _known(values: Iterable[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _line(
    sheet: Worksheet,
    content: Content,
    places: Places,
    book: Book,
    grid: _Grid,
    store: str,
    metric: str,
    row: int,
) -> None:
    first = metric == "ratio"
    style = {"bold": True, "top": 4} if first else {}
    title = content.title(store if store in content.study.store_names else grid.baseline)
    again = "" if store in content.study.store_names else " by itself (noise floor)"
    sheet.write_string(row, 0, LINES[metric] or title + again, book.style(**style))
    for column, value in enumerate(grid.values(store, metric), start=1):
        cell = grid.cells.get((store, grid.workloads[column - 1]))
        if math.isnan(value):
            text = "not measured" if first else ""
            grey = {"align": "right", "italic": True, "font_color": GREY}
            sheet.write_string(row, column, text, book.style(**style | {"bold": False}, **grey))
            continue
        in_grey = metric == "published" or (metric != "p99" and cell.in_floor == "yes")
        form = book.style(
            num_format=_number_format(cell, metric, value),
            **style,
            **({"font_color": GREY} if in_grey else {}),
        )
        if first and (formula := _formula(places, grid, cell, row, column)):
            sheet.write_formula(row, column, formula, form, value)
        else:
            sheet.write_number(row, column, value, form)


def _number_format(cell, metric: str, value: float) -> str:
    """Three significant digits, and the mark behind them."""
    decimals = len(significant(value).partition(".")[2])
    number = "#,##0" + "." * bool(decimals) + "0" * decimals
    if not 1e-4 < value < 1e7:
        # An end of the interval of two runs.
        number = "0.00E+00"
    mark = ""
    if metric == "ratio" and cell.client_bound == "yes":
        mark = f'"{BOUND}"'
    if metric == "published" and cell.rejected:
        mark = f'"{MARK}"'
    return number + mark


def _formula(places: Places, grid: _Grid, cell, row: int, column: int) -> str:
    """The ratio from the single runs; "" where the two stores have not the same ones."""
    if cell.workload == MEAN:
        counts = {grid.cells[cell.store, name].n for name in grid.workloads}
        ends = [xl_rowcol_to_cell(row, at) for at in (1, column - 1)]
        return f"=GEOMEAN({':'.join(ends)})" if counts == {cell.n} else ""
    keys = [
        (store, cell.workload, cell.parameters, "overall", "throughput")
        for store in (cell.store.partition("/")[0], grid.baseline)
    ]
    if "/" in cell.store or any(places.count(key) != cell.n for key in keys):
        return ""
    return "=" + "/".join(f"GEOMEAN({places.ranges(key)})" for key in keys)


def _notes(content: Content, grid: _Grid) -> list[str]:
    pairing = "not paired, by Welch's method" if content.study.imported else "paired by repetition"
    cells = list(grid.cells.values())
    several = _known(cell.low for cell in cells)
    notes = {
        "Ratios of one run each.": not several,
        f"Ratios of geometric means over the runs, with 95 % intervals ({pairing}).": several,
        "Grey: published, or not above the noise floor (the ratio of two measurements of one "
        "store).": any(cell.in_floor == "yes" for cell in cells),
        "p99: 99th percentile of the latency of the workload's main operation, all runs "
        "together.": _known(cell.p99 for cell in cells),
        f"{BOUND}: the client, not the store, limits the throughput.": any(
            cell.client_bound == "yes" for cell in cells
        ),
        f"{MARK}: rejected by the audit of the source.": any(cell.rejected for cell in cells),
    }
    return [text for text, holds in notes.items() if holds]


def _chart(
    sheet: Worksheet, content: Content, book: Book, grid: _Grid, rows: dict[str, int], row: int
) -> None:
    """Ratios with their intervals: bars from 1 on a logarithmic axis."""
    chart = book.add_chart({"type": "column"})
    columns, ends = len(grid.workloads), [1.0]
    for store in content.study.store_names:
        ratios, low, high = (grid.values(store, metric) for metric in ("ratio", "low", "high"))
        if store == grid.baseline or not _known(ratios):
            continue
        for ratio, *interval in zip(ratios, low, high, strict=True):
            farthest = ratio / FARTHEST, ratio * FARTHEST
            ends += _known([ratio, *(min(max(end, farthest[0]), farthest[1]) for end in interval)])
        at = rows[store]
        series = {
            "name": [sheet.name, at, 0],
            "categories": [sheet.name, HEAD, 1, HEAD, columns],
            "values": [sheet.name, at, 1, at, columns],
            "fill": {"color": content.run.stores[store].color},
            "gap": 80,
        }
        if _known(low):
            values = (ratios, low, high)
            series["y_error_bars"] = _error_bars(sheet, book, at, grid.width + 2, values)
        chart.add_series(series)
    if len(ends) == 1:
        return
    base = 2 if math.log2(max(ends) / min(ends)) <= MOST_DOUBLINGS else 10
    chart.set_y_axis(
        {
            "log_base": base,
            "major_unit": base,
            "min": base ** math.floor(math.log(min(ends), base)),
            "max": base ** math.ceil(math.log(max(ends), base)),
            "crossing": 1,
            "name": f"Throughput relative to {content.title(grid.baseline)}",
            "major_gridlines": {"visible": True, "line": {"color": "#D9D9D9"}},
            "num_format": "General",
        }
    )
    chart.set_x_axis({"label_position": "low"})
    chart.set_title({"none": True})
    chart.set_legend({"position": "top"})
    chart.set_size({"width": LABEL + COLUMN * grid.width, "height": HEIGHT})
    sheet.insert_chart(row, 0, chart)


def _error_bars(
    sheet: Worksheet, book: Book, at: int, start: int, values: tuple[list[float], ...]
) -> dict[str, object]:
    """Error bars of the ratios in row ``at``; their lengths stand beside them, from ``start``.

    LibreOffice draws none from numbers that stand in no cells.
    """
    style = book.style(num_format="0.000", font_color=GREY)
    text = book.style(text_wrap=False, font_color=GREY)
    sheet.write_string(HEAD, start, "The chart's whiskers", text)
    for column, (ratio, low, high) in enumerate(zip(*values, strict=True)):
        middle, lower, upper = (xl_rowcol_to_cell(at + below, column + 1) for below in (0, 1, 2))
        if not math.isnan(low):
            sheet.write_formula(at + 1, start + column, f"={middle}-{lower}", style, ratio - low)
            sheet.write_formula(at + 2, start + column, f"={upper}-{middle}", style, high - ratio)
    last = start + len(values[0]) - 1
    minus, plus = (
        f"={quoted(sheet.name)}!"
        + ":".join(xl_rowcol_to_cell(row, of, True, True) for of in (start, last))
        for row in (at + 1, at + 2)
    )
    return {"type": "custom", "plus_values": plus, "minus_values": minus}
