"""The runs of a workload second by second: throughput, and the cores that were busy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.files import CELL, grouped
from kvstudy.analyse.tidy.numbers import between, significant
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.libraries import alt, lines, np, patches, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.study.base import Name
from kvstudy.study.cells import cell_path

if TYPE_CHECKING:
    from kvstudy.analyse.tidy.results import Results

# Shorter runs have no course to speak of.
FEWEST_SECONDS = 3
# More intervals than that are narrower than a line.
MOST_INTERVALS = 240
MOST_COLUMNS = 4
GROUP = ["store", "parameters"]
# What used the cores: its name, and its colour and line in charts.
SIDES = {
    "client": (N_("client"), "#0072b2", "-"),
    "server": (N_("server"), "#d55e00", "--"),
    "rest": (N_("rest of the machine"), "#808080", ":"),
}
COLUMNS = [
    *["store", "parameters", "repetition", "strip", "start", "end", "low", "high", "unit"],
    *["warm_up", "verdict", "note"],
]
# In print, of a side: its area, what lies between the ends of an interval, and its line.
SERVER = "0.78"
SPREADS = {
    "client": {"color": draw.DARK, "alpha": 0.5},
    "server": {"color": "0.6"},
    "rest": {"color": "0.5", "alpha": 0.3},
}
LINES = {"client": {"color": draw.DARK}, "rest": {"color": "0.4", "linestyle": ":"}}
TEXTS = {"exact": N_("Value"), "seconds": N_("Seconds"), "cells": N_("Cell")}
NOTE = N_("The grey part is the warm-up of the first run.")


class TimeStrips(DrawnFigure):
    """Throughput and busy cores over a workload's run time; a part of every report."""

    texts = TEXTS
    fields = ("store", "repetition", "start", "end", "low", "high")
    own_caption = N_("Runs second by second, {}")

    kind: Literal["time"] = Field(description="Throughput and busy cores over the run time.")
    workload: Name = Field(description="The workload.")

    def rows(self, run: draw.Run) -> pd.DataFrame:
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

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """A column per store, throughput above the cores."""
        titles = _titles(table, looks, "\n")
        columns = min(len(titles), MOST_COLUMNS)
        blocks = math.ceil(len(titles) / columns)
        two_lines = any("\n" in title for title in titles.values())
        height = 0.45 + (2.5 if two_lines else 2.35) * blocks
        form = {"figsize": (draw.TEXT_WIDTH, height), "squeeze": False, "layout": "constrained"}
        ratios = {"height_ratios": [1.35, 1] * blocks}
        figure, axes = plt.subplots(2 * blocks, columns, gridspec_kw=ratios, **form)
        sns.despine(figure)
        kilo = table.loc[table["unit"] == "ops/s", "high"].max() >= 1000
        cores = table.loc[table["unit"] == "cores", "high"].max()
        places = list(zip(axes[::2].flat, axes[1::2].flat, strict=True))
        for ax in np.ravel(places[len(titles) :]):
            ax.set_axis_off()
        for number, (key, rows) in enumerate(table.groupby(GROUP, sort=False)):
            upper, lower = places[number]
            title = draw.in_lines(titles[key], columns)
            upper.set_title(f"{title}\n{verdict_words(rows)}", loc="left", pad=4)
            if note := rows["note"].iloc[0]:
                # Words instead of axes that would be empty.
                draw.empty_panel(upper, note)
                upper.set(xticks=[], yticks=[])
                upper.spines[:].set_visible(False)
                lower.set_axis_off()
                continue
            speeds, used = rows[rows["unit"] == "ops/s"], rows[rows["unit"] == "cores"]
            _throughput(upper, speeds, looks.stores[key[0]].color, 1000 if kilo else 1)
            _busy(lower, used, cores)
            upper.sharex(lower)
            upper.tick_params(labelbottom=False)
            if number % columns == 0:
                upper.set_ylabel(_("Throughput") + f"\n({'kops/s' if kilo else 'ops/s'})")
                lower.set_ylabel(_("Busy\ncores"))
            lower.set_xlabel(_("Time (s)"))
        draw.legend(figure, _legend(table), columnspacing=1.6)
        return figure

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """Return the chart's panels: throughput and cores of each group of runs."""
        titles, panels = _titles(table, looks, ", "), []
        words = _("Line chart. {}: {} over the time of the run.")
        for key, mine in table.groupby(GROUP, sort=False):
            title, verdict = titles[key], verdict_words(mine)
            for unit, what in (("ops/s", _("throughput in ops/s")), ("cores", _("busy cores"))):
                rows = mine[mine["unit"] == unit].assign(title=title)
                head = f"{title}: {verdict}" if verdict else title
                panels.append(Panel(head, rows, words.format(title, what), 150))
        return panels

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        return [
            Style(_(name), color, line=line)
            for side, (name, color, line) in SIDES.items()
            if side in set(table["strip"])
        ]

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        notes = [_(NOTE)] if (table["warm_up"] > 0).any() else []
        titles = _titles(table, looks, ", ")
        for key, mine in table.groupby(GROUP, sort=False):
            if note := mine["note"].iloc[0]:
                notes.append(f"{titles[key]}: {note}.")
            elif "cores" not in set(mine["unit"]):
                notes.append(_("{}: busy cores were not recorded.").format(titles[key]))
        return " ".join(notes)

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        title = _("{}, repetition {}").format(row["title"], row["repetition"])
        if row["strip"] == "throughput":
            name = row["title"]
            ends = [chart.exact("throughput", row[end], "ops/s") for end in ("low", "high")]
        else:
            side, _color, _line = SIDES[row["strip"]]
            name = _(side)
            title = f"{title}, {name}"
            ends = [_("{} cores").format(significant(row[end])) for end in ("low", "high")]
        cell = row | {"workload": self.workload}
        return {
            "name": name,
            "title": title,
            "exact": between(*ends) if row["low"] < row["high"] else ends[0],
            "seconds": between(*(decimal(f"{row[end]:g}") for end in ("start", "end"))),
            "cells": cell_path(*(cell[part] for part in CELL)),
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        """Lines of steps, and an area where a step has several values."""
        x = chart.linear(_("Time (s)"), 0, rows["end"].max(), grid=False)
        first, step, behind = rows.iloc[0], {"interpolate": "step", "aria": False}, []
        if first["unit"] == "cores":
            top = table.loc[table["unit"] == "cores", "high"].max()
            y = chart.linear(_("busy cores"), 0, 1.08 * top or 1, tickCount=4)
            legend = self.legend(table, looks)
            apart = chart.by_legend(legend, "color")
            of_line, opacity, width = chart.by_legend(legend, "color", "strokeDash"), 0.3, 1.3
        else:
            top = rows["high"].max()
            y = chart.linear("ops/s", 0, 1.08 * top or 1, tickCount=4, format="~s")
            step["color"] = looks.stores[first["store"]].color
            apart = of_line = {"detail": alt.Detail("repetition:N")}
            opacity, width = 0.4, 1.2
            behind = [chart.band(0, first["warm_up"], {})] if first["warm_up"] > 0 else []
        base = alt.Chart().transform_calculate(middle="(datum.start + datum.end) / 2")
        base = base.encode(x=alt.X("middle:Q", **x), y=alt.Y("high:Q", **y))
        points = base.mark_point(filled=True, opacity=0, size=70, aria=False)
        return [
            *behind,
            base.transform_filter("datum.low < datum.high")
            .mark_area(opacity=opacity, **step)
            .encode(y=alt.Y("low:Q", **y), y2="high:Q", **apart),
            base.mark_line(strokeWidth=width, **step).encode(**of_line),
            points.encode(**chart.texts(self.texts)),
        ]


def _titles(table: pd.DataFrame, looks: StyleSheet, comma: str) -> dict[tuple[str, str], str]:
    """Return the title of each group of runs: its store, and its sizes if there are several."""
    several = table.loc[table["parameters"] != "", "parameters"].nunique() > 1
    return {
        (store, parameters): looks.titles[store] + (comma + parameters if several else "")
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


def _throughput(ax: plt.Axes, rows: pd.DataFrame, color: str, unit: float) -> None:
    warm_up = rows["warm_up"].iloc[0]
    if warm_up > 0:
        ax.axvspan(0, warm_up, color="0.88", linewidth=0, gid="warm-up")
    for _repetition, run in rows.groupby("repetition", sort=False):
        x, low, high = _steps(run)
        if not (low < high).any():
            ax.plot(x, low / unit, color=color, linewidth=0.8)
        else:
            ax.fill_between(x, low / unit, high / unit, color=color, alpha=0.5, linewidth=0.4)
    ax.set_xlim(0, rows["end"].max())
    ax.set_ylim(0, 1.08 * rows["high"].max() / unit or 1)
    ax.yaxis.set_major_locator(ticker.MaxNLocator(nbins=4))


def _busy(ax: plt.Axes, rows: pd.DataFrame, highest: float) -> None:
    if rows.empty:
        draw.empty_panel(ax, _("not recorded"))
        ax.set_yticks([])
        return
    for side, run in rows.groupby("strip", sort=False):
        x, low, high = _steps(run)
        if side == "server":
            ax.fill_between(x, 0, high, color=SERVER, linewidth=0)
        if (low < high).any():
            ax.fill_between(x, low, high, linewidth=0, **SPREADS[side])
        if side in LINES:
            ax.plot(x, high, linewidth=0.8, **LINES[side])
    ax.set_ylim(0, 1.08 * highest or 1)
    ax.yaxis.set_major_locator(ticker.MaxNLocator(nbins=3))


def _steps(run: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Corners of a line that keeps its value over each interval, with its lower and upper side."""
    run = run.sort_values("start")
    corners = run[["start", "end"]].to_numpy(float).ravel()
    return corners, *(np.repeat(run[name].to_numpy(float), 2) for name in ("low", "high"))


def _legend(table: pd.DataFrame) -> list[lines.Line2D | patches.Patch]:
    handles: list[lines.Line2D | patches.Patch] = []
    if (table["warm_up"] > 0).any():
        handles.append(patches.Patch(color="0.88", label=_("warm-up")))
    for side, (name, _color, _line) in SIDES.items():
        form = {"label": _(name)}
        if side in set(table["strip"]) and side in LINES:
            handles.append(lines.Line2D([], [], linewidth=0.8, **LINES[side], **form))
        elif side in set(table["strip"]):
            handles.append(patches.Patch(color=SERVER, **form))
    return handles
