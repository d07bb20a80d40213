"""The runs of a workload second by second: throughput, and the cores that were busy."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.files import CELL, grouped
from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.texts import exact
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.layout import plot
from kvstudy.layout.looks import BEHIND, DASHED, DOTTED, SOLID, Style, StyleSheet
from kvstudy.layout.numbers import between, significant
from kvstudy.libraries import np, pd
from kvstudy.study.base import Name
from kvstudy.study.cells import cell_path

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.results import Results

# Shorter runs have no course to speak of.
FEWEST_SECONDS = 3
# More intervals than that are narrower than a line.
MOST_INTERVALS = 240
MOST_COLUMNS = 4
GROUP = ["store", "parameters"]
# What used the cores: its name, and its colour and line.
SIDES = {
    "client": (N_("client"), "#0072b2", SOLID),
    "server": (N_("server"), "#d55e00", DASHED),
    "rest": (N_("rest of the machine"), "#808080", DOTTED),
}
COLUMNS = [
    *["store", "parameters", "repetition", "strip", "start", "end", "low", "high", "unit"],
    *["warm_up", "verdict", "note"],
]
TEXTS = {"exact": N_("Value"), "seconds": N_("Seconds"), "cells": N_("Cell")}
NOTE = N_("The grey part is the warm-up of the first run.")


class TimeStrips(DrawnFigure):
    """Throughput and busy cores over a workload's run time; a part of every report."""

    in_template = True
    texts = TEXTS
    own_caption = N_("Runs second by second, {}")

    kind: Literal["time"] = Field(description="Throughput and busy cores over the run time.")
    workload: Name = Field(description="The workload.")

    def rows(self, run: Run) -> pd.DataFrame:
        """Return the drawn values, one interval of a line per row.

        ``strip`` is throughput (ops/s, of each repetition), or client,
        server and rest (of the machine; cores, of the first repetition). From ``start`` to
        ``end`` (s) the value lies between ``low`` and ``high``, which are equal unless
        several seconds share an interval. ``warm_up`` is where the warm-up of the run ends
        (s), ``verdict`` its steadiness. A store without a line has one row, whose ``note``
        says why.
        """
        runs = run.headline_analysis.steadiness.query(
            "workload == @self.workload and seconds >= @FEWEST_SECONDS"
        )
        runs = runs.sort_values("repetition", key=lambda names: names.astype(int))
        series, used = (
            rows[rows["workload"] == self.workload]
            for rows in (run.headline_series, run.headline_resources)
        )
        seconds = dict(grouped(series, CELL, "second", ["second", "throughput"]))
        rows = []
        for store in run.study.store_names:
            long = runs[runs["store"] == store]
            if long.empty:
                rows.append({"store": store, "note": _reason(run.results, store, self.workload)})
            with_cores = long.drop_duplicates("parameters").index
            for one in long.itertuples():
                key = (store, self.workload, one.parameters, one.repetition)
                strips = {"throughput": _speeds(seconds[key])}
                if one.Index in with_cores:
                    strips |= _cores(used[(used[CELL] == list(key)).all(axis=1)])
                of_run = dict(zip(CELL, key, strict=True)) | {"warm_up": one.cut}
                of_run |= {"verdict": one.verdict, "note": ""}
                for strip, intervals in strips.items():
                    of_run |= {"strip": strip, "unit": "cores" if strip in SIDES else "ops/s"}
                    rows += [of_run | interval for interval in _envelope(intervals)]
        return pd.DataFrame(rows, columns=COLUMNS)

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """Throughput and cores of each group of runs, one above the other in print."""
        titles, panels, notes = _titles(table, styles), [], []
        middle, spread = (table["start"] + table["end"]) / 2, table["low"] < table["high"]
        table = table.assign(
            title=[titles[key].replace("\n", ", ") for key in table[GROUP].itertuples(index=False)],
            middle=middle,
            spread=spread,
            line=table["strip"] + table["repetition"],
        )
        legend = [
            Style(_(name), color, line=line)
            for side, (name, color, line) in SIDES.items()
            if side in set(table["strip"])
        ]
        names = {side: _(name) for side, (name, *_form) in SIDES.items()}
        kilo = table.loc[table["unit"] == "ops/s", "high"].max() >= 1000
        cores = table.loc[table["unit"] == "cores", "high"].max()
        steps = ("start", "end")
        layers = [
            plot.Area("low", "high", 0.35, steps, where="spread"),
            plot.Line("high", width=0.9, steps=steps),
            plot.Points("high", hover=True, seen=False),
        ]
        words = _("Line chart. {}: {} over the time of the run.")
        for key, mine in table.groupby(GROUP, sort=False):
            title, verdict, note = titles[key], verdict_words(mine), mine["note"].iloc[0]
            head = f"{title}\n{verdict}" if verdict else title
            speeds, used = (mine[mine["unit"] == unit] for unit in ("ops/s", "cores"))
            speeds = speeds.assign(name=speeds["title"])
            used = used.assign(name=used["strip"].map(names))
            last = mine["end"].max()
            x = plot.axis("middle", _("Time (s)"), 0, last if last > 0 else 1, grid=False)
            warm_up = [plot.Band(0, mine["warm_up"].iloc[0])] if mine["warm_up"].iloc[0] > 0 else []
            one = [Style(titles[key].replace("\n", ", "), styles.stores[key[0]].color, line=SOLID)]
            said = [words.format(title, of) for of in (_("throughput in ops/s"), _("busy cores"))]
            y = _upwards(_("Throughput") + "\n", speeds["high"].max(), 4, kilo)
            form = {"height": 150, "empty": note}
            panels.append(plot.Panel(head, speeds, x, y, [*warm_up, *layers], one, said[0], **form))
            form["empty"] = "" if note else _("not recorded")
            y = _upwards(_("Busy\ncores"), cores, 3)
            panels.append(plot.Panel(head, used, x, y, layers, legend, said[1], **form))
            if note:
                notes.append(f"{one[0].title}: {note}.")
            elif used.empty:
                notes.append(_("{}: busy cores were not recorded.").format(one[0].title))
        keys = []
        if (table["warm_up"] > 0).any():
            notes.insert(0, _(NOTE))
            keys = [replace(BEHIND, title=_("warm-up"), hatch="")]
        form = {"columns": MOST_COLUMNS, "first": 0.45, "each": 2.4, "stack": (1.35, 1)}
        return plot.Plot(panels, legend, " ".join(notes), keys, **form)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        title = _("{}, repetition {}").format(row["title"], row["repetition"])
        if row["strip"] == "throughput":
            ends = [exact("throughput", row[end], "ops/s") for end in ("low", "high")]
        else:
            title = f"{title}, {row['name']}"
            ends = [_("{} cores").format(significant(row[end])) for end in ("low", "high")]
        cell = row | {"workload": self.workload}
        return {
            "title": title,
            "exact": between(*ends) if row["low"] < row["high"] else ends[0],
            "seconds": between(*(decimal(f"{row[end]:g}") for end in ("start", "end"))),
            "cells": cell_path(*(cell[part] for part in CELL)),
        }


def _upwards(title: str, highest: float, most: int, kilo: bool | None = None) -> plot.Axis:
    """Return the axis of throughput, in thousands if ``kilo``, or of cores if that is None."""
    high = 1.08 * highest if highest > 0 else 1
    if kilo is None:
        return plot.axis("high", title, 0, high, most=most)
    title += "(kops/s)" if kilo else "(ops/s)"
    written = plot.thousandths if kilo else plot.number
    return plot.axis("high", title, 0, high, most=most, written=written)


def _titles(table: pd.DataFrame, looks: StyleSheet) -> dict[tuple[str, str], str]:
    """Return the title of each group of runs: its store, and its sizes if there are several."""
    several = table.loc[table["parameters"] != "", "parameters"].nunique() > 1
    return {
        (store, parameters): looks.titles[store] + (f"\n{parameters}" if several else "")
        for store, parameters in table[GROUP].drop_duplicates().itertuples(index=False)
    }


def _reason(results: Results, store: str, workload: str) -> str:
    label = results.state(store, workload).label
    runtime = results.measured(store, workload, "overall", "runtime")
    if label or runtime is None:
        return label or "not measured"
    short = runtime.mean < 1000 * (FEWEST_SECONDS + 1)
    return N_("too short to draw") if short else N_("no values per second")


@dataclass
class Intervals:
    """The ``value`` from ``start`` to ``end`` (s) of each interval; NaN where it is not known."""

    start: np.ndarray
    end: np.ndarray
    value: np.ndarray


def _speeds(run: dict[str, np.ndarray]) -> Intervals:
    """Return the throughput of each second, from the known ones."""
    whole = run["second"] >= 1
    seconds = run["second"][whole].astype(int)
    ends = np.arange(1.0, seconds[-1] + 1)
    values = np.full(ends.size, np.nan)
    values[seconds - 1] = run["throughput"][whole]
    return Intervals(ends - 1, ends, values)


def _cores(run: pd.DataFrame) -> dict[str, Intervals]:
    """Busy cores of client, server and what else ran on the machine, from second 0 on."""
    run = run[run["second"] > 0]
    if run.empty:
        return {}
    busy = run["cores_user"] + run["cores_system"]
    cores = run.assign(cores=run["cores_busy"].where(run["side"] == "machine", busy))
    used = cores.pivot(index="second", columns="side", values="cores")
    sides = used.columns.drop("machine", errors="ignore")
    if len(sides) and "machine" in used:
        # A server that cannot be seen is a part of the rest. What a side used before it
        # ended was not read any more, so then nothing is known of the rest either.
        used["rest"] = (used["machine"] - used[sides].sum(axis=1, skipna=False)).clip(lower=0)
    starts = (used.index - run.groupby("second")["seconds"].first()).clip(lower=0)
    frames = {
        side: pd.DataFrame({"start": starts, "end": used.index, "value": used[side]}).dropna()
        for side in SIDES
        if side in used
    }
    return {side: Intervals(*frame.to_numpy(float).T) for side, frame in frames.items()}


def _envelope(intervals: Intervals) -> list[dict[str, float]]:
    """At most ``MOST_INTERVALS``: neighbours become one, with their smallest and largest value."""
    size = len(intervals.start)
    firsts = np.arange(0, size, math.ceil(size / MOST_INTERVALS) or 1)
    if not size:
        return []
    columns = {
        "start": intervals.start[firsts],
        "end": intervals.end[[*firsts[1:] - 1, -1]],
        "low": np.fmin.reduceat(intervals.value, firsts),
        "high": np.fmax.reduceat(intervals.value, firsts),
    }
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def verdict_words(rows: pd.DataFrame) -> str:
    """Return the number of steady runs in words; empty if none was judged."""
    from kvstudy.stats.over_time import Steadiness

    verdicts = rows[rows["verdict"] != ""].groupby("repetition")["verdict"].first()
    if verdicts.empty:
        return ""
    if (verdicts == Steadiness.TOO_SHORT).all():
        return _("too short to judge")
    runs = ngettext("steady: {} of {} run", "steady: {} of {} runs", len(verdicts))
    return runs.format((verdicts == Steadiness.STEADY).sum(), len(verdicts))
