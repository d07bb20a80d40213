"""The chart of the first page's table: bars from 1 on a logarithmic axis."""

from __future__ import annotations

import math

import pandas as pd
from xlsxwriter.utility import xl_range_abs

from kvstudy.documents.workbook.content import Content
from kvstudy.documents.workbook.grids import TOP, GridSheet
from kvstudy.documents.workbook.sheet import GREY, Book, quoted
from kvstudy.exhibits.grid_cells import THROUGHPUT
from kvstudy.layout.numbers import FARTHEST
from kvstudy.study.parts import MEAN

# Pixels.
WIDTH, HEIGHT = 800, 340
# Powers of 2 between the ends of the chart's axis; beyond these it has powers of 10.
MOST_DOUBLINGS = 8


def add_chart(frame: pd.DataFrame, content: Content, book: Book, table: GridSheet) -> None:
    """Put ratios with their intervals below the sheet of a ``table`` with the rows ``frame``.

    The chart's numbers are at the right of what is printed: LibreOffice draws no whiskers from
    numbers that are in no cells.
    """
    frame = frame[frame["metric"] == THROUGHPUT]
    # That of the first page is first.
    baseline = next(iter(frame["baseline"]), "")
    frame = frame[frame["baseline"] == baseline].dropna(subset="ratio")
    names = [
        name
        for name in [*content.study.workload_names, MEAN]
        if name in set(frame.loc[frame["store"] != baseline, "workload"])
    ]
    # Those that are not compared with it have no ratio to it.
    compared = next((group for group in content.run.compared if baseline in group), [])
    chart, sheet = book.add_chart({"type": "column"}), table.sheet
    row, start = TOP, table.columns + 2
    style = book.style(font_color=GREY, num_format="0.000")
    titles = ["All (geometric mean)" if name == MEAN else content.workload(name) for name in names]
    sheet.write_row(TOP, start, ["Numbers of the chart", *titles], style)

    def place(at: int) -> str:
        cells = xl_range_abs(at, start + 1, at, start + len(names))
        return f"={quoted(sheet.name)}!{cells}"

    ends = [1.0]
    for store in compared:
        values = frame[frame["store"] == store].set_index("workload").reindex(names)
        values = values[["ratio", "low", "high"]].astype(float)
        ratio = values["ratio"]
        if store == baseline or ratio.isna().all():
            continue
        near = values.clip(ratio / FARTHEST, ratio * FARTHEST, axis=0)
        ends += [near.min(axis=None), near.max(axis=None)]
        whiskers = {"below": ratio - values["low"], "above": values["high"] - ratio}
        for at, (label, numbers) in enumerate(
            {content.title(store): ratio, **whiskers}.items(), row + 1
        ):
            sheet.write_string(at, start, label, style)
            for column, number in enumerate(numbers, start + 1):
                if not math.isnan(number):
                    sheet.write_number(at, column, number, style)
        several = values["low"].notna().any()
        bars = {"type": "custom", "minus_values": place(row + 2), "plus_values": place(row + 3)}
        chart.add_series(
            {
                "name": [sheet.name, row + 1, start],
                "categories": place(TOP),
                "values": place(row + 1),
                "fill": {"color": content.run.stores[store].color},
                "gap": 80,
                "y_error_bars": bars if several else None,
            }
        )
        row += 3
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
            "name": f"Throughput relative to {content.title(baseline)}",
            "major_gridlines": {"visible": True, "line": {"color": "#D9D9D9"}},
            "num_format": "General",
        }
    )
    chart.set_x_axis({"label_position": "low"})
    chart.set_title({"none": True})
    chart.set_legend({"position": "top"})
    chart.set_size({"width": WIDTH, "height": HEIGHT})
    sheet.insert_chart(table.row + 1, 0, chart)
    sheet.print_area(0, 0, table.row + 1 + HEIGHT // 18, table.columns)
