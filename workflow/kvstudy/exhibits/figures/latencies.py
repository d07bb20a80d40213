"""Latencies of single operations: boxes, and all percentiles up to the rare ones."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.texts import exact, exact_range, runs, value_texts
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import reason, sentence
from kvstudy.layout import plot
from kvstudy.layout.looks import INK, NOTE, Style, StyleSheet
from kvstudy.layout.numbers import sign, significant, whole
from kvstudy.libraries import np, pd
from kvstudy.study.base import Name, Operation
from kvstudy.study.units import converted
from kvstudy.study.workload import operations_of, properties_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

SHARES = ["p1", "p5", "p25", "p50", "p75", "p95", "p99", "largest"]
BOXES = ["operation", "store", "parameters", *SHARES, "unit", "operations", "n", "note"]
# Boxes narrower than that (points) have no number of operations below them.
NARROW = 22
BOX_TEXTS = {"p50_text": N_("Median"), "middle": N_("25th to 75th percentile")}
BOX_TEXTS |= {"most": N_("5th to 95th percentile"), "nearly": N_("1st to 99th percentile")}
BOX_TEXTS |= {"largest_text": N_("Largest"), "count": N_("Operations"), "runs": N_("Of")}
BOX_TEXTS |= {"cells": N_("Cells"), "note": N_("Note")}
MOST_COLUMNS = 3
TICKS = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999]
SHARE = N_("Share of operations that are not slower")
ENDS = ["low", "value", "high"]
SPECTRUM_TEXTS = {"exact": N_("Latency"), "range": N_("Range of the single runs")}
SPECTRUM_TEXTS |= {"runs": N_("Histograms of"), "beyond_text": N_("Slower operations")}
SPECTRUM_TEXTS |= {"cells": N_("Cells")}


class Box(DrawnFigure):
    """Latencies of single operations: a box for each kind of operation and store."""

    in_template = True
    texts = BOX_TEXTS

    kind: Literal["box"] = Field(
        description="Latencies of a workload's single operations, a box for each kind and store: "
        "quartiles, whiskers from the 5th to the 95th percentile, points at the 1st and the 99th; "
        "from the histograms, which keep a latency within 0.1 %."
    )
    workload: Name = Field(description="The workload.")
    operations: list[Operation] = Field(
        default=[], description=("Names of operations; default: all.")
    )
    unit: Literal["us", "ms", "s"] = "us"

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per box, in the order of drawing; ``note`` says why there is none.

        Latencies are in ``unit``; ``operations`` are those of all ``n`` runs.
        """
        use = run.study.workload(self.workload)
        kinds = self.operations or operations_of(properties_of(run.study, use))
        factor = converted(1, "us", self.unit)
        boxes = run.headline_analysis.boxes.query("workload == @self.workload")
        boxes = boxes.assign(**{share: boxes[share] * factor for share in SHARES}, note="")
        boxes = boxes.set_index(["operation", "store"]).to_dict("index")
        rows = []
        for operation, store in product(kinds, run.study.store_names):
            label = run.results.state(store, self.workload).label
            gap = {"note": label or reason("not-timed", operation=operation)}
            key = {"operation": operation, "store": store, "unit": self.unit}
            rows.append(key | boxes.get((operation, store), gap))
        table = pd.DataFrame(rows, columns=BOXES)
        return table.astype(dict.fromkeys([*SHARES, "operations", "n"], float))

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """Over a logarithmic axis; in print, below each box how many operations it is of."""
        # YCSB prints whole microseconds, and a logarithmic axis has no 0.
        least = converted(1, "us", self.unit)
        legend = [replace(look, marker=None, line=None) for look in styles.stores.values()]
        table = table.assign(**table[SHARES].clip(lower=least))
        ends = table[["p1", "p99"]].stack()
        low, high = (ends.min(), ends.max()) if len(ends) else (least, least)
        # Room below for the numbers.
        decades = max(math.log10(high / low), 0.5)
        low, high = low / 10 ** (0.16 * decades), high * 10 ** (0.06 * decades)
        groups = (*table["operation"].map(sentence).unique(),)
        x = plot.Bands("group", "", groups, tuple(look.title for look in legend), width=0.7)
        title = _("Latency of operations ({})").format(sign(self.unit))
        y = plot.axis("p50", title, low, high, log=True)
        measured = table["p50"].notna()
        room = plot.group_room(x)
        table = table.assign(
            name=table["store"].map(styles.titles),
            group=table["operation"].map(sentence),
            foot=low,
            missing=~measured,
            count=np.where(measured & (room > NARROW), table["operations"].map(_short), ""),
        )
        layers = [
            plot.Whisker("p5", "p95", look=INK, width=0.8),
            plot.Tick("p5", 0.5, look=INK),
            plot.Tick("p95", 0.5, look=INK),
            plot.Bar("p25", "p75", hover=True),
            plot.Tick("p50", width=3.2, look=Style("", "#ffffff")),
            plot.Tick("p50", width=1.6, look=INK),
            plot.Points("p1", size=2, marker="o", look=INK),
            plot.Points("p99", size=2, marker="o", look=INK),
            plot.Label("note", "foot", turned=True, dy=3, look=NOTE, where="missing", hover=True),
            plot.Label("count", "foot", dy=3, size=6.5, look=NOTE, only="print"),
        ]
        words = _("Box plot of latencies of single operations in {}, by store.")
        panel = plot.Panel("", table, x, y, layers, legend, words.format(sign(self.unit)), 280)
        return plot.Plot([panel], legend, each=2.4)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        unit, measured = row["unit"], not pd.isna(row["p50"])
        ranges = {"middle": ("p25", "p75"), "most": ("p5", "p95"), "nearly": ("p1", "p99")}
        return {
            "title": f"{row['name']}, {row['group']}",
            **{f"{name}_text": exact("latency", row[name], unit) for name in ("p50", "largest")},
            **{
                name: exact_range("latency", row[low], row[high], unit)
                for name, (low, high) in ranges.items()
            },
            "count": whole(row["operations"]) if measured else "",
            "runs": runs(row["n"]),
            "cells": f"{row['store']}/{self.workload}/{row['parameters']}" if measured else "",
            "note": row["note"],
        }


class Spectrum(DrawnFigure):
    """All percentiles of the latencies; a part of every report."""

    in_template = True
    texts = SPECTRUM_TEXTS
    own_caption = N_("Latency percentiles")

    kind: Literal["spectrum"] = Field(
        description="All percentiles of the latencies, a panel for each workload and operation."
    )
    workloads: list[Name] = Field(default=[], description="Their names; left out: all.")

    def rows(self, run: Run) -> pd.DataFrame:
        """The rows of ``analysis.spectrum``, in the study's order of workloads and stores."""
        names = {"workload": self.workloads or run.study.workload_names}
        names["store"] = run.study.store_names
        rows = run.headline_analysis.spectrum
        rows = rows[rows["workload"].isin(names["workload"]) & rows["store"].isin(names["store"])]
        order = {name: {one: place for place, one in enumerate(of)} for name, of in names.items()}
        return rows.sort_values(
            list(names), key=lambda column: column.map(order[column.name]), kind="stable"
        )

    def nothing(self, table: pd.DataFrame) -> str:
        return _("no histograms of latency") if table.empty else ""

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """A panel for each workload, setting and operation; the band is the range of single runs.

        Over 1/(1 - share), both axes are logarithmic.
        """
        # A latency of 0 µs has no place on a logarithmic axis.
        table = table.assign(
            **table[ENDS].clip(lower=1),
            name=table["store"].map(styles.titles),
            odds=odds(table["percent"]),
            several=table["n"] > 1,
        )
        legend = styles.legend(table, "line")
        settings = table.groupby("workload")["parameters"].nunique()
        groups = [*table.groupby(["workload", "parameters", "operation"], sort=False)]
        # Three columns have no room for 50 % next to 90 %, nor for 99.99 % next to 99.9 %.
        ticks = TICKS[1:4] if len(groups) >= MOST_COLUMNS else TICKS
        farthest = max(float(table["odds"].max()) * 1.05, 2)
        ticks = [float(odds(tick)) for tick in ticks if odds(tick) <= farthest]
        x = plot.axis("odds", _(SHARE), 1, farthest, ticks=ticks, written=percent_words, log=True)
        ends = table[ENDS]
        low, high = ends.min(axis=None), 1.1 * ends.max(axis=None)
        y = plot.axis("value", _("Latency (µs)"), low, high, log=True)
        band = plot.Area("low", "high", where="several")
        layers = [band, plot.Line(), plot.Points(hover=True, seen=False)]
        words, panels = _("Percentiles of the latency of {} in µs, by store."), []
        for (workload, parameters, operation), rows in groups:
            title = f"{styles.study.workload(workload).short}: {sentence(operation)}"
            if settings[workload] > 1:
                title += f", {parameters}"
            panels.append(plot.Panel(title, rows, x, y, layers, legend, words.format(title), 250))
        note = _("The band is the range of the single runs.") if table["several"].any() else ""
        return plot.Plot(panels, legend, note, columns=MOST_COLUMNS, first=0.4, each=1.7)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        return {
            "title": _("{}, {}: {} % are not slower than").format(
                row["name"], sentence(row["operation"]), _shown(row["percent"])
            ),
            **value_texts(row, "latency", "us"),
            "beyond_text": whole(row["beyond"]),
            "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
        }


def _short(count: float) -> str:
    """A number of operations with few characters: 12 k, 3.4 M."""
    for factor, letter in ((1e6, "M"), (1e3, "k")):
        if count >= factor:
            return f"{significant(count / factor, 2)}\N{NARROW NO-BREAK SPACE}{letter}"
    return f"{count:.0f}"


def odds(percent):
    """Return the position of a percentage: 1/(1 - p)."""
    return 100 / (100 - percent)


def _shown(percent: float) -> str:
    """With two digits of what is left to 100: 99.988 for 99.98763."""
    left = 100 - percent
    digits = max(0, 1 - math.floor(math.log10(left))) if left > 0 else 0
    return decimal(f"{round(percent, digits):.10g}")


def percent_words(place: float) -> str:
    return decimal(f"{round(100 - 100 / place, 6):g} %")
