"""Throughput against the 99th percentile of latency: a panel for each workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.table import throughput_of
from kvstudy.exhibits.texts import (
    exact,
    exact_range,
    mark_entries,
    mark_notes,
    mark_texts,
    runs,
)
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import reason, sentence
from kvstudy.layout import plot
from kvstudy.layout.looks import StyleSheet
from kvstudy.libraries import pd
from kvstudy.stats.percentiles import ENOUGH_BEYOND
from kvstudy.study.base import Name, Operation
from kvstudy.study.workload import main_operation, properties_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

NUMBERS = ["throughput", "throughput_low", "throughput_high"]
NUMBERS += ["latency", "latency_low", "latency_high", "n"]
COLUMNS = ["workload", "parameters", "store", "operation", *NUMBERS, "note", "other_size"]
PERCENT = 99.0
# Values further apart than that need a logarithmic scale.
WIDE = 10
TEXTS = {"throughput_text": N_("Throughput"), "throughput_range": N_("95 % interval")}
TEXTS |= {"latency_text": N_("99th percentile"), "latency_range": N_("Range of the single runs")}
TEXTS |= {"runs": N_("Of")}


class Tradeoff(DrawnFigure):
    """Throughput against the 99th percentile of latency: a panel for each workload."""

    in_template = True
    texts = TEXTS

    kind: Literal["tradeoff"] = Field(
        description="Throughput, with its 95 % interval, against the 99th percentile of an "
        "operation's latency, with the range of the runs: a panel for each workload, a mark for "
        "each store."
    )
    workloads: list[Name] = Field(default=[], description="Their names; left out: all.")
    operation: Operation | None = Field(
        default=None,
        description="The operation of the latency; default: the most frequent one of each "
        "workload.",
    )

    @property
    def in_overview(self) -> bool:
        """Always: it has all stores, and mostly several workloads."""
        return True

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload and store: throughput (ops/s) and latency (us); NaN where unknown.

        Throughput is the geometric mean over ``n`` runs, the percentile that of all runs
        together. ``note`` says why a value is missing, ``other_size`` (yes, no) whether the store
        has its own number of records or operations.
        """
        study, analysis = run.study, run.headline_analysis
        speeds = analysis.intervals.query("operation == 'overall' and metric == 'throughput'")
        delays = analysis.percentiles.query("percent == @PERCENT")
        both = _named(speeds.drop(columns="operation"), "throughput").merge(
            _named(delays, "latency"),
            on=["workload", "parameters", "store"],
            suffixes=("", "_of_percentile"),
        )
        rows = []
        for workload in self.workloads or study.workload_names:
            use = study.workload(workload)
            operation = self.operation or main_operation(properties_of(study, use))
            for store in study.store_names:
                key = {"workload": workload, "store": store, "operation": operation}
                mine = both[(both[list(key)] == list(key.values())).all(axis=1)]
                if len(mine) and (mine["beyond"] >= ENOUGH_BEYOND).all():
                    other_sizes = "yes" if (store, workload) in run.other_sizes else "no"
                    rows += mine.assign(note="", other_size=other_sizes).to_dict("records")
                else:
                    why = reason("few-timed" if len(mine) else "not-timed", operation=operation)
                    note = run.results.state(store, workload).label or why
                    rows.append(key | {"parameters": "", "note": note})
        return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, float))

    def nothing(self, table: pd.DataFrame) -> str:
        return _("nothing was measured") if _measured(table).empty else ""

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """A panel for each workload; one scale for all, so that workloads compare."""
        rows = _measured(table)
        rows = rows.assign(
            name=rows["store"].map(styles.titles),
            mark=mark_texts(rows),
            made_of=[
                throughput_of(row.store, [(row.workload, row.parameters)]).text
                for row in rows.itertuples()
            ],
        )
        legend = styles.legend(rows, "marker")
        sides = [_axis(rows, name) for name in ("throughput", "latency")]
        layers = [
            plot.Whisker("throughput_low", "throughput_high", "x", 0.8),
            plot.Whisker("latency_low", "latency_high", "y", 0.8),
            plot.Points(size=5, hover=True),
            plot.Label("mark", dx=4, dy=2, size=7, align="left"),
        ]
        words = _("Points: throughput in ops/s and 99th percentile of latency in µs, by store.")
        panels = []
        for workload, of_workload in rows.groupby("workload", sort=False):
            operation = sentence(of_workload["operation"].iloc[0])
            title = f"{styles.study.workload(workload).title}: {operation}"
            panels.append(plot.Panel(title, of_workload, *sides, layers, legend, words))
        missing = "; ".join(
            f"{styles.titles[row.store]}, {styles.study.workload(row.workload).short}: {row.note}"
            for row in table[table["latency"].isna()].itertuples()
        )
        note = " ".join(filter(None, [missing, *mark_notes(table)]))
        return plot.Plot(panels, legend, note, mark_entries(table), 4, 4, first=0.55, each=1.6)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        use = styles.study.workload(row["workload"])
        shown = {"title": f"{row['name']}, {use.title}", "runs": runs(row["n"])}
        for name, unit in (("throughput", "ops/s"), ("latency", "us")):
            ends = (row[f"{name}_low"], row[f"{name}_high"])
            shown[f"{name}_text"] = exact(name, row[name], unit)
            shown[f"{name}_range"] = exact_range(name, *ends, unit)
        return shown if row["n"] > 1 else shown | {"latency_range": ""}


def _named(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """``frame`` with the value and the ends of its interval called by ``name``."""
    return frame.rename(columns={"value": name, "low": f"{name}_low", "high": f"{name}_high"})


def _measured(table: pd.DataFrame) -> pd.DataFrame:
    return table.dropna(subset=["throughput", "latency"])


def _side_title(name: str) -> str:
    if name == "throughput":
        return _("Throughput") + " (ops/s)"
    return _("99th percentile of latency") + " (µs)"


def _axis(rows: pd.DataFrame, name: str) -> plot.Axis:
    """The axis of a value with its interval; logarithmic where values are far apart."""
    ends = rows[[name, f"{name}_low", f"{name}_high"]].clip(lower=1)
    low, high = float(ends.min(axis=None)), float(ends.max(axis=None))
    if high > WIDE * low:
        low, high = low / 1.2, high * 1.2
        # Between 1 000 and 30 000 there is no room for 3 000 and 10 000 side by side.
        ticks = plot.log_ticks(low, high, 2)
        return plot.axis(name, _side_title(name), low, high, ticks=ticks, log=True)
    return plot.axis(name, _side_title(name), 0, high * 1.05, most=3)
