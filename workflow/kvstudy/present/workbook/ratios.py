"""The first sheet: the grid of the report's first page, and a chart of it."""

from __future__ import annotations

import math

import pandas as pd
from xlsxwriter.utility import xl_range, xl_range_abs, xl_rowcol_to_cell

from kvstudy.analyse.tidy.numbers import FARTHEST, MARK, significant
from kvstudy.present.tables.grid import THROUGHPUT
from kvstudy.present.typeset.latex import BOUND
from kvstudy.present.typeset.table import pairing
from kvstudy.present.workbook.content import Content
from kvstudy.present.workbook.sheet import GREY, HEAD, NOTHING, Book, print_set_up, quoted
from kvstudy.present.workbook.tables import CellReferences
from kvstudy.study.parts import MEAN

# The row of the grid's head.
TOP = 4
LINES = {
    "ratio": "",
    "low": "   95 % interval from",
    "high": "   to",
    "p99": "   p99 (µs)",
    "published": "   published",
}
# Pixels: the columns, and the height of the chart below them.
LABEL, COLUMN, HEIGHT = 230, 105, 340
# Text and chart need some columns even where workloads do not.
FEWEST_COLUMNS = 4
# Powers of 2 between the ends of the chart's axis; beyond these it has powers of 10.
MOST_DOUBLINGS = 8


class RatioSheet:
    """The rows of ``tables.grid.GridTable`` that the first page shows, as a sheet."""

    def __init__(self, content: Content, places: CellReferences, book: Book, name: str) -> None:
        study = content.study
        self._content, self._places, self._book = content, places, book
        self._sheet = book.get_worksheet_by_name(name)
        frame = study.tables_of("grid")[0].rows(content.run)
        frame = frame[frame["metric"] == THROUGHPUT]
        # That of the first page is first.
        self._baseline = next(iter(frame["baseline"]), "")
        frame = frame[frame["baseline"] == self._baseline]
        # Those that are not compared with it have no ratio to it.
        of_it = (group for group in content.run.compared if self._baseline in group)
        self._compared = next(of_it, [])
        repeated = [name for name in frame["store"].unique() if name not in study.store_names]
        self._stores = [*self._compared, *repeated]
        workloads = set(frame["workload"])
        self._workloads = [name for name in [*study.workload_names, MEAN] if name in workloads]
        self._columns = max(len(self._workloads), FEWEST_COLUMNS)
        of_stores = frame.set_index("workload").groupby("store")
        # Of each store a row for each workload; NaN for what is not known.
        self._rows = {store: of.reindex(self._workloads) for store, of in of_stores}

    def write(self) -> None:
        """Fill the sheet: a column per workload, lines per store, a chart below them."""
        sheet, style, content = self._sheet, self._book.style, self._content
        print_set_up(sheet, content.heading("the stores relative to one of them"))
        sheet.fit_to_pages(1, 1)
        sheet.hide_gridlines(2)
        sheet.set_column_pixels(0, 0, LABEL)
        sheet.set_column_pixels(1, self._columns, COLUMN)
        for row, height in ((0, 24), (2, 32), (TOP, 48)):
            sheet.set_row(row, height)
        sheet.write_string(0, 0, content.study.title, style(bold=True, font_size=16))
        sheet.write_string(1, 0, content.run.name, style())
        if content.trial:
            warning = style(bold=True, font_color="#9C2020", text_wrap=True)
            sheet.merge_range(2, 0, 2, self._columns, content.trial, warning)
        if not self._baseline:
            text = "No two stores have values at the sizes that tables show: nothing to compare."
            sheet.write_string(TOP, 0, text)
            return
        self._relative = f"Throughput relative to {content.title(self._baseline)}"
        sheet.write_string(TOP, 0, self._relative, style(**HEAD))
        for column, name in enumerate(self._workloads, start=1):
            title = "All (geometric mean)" if name == MEAN else content.workload(name)
            sheet.write_string(TOP, column, title, style(**HEAD, align="right"))
        row, rows = TOP, {}
        for store in self._stores:
            rows[store] = row + 1
            for metric in LINES:
                # The published ratio of the baseline is to itself.
                is_baseline = store == self._baseline and metric == "published"
                if metric == "ratio" or (
                    self._rows[store][metric].notna().any() and not is_baseline
                ):
                    row += 1
                    self._line(store, metric, row)
        for text in self._notes():
            row += 1
            sheet.write_string(row, 0, text, style(font_color=GREY))
        self._chart(rows, row + 2)
        # Without the lengths of the whiskers, which are further to the right.
        sheet.print_area(0, 0, row + 2 + HEIGHT // 18, self._columns)

    def _line(self, store: str, metric: str, at: int) -> None:
        first, repeated = metric == "ratio", store not in self._content.study.store_names
        style = {"bold": True, "top": 4} if first else {}
        title = self._content.title(self._baseline if repeated else store)
        label = LINES[metric] or title + " by itself (noise floor)" * repeated
        self._sheet.write_string(at, 0, label, self._book.style(**style))
        for column, row in enumerate(self._rows[store].itertuples(), start=1):
            value = getattr(row, metric)
            if math.isnan(value):
                form = style | NOTHING | {"bold": False, "align": "right"}
                text = "not measured" if first else ""
                self._sheet.write_string(at, column, text, self._book.style(**form))
                continue
            style_of = style | {"num_format": _number_format(row, metric, value)}
            if metric == "published" or (metric != "p99" and row.in_floor == "yes"):
                style_of["font_color"] = GREY
            form = self._book.style(**style_of)
            if first and (formula := self._formula(row, at, column)):
                self._sheet.write_formula(at, column, formula, form, value)
            else:
                self._sheet.write_number(at, column, value, form)

    def _formula(self, row, at: int, column: int) -> str:
        """The ratio from the single runs; "" where the two stores have not the same ones."""
        if row.Index == MEAN:
            same = (self._rows[row.store]["n"] == row.n).all()
            return f"=GEOMEAN({xl_range(at, 1, at, column - 1)})" if same else ""
        keys = [
            (store, row.Index, row.parameters, "overall", "throughput")
            for store in (row.store, self._baseline)
        ]
        if any(self._places.count(key) != row.n for key in keys):
            return ""
        return "=" + "/".join(f"GEOMEAN({self._places.ranges(key)})" for key in keys)

    def _notes(self) -> list[str]:
        pairs = pairing(self._content.study)
        rows = pd.concat(self._rows)
        several = rows["low"].notna().any()
        notes = {
            "Ratios of one run each.": not several,
            f"Ratios of geometric means over the runs, with 95 % intervals ({pairs}).": several,
            "Grey: published, or not above the noise floor (the ratio of two measurements of one "
            "store).": (rows["in_floor"] == "yes").any(),
            "p99: 99th percentile of the latency of the workload's main operation, all runs "
            "together.": rows["p99"].notna().any(),
            f"{BOUND}: the client, not the store, limits the throughput.": (
                rows["client_bound"] == "yes"
            ).any(),
            f"{MARK}: inconsistent by the audit of the source.": rows["inconsistent"]
            .eq(True)
            .any(),
        }
        return [text for text, holds in notes.items() if holds]

    def _chart(self, rows: dict[str, int], below: int) -> None:
        """Ratios with their intervals: bars from 1 on a logarithmic axis."""
        chart, name = self._book.add_chart({"type": "column"}), self._sheet.name
        last, ends = len(self._workloads), [1.0]
        for store in self._compared:
            values = self._rows[store][["ratio", "low", "high"]]
            ratio = values["ratio"]
            if store == self._baseline or ratio.isna().all():
                continue
            near = values.clip(ratio / FARTHEST, ratio * FARTHEST, axis=0)
            ends += [near.min(axis=None), near.max(axis=None)]
            row = rows[store]
            whiskers = self._whiskers(row, values) if values["low"].notna().any() else None
            chart.add_series(
                {
                    "name": [name, row, 0],
                    "categories": [name, TOP, 1, TOP, last],
                    "values": [name, row, 1, row, last],
                    "fill": {"color": self._content.run.stores[store].color},
                    "gap": 80,
                    "y_error_bars": whiskers,
                }
            )
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
                "name": self._relative,
                "major_gridlines": {"visible": True, "line": {"color": "#D9D9D9"}},
                "num_format": "General",
            }
        )
        chart.set_x_axis({"label_position": "low"})
        chart.set_title({"none": True})
        chart.set_legend({"position": "top"})
        chart.set_size({"width": LABEL + COLUMN * self._columns, "height": HEIGHT})
        self._sheet.insert_chart(below, 0, chart)

    def _whiskers(self, row: int, values: pd.DataFrame) -> dict[str, object]:
        """Error bars of the ratios in ``row``; their lengths are at the right of the ends.

        LibreOffice draws none from numbers that are in no cells.
        """
        start, style = self._columns + 2, self._book.style(num_format="0.000", font_color=GREY)
        text = "Lengths of the chart's whiskers"
        self._sheet.write_string(TOP, start, text, self._book.style(font_color=GREY))
        for column, (ratio, low, high) in enumerate(values.itertuples(index=False)):
            of, lower, upper = (xl_rowcol_to_cell(row + at, column + 1) for at in range(3))
            if not math.isnan(low):
                at = start + column
                self._sheet.write_formula(row + 1, at, f"={of}-{lower}", style, ratio - low)
                self._sheet.write_formula(row + 2, at, f"={upper}-{of}", style, high - ratio)
        last = start + len(self._workloads) - 1
        minus, plus = (
            f"={quoted(self._sheet.name)}!{xl_range_abs(at, start, at, last)}"
            for at in (row + 1, row + 2)
        )
        return {"type": "custom", "plus_values": plus, "minus_values": minus}


def _number_format(row, metric: str, value: float) -> str:
    """Three significant digits, and the mark behind them."""
    decimals = len(significant(value).partition(".")[2])
    number = "#,##0" + ("." + "0" * decimals if decimals else "")
    if not 1e-4 < value < 1e7:
        # An end of the interval of two runs.
        number = "0.00E+00"
    bound = metric == "ratio" and row.client_bound == "yes"
    inconsistent = metric == "published" and row.inconsistent
    return number + (f'"{BOUND}"' if bound else "") + (f'"{MARK}"' if inconsistent else "")
