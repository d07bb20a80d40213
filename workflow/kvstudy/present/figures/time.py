"""The runs of a workload second by second: throughput, and the cores that were busy."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.files import CELL
from kvstudy.analyse.tidy.numbers import between, significant
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, lines, np, patches, pd, plt, sns, ticker
from kvstudy.present.drawing import draw
from kvstudy.present.drawing.chart import Chart, Panel, by_legend, exact, line_entry, plain, texts
from kvstudy.present.drawing.draw import DARK, TEXT_WIDTH, DrawnFigure, Looks
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
SIDES = ["client", "server", "rest"]
COLUMNS = [
    *["store", "parameters", "repetition", "strip", "start", "end", "low", "high", "unit"],
    *["warm_up", "verdict", "note"],
]
LABELS = {"client": N_("client"), "server": N_("server"), "rest": N_("rest of the machine")}
LOOKS = {"client": ("#0072b2", "-"), "server": ("#d55e00", "--"), "rest": ("#808080", ":")}
# In print, of a side: its area, what lies between the ends of an interval, and its line.
SERVER = "0.78"
SPREADS = {
    "client": {"color": DARK, "alpha": 0.5},
    "server": {"color": "0.6"},
    "rest": {"color": "0.5", "alpha": 0.3},
}
LINES = {"client": {"color": DARK}, "rest": {"color": "0.4", "linestyle": ":"}}
TEXTS = {"exact": N_("Value"), "seconds": N_("Seconds"), "cells": N_("Cell")}
NOTE = N_("The grey part is the warm-up of the first run.")


class TimeStrips(DrawnFigure):
    """Throughput and busy cores over a workload's run time; a part of every report."""

    own_caption = N_("The runs second by second, {}")

    kind: Literal["time"] = Field(description="Throughput and busy cores over the run time.")
    workload: Name = Field(description="The workload.")

    def rows(self, run: Run) -> pd.DataFrame:
        """What is drawn, one interval of a line a row.

        ``strip`` is throughput (ops/s, of each repetition), or client,
        server and rest (of the machine; cores, of the first repetition). From ``start`` to
        ``end`` (s) the value lies between ``low`` and ``high``, which are equal unless
        several seconds share an interval. ``warm_up`` is where the warm-up of the run ends
        (s), ``verdict`` its steadiness. A store without a line has one row, whose ``note``
        says why.
        """
        rows = []
        runs = run.headline_analysis.steadiness.query(
            "workload == @self.workload and seconds >= @FEWEST_SECONDS"
        )
        runs = runs.sort_values("repetition", key=lambda names: names.astype(int))
        for store in run.study.store_names:
            long = runs[runs["store"] == store]
            if long.empty:
                note = _reason(run.results, store, self.workload)
                rows.append(dict.fromkeys(COLUMNS, None) | {"store": store, "note": note})
            drawn: set[str] = set()
            for one in long.itertuples():
                key = (store, self.workload, one.parameters, one.repetition)
                of_run = dict(zip(CELL, key, strict=True)) | {"warm_up": one.cut}
                of_run |= {"verdict": one.verdict, "note": ""}
                strips = {"throughput": _per_second(_of(run.headline_series, key))}
                if one.parameters not in drawn:
                    drawn.add(one.parameters)
                    strips |= _cores(_of(run.headline_resources, key))
                for strip, intervals in strips.items():
                    unit = "ops/s" if strip == "throughput" else "cores"
                    rows += [
                        of_run | {"strip": strip, "unit": unit} | interval
                        for interval in _envelope(intervals)
                    ]
        return pd.DataFrame(rows, columns=COLUMNS)

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """A column per store, throughput above the cores."""
        table = table.assign(parameters=table["parameters"].fillna(""))
        groups = list(table.groupby(["store", "parameters"], sort=False))
        several = _several(table)
        columns = min(len(groups), MOST_COLUMNS)
        blocks = math.ceil(len(groups) / columns)
        height = 0.45 + (2.5 if several else 2.35) * blocks
        form = {"figsize": (TEXT_WIDTH, height), "squeeze": False, "layout": "constrained"}
        ratios = {"height_ratios": [1.35, 1] * blocks}
        figure, axes = plt.subplots(2 * blocks, columns, gridspec_kw=ratios, **form)
        sns.despine(figure)
        kilo = table.loc[table["strip"] == "throughput", "high"].max() >= 1000
        cores = table.loc[table["strip"].isin(SIDES), "high"].max()
        places = list(zip(axes[::2].flat, axes[1::2].flat, strict=True))
        for ax in np.ravel(places[len(groups) :]):
            ax.set_axis_off()
        for number, ((store, parameters), rows) in enumerate(groups):
            upper, lower = places[number]
            title = looks.stores[store].title + (f"\n{parameters}" if several else "")
            verdict = verdict_words(rows)
            upper.set_title(f"{title}\n{verdict}" if verdict else f"{title}\n", loc="left", pad=4)
            if (rows["note"] != "").any():
                _write_note(upper, lower, rows["note"].iloc[0])
                continue
            _throughput(upper, rows, looks.stores[store].color, 1000 if kilo else 1)
            _busy(lower, rows, cores)
            upper.sharex(lower)
            upper.tick_params(labelbottom=False)
            if number % columns == 0:
                upper.set_ylabel(_("Throughput") + f"\n({'kops/s' if kilo else 'ops/s'})")
                lower.set_ylabel(_("Busy\ncores"))
            lower.set_xlabel(_("Time (s)"))
        form = {"loc": "outside upper center", "ncols": 5, "columnspacing": 1.6}
        figure.legend(handles=_legend(table), **form)
        return figure

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        """For each store its throughput and its cores.

        An interval of the table is a step; lines of long runs have at most
        ``MOST_INTERVALS``, as the table says.
        """
        rows, panels, notes = [], [], []
        cores = table.loc[table["strip"].isin(SIDES), "high"].max()
        several, there = _several(table), set(table["strip"])
        legend = [line_entry(_(LABELS[side]), *LOOKS[side]) for side in SIDES if side in there]
        for (store, parameters), mine in table.groupby(["store", "parameters"], sort=False):
            look = looks.stores[store]
            title = look.title + (f", {parameters}" if several and parameters else "")
            if (mine["note"] != "").any():
                notes.append(f"{title}: {mine['note'].iloc[0]}.")
                continue
            verdict = verdict_words(mine.replace({"verdict": {"": None}}))
            speed = mine[mine["strip"] == "throughput"]
            busy = mine[mine["strip"].isin(SIDES)]
            head = f"{title}: {verdict}" if verdict else title
            strips = [(speed, _speed_layers(speed, look.color), _("throughput in ops/s"))]
            if busy.empty:
                notes.append(_("{}: busy cores were not recorded.").format(title))
            else:
                strips.append((busy, _core_layers(busy, legend, cores), _("busy cores")))
            for strip, layers, what in strips:
                words = _("Line chart. {}: {} over the time of the run.").format(title, what)
                place = {"workload": self.workload, "panel": len(panels)}
                rows += [_row(row | place, title) for row in strip.to_dict("records")]
                panels.append(Panel(layers, head, words, 150))
        if (pd.to_numeric(table["warm_up"]) > 0).any():
            notes.insert(0, _(NOTE))
        return Chart(rows, panels, legend, 2, " ".join(notes))


def _several(table: pd.DataFrame) -> bool:
    """Whether the runs are of several sizes."""
    return table.loc[table["parameters"] != "", "parameters"].nunique() > 1


def _reason(results: Results, store: str, workload: str) -> str:
    label = results.state(store, workload).label
    runtime = results.measured(store, workload, "overall", "runtime")
    if label or runtime is None:
        return label or "not measured"
    short = runtime.mean < 1000 * (FEWEST_SECONDS + 1)
    return N_("too short to draw") if short else N_("no values per second")


def _of(frame: pd.DataFrame, key: tuple[str, str, str, str]) -> pd.DataFrame:
    return frame[(frame[CELL] == list(key)).all(axis=1)]


def _per_second(run: pd.DataFrame) -> pd.DataFrame:
    """The ``value`` of each interval, from ``start`` to ``end`` (s)."""
    run = run.sort_values("second")
    values = {"end": run["second"], "value": run["throughput"]}
    return pd.DataFrame({"start": run["second"] - 1, **values})


def _cores(run: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Busy cores of client, server and what else ran on the machine, from second 0 on."""
    run = run[run["second"] > 0]
    own = run["cores_user"] + run["cores_system"]
    cores = run.assign(cores=run["cores_busy"].where(run["side"] == "machine", own))
    used = cores.pivot(index="second", columns="side", values="cores")
    sides = used.columns.drop("machine", errors="ignore")
    if len(sides) and "machine" in used:
        # A server that cannot be seen is a part of the rest. What a side used before it
        # ended was not read any more, so then nothing is known of the rest either.
        used["rest"] = (used["machine"] - used[sides].sum(axis=1, skipna=False)).clip(lower=0)
    starts = (used.index - run.groupby("second")["seconds"].first()).clip(lower=0)
    return {
        side: pd.DataFrame({"start": starts, "end": used.index, "value": used[side]}).dropna()
        for side in SIDES
        if side in used
    }


def _envelope(intervals: pd.DataFrame) -> list[dict[str, float]]:
    """At most ``MOST_INTERVALS``: neighbours become one, with their smallest and largest value."""
    step = math.ceil(len(intervals) / MOST_INTERVALS)
    groups = intervals.groupby(np.arange(len(intervals)) // max(step, 1))
    ends = {"start": ("start", "first"), "end": ("end", "last")}
    return groups.agg(**ends, low=("value", "min"), high=("value", "max")).to_dict("records")


def _write_note(upper: plt.Axes, lower: plt.Axes, note: str) -> None:
    """Words instead of axes that would be empty."""
    draw.say(upper, sentence(note), color="0.35")
    upper.set(xticks=[], yticks=[])
    for side in upper.spines.values():
        side.set_visible(False)
    lower.set_axis_off()


def verdict_words(rows: pd.DataFrame) -> str:
    """How many runs were steady; nothing where none was judged."""
    from kvstudy.stats.over_time import Steadiness

    verdicts = rows.dropna(subset="verdict").drop_duplicates("repetition")["verdict"].tolist()
    if not verdicts:
        return ""
    if all(verdict == Steadiness.TOO_SHORT for verdict in verdicts):
        return _("too short to judge")
    steady = sum(verdict == Steadiness.STEADY for verdict in verdicts)
    runs = ngettext("steady: {} of {} run", "steady: {} of {} runs", len(verdicts))
    return runs.format(steady, len(verdicts))


def _throughput(ax: plt.Axes, rows: pd.DataFrame, color: str, unit: float) -> None:
    lines = rows[rows["strip"] == "throughput"]
    first = lines.iloc[0]
    if first["warm_up"] > 0:
        ax.axvspan(0, first["warm_up"], color="0.88", linewidth=0, gid="warm-up")
    for _repetition, run in lines.groupby("repetition", sort=False):
        x, low, high = _steps(run)
        if (low == high).all():
            ax.plot(x, low / unit, color=color, linewidth=0.8)
        else:
            ax.fill_between(x, low / unit, high / unit, color=color, alpha=0.5, linewidth=0.4)
    ax.set_xlim(0, lines["end"].max())
    ax.set_ylim(0, 1.08 * lines["high"].max() / unit or 1)
    ax.yaxis.set_major_locator(ticker.MaxNLocator(nbins=4))


def _busy(ax: plt.Axes, rows: pd.DataFrame, highest: float) -> None:
    lines = rows[rows["strip"].isin(SIDES)]
    if lines.empty:
        draw.say(ax, _("not recorded"), color="0.35")
        ax.set_yticks([])
        return
    for side, run in lines.groupby("strip", sort=False):
        x, low, high = _steps(run)
        if side == "server":
            ax.fill_between(x, 0, high, color=SERVER, linewidth=0)
        if not (low == high).all():
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
    there = set(table["strip"].dropna())
    handles: list[lines.Line2D | patches.Patch] = []
    if (table["warm_up"].astype(float) > 0).any():
        handles.append(patches.Patch(color="0.88", label=_("warm-up")))
    for side in SIDES:
        if side in there:
            form = {"label": _(LABELS[side])}
            line = side in LINES and lines.Line2D([], [], linewidth=0.8, **LINES[side], **form)
            handles.append(line or patches.Patch(color=SERVER, **form))
    return handles


def _row(row: dict, title: str) -> dict:
    names = ["panel", "store", "workload", "repetition", "start", "end", "low", "high"]
    run = _("{}, repetition {}").format(title, row["repetition"])
    strip = row["strip"]
    if strip == "throughput":
        texts = {"name": title, "title": run}
        ends = [exact("throughput", row[end], "ops/s") for end in ("low", "high")]
    else:
        side = _(LABELS[strip])
        texts = {"name": side, "title": f"{run}, {side}"}
        ends = [_("{} cores").format(significant(row[end])) for end in ("low", "high")]
    seconds = (decimal(f"{row[end]:g}") for end in ("start", "end"))
    key = [row[name] for name in ("store", "workload", "parameters", "repetition")]
    texts["exact"] = ends[0] if row["low"] == row["high"] else between(*ends)
    texts |= {"seconds": between(*seconds), "cells": cell_path(*key)}
    return plain(row, names) | texts


def _step_layers(
    rows: pd.DataFrame, y: dict, area: dict, line: dict, area_mark: dict, line_mark: dict
) -> list[alt.Chart]:
    """Lines of steps, with an area where a step has several values: encodings and marks."""
    scale = alt.Scale(domain=[0, float(rows["end"].max())], nice=False)
    x = alt.X("middle:Q", title=_("Time (s)"), scale=scale, axis=alt.Axis(grid=False))
    base = alt.Chart().transform_calculate(middle="(datum.start + datum.end) / 2")
    base = base.encode(x=x, y=alt.Y("high:Q", **y))
    step = {"interpolate": "step", "aria": False}
    return [
        base.transform_filter("datum.low < datum.high")
        .mark_area(**step, **area_mark)
        .encode(y=alt.Y("low:Q", **y), y2="high:Q", **area),
        base.mark_line(**step, **line_mark).encode(**line),
        base.mark_point(filled=True, opacity=0, size=70, aria=False).encode(**texts(TEXTS)),
    ]


def _speed_layers(rows: pd.DataFrame, color: str) -> list[alt.Chart]:
    y = {"title": "ops/s", "axis": alt.Axis(tickCount=4, format="~s")}
    y["scale"] = alt.Scale(domain=[0, 1.08 * float(rows["high"].max()) or 1], nice=False)
    run = {"detail": alt.Detail("repetition:N")}
    layers = _step_layers(
        rows, y, run, run, {"opacity": 0.4, "color": color}, {"strokeWidth": 1.2, "color": color}
    )
    warm_up = float(pd.to_numeric(rows["warm_up"]).iloc[0] or 0) if len(rows) else 0
    if warm_up > 0:
        band = alt.Chart().mark_rect(style="kv-band", aria=False)
        layers.insert(0, band.encode(x=alt.XDatum(0), x2=alt.datum(warm_up)))
    return layers


def _core_layers(rows: pd.DataFrame, legend: list[dict], highest: float) -> list[alt.Chart]:
    scale = alt.Scale(domain=[0, 1.08 * float(highest) or 1], nice=False)
    y = {"title": _("busy cores"), "axis": alt.Axis(tickCount=4), "scale": scale}
    looks = by_legend(legend, "color"), by_legend(legend, "color", "dash")
    return _step_layers(rows, y, *looks, {"opacity": 0.3}, {"strokeWidth": 1.3})
