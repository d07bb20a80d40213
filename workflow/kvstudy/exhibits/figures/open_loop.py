"""Service and intended latencies over the load: what does a fixed rate of requests see?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.texts import value_texts
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.layout import plot
from kvstudy.layout.looks import DARK, DASHED, SOLID, Style, StyleSheet
from kvstudy.libraries import pd
from kvstudy.study.base import ALL, INTENDED_TIME, SERVICE_TIME, Name

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

# Percentage, its marker: the marker tells them apart in grey print too.
MARKERS = {50.0: "o", 99.0: "s", 99.9: "^"}
TIMES = {SERVICE_TIME: N_("service time"), INTENDED_TIME: N_("intended time")}
COLUMNS = [
    *["store", "parameters", "load", "time", "percent", "value", "low", "high"],
    *["n", "beyond", "reached"],
]
TEXTS = {"exact": N_("Latency"), "range": N_("Range"), "runs": N_("Runs")}
TEXTS |= {"reached_text": N_("Rate reached in"), "cells": N_("Cells")}
STYLES = {SERVICE_TIME: DASHED, INTENDED_TIME: SOLID}


class OpenLoopFigure(DrawnFigure):
    """Service and intended latencies of a workload over the load."""

    in_template = True
    cells = "open loop"
    by_itself = True
    texts = TEXTS
    own_caption = N_("Service time and intended time by load, {}")

    kind: Literal["open-loop"] = "open-loop"
    workload: Name

    def rows(self, run: Run) -> pd.DataFrame:
        """Latencies (us) of all operations, where enough of them lie beyond."""
        from kvstudy.analyse.findings.open_loop import of_workload
        from kvstudy.stats.percentiles import ENOUGH_BEYOND

        analysis = run.headline_analysis
        table = of_workload(analysis.open_rates, analysis.open_percentiles, self.workload)
        chosen = table[
            (table["operation"] == ALL)
            & table["percent"].isin(list(MARKERS))
            & (table["beyond"] >= ENOUGH_BEYOND)
            & table["store"].isin(run.study.store_names)
        ]
        return chosen[COLUMNS].reset_index(drop=True)

    def nothing(self, table: pd.DataFrame) -> str:
        return _("not measured") if table.empty else ""

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """A panel per store: percentiles over the load, dashed service and solid intended time.

        A load whose rate was not reached is crossed.
        """
        loads = sorted(table["load"].unique())
        # A single load is in the middle.
        room = max(0.2 * (loads[-1] - loads[0]), 5)
        title = _("Load: rate relative to the closed-loop throughput")
        ends = loads[0] - room, loads[-1] + room
        x = plot.axis("load", title, *ends, ticks=loads, written=_percent, grid=False)
        low, high = table["value"].min() / 1.3, table["value"].max() * 1.3
        form = {"log": True, "written": plot.thousandths}
        y = plot.axis("value", _("Latency (ms)"), low, high, **form)
        missed = Style(_("rate not reached"), DARK, marker="x")
        name = table["time"] + table["percent"].map(" {:g}".format)
        table = table.assign(
            name=name, line=table["parameters"] + " " + name, missed=table["reached"] < table["n"]
        )
        crosses = plot.Points(look=missed, where="missed", size=7)
        layers = [plot.Line(width=1), plot.Points(hover=True), crosses]
        words, panels = _("Percentiles of latency of {} in ms over the load."), []
        for store, look in styles.stores.items():
            looks = [
                Style(f"{time} {percent:g}", look.color, None, marker, line, hollow=line != SOLID)
                for time, line in STYLES.items()
                for percent, marker in MARKERS.items()
            ]
            rows, said = table[table["store"] == store], words.format(look.title)
            form = (look.title, rows, x, y, layers, looks, said)
            panels.append(plot.Panel(*form, empty=_("not measured")))
        legend = [Style(_percent(p), DARK, marker=marker) for p, marker in MARKERS.items()]
        legend += [Style(_(TIMES[kind]), DARK, line=line) for kind, line in STYLES.items()]
        legend += [missed] if table["missed"].any() else []
        absent = ", ".join(panel.title for panel in panels if panel.rows.empty)
        note = _("Not measured: {}.").format(absent) if absent else ""
        return plot.Plot(panels, legend, note, across=3, columns=4, first=0.6)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        store, time = styles.titles[row["store"]], TIMES[row["time"]]
        percent, load = _percent(row["percent"]), _percent(row["load"])
        reached = ngettext("{} of {} run", "{} of {} runs", int(row["n"]))
        return {
            "title": _("{}, {}, {}, load {}").format(store, _(time), percent, load),
            **value_texts(row, "latency", "us"),
            "reached_text": reached.format(f"{row['reached']:.0f}", f"{row['n']:.0f}"),
            "cells": f"{row['store']}/{self.workload}/{row['parameters']}",
        }


def _percent(value: float) -> str:
    return decimal(f"{value:g} %")
