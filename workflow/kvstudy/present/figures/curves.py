"""Throughput and latencies over one size: threads, records or operations."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter

from kvstudy.analyse.audit.doubts import MARK
from kvstudy.analyse.tidy.numbers import converted, grouped, sign
from kvstudy.analyse.tidy.swept import ALL, COLUMNS, MEASURED, PUBLISHED, Swept
from kvstudy.language.current import ORIGINAL, _, using
from kvstudy.language.recorded import recorded
from kvstudy.present.figures.draw import DARK, TEXT_WIDTH, Look, any_rejected, rejected_handle
from kvstudy.present.figures.order import MARKERS
from kvstudy.present.figures.spectrum import LINES
from kvstudy.present.figures.words import size_words
from kvstudy.stats.scalability import saturation
from kvstudy.study.base import SIZE_TITLES
from kvstudy.study.combinations import Line, lines
from kvstudy.study.curves import Curves
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study

# What an axis is given in.
UNITS = {"ops/s": "kops/s", "ms": "s", "us": "ms"}
PALETTE = "colorblind"
# Values of a size that differ by more are drawn at equal steps of their logarithm.
WIDE = 20


def curves_table(figure: Curves, study: Study, swept: Swept) -> pd.DataFrame:
    """One row per point and panel: the columns of ``Swept.along``, panel, line, saturated.

    Values are in the unit of the axis. ``line`` numbers the lines from 0. ``saturated``
    is yes at the point from which on throughput is within 5 % of the line's largest
    (``stats.scalability.saturation``), else no.
    """
    frames = []
    for index, line in enumerate(_lines(figure, study)):
        for metric in figure.metrics:
            for operation in _operations(figure, metric, line.workload, swept):
                rows = swept.along(line, operation, metric)
                rows["line"] = index
                with using(ORIGINAL):
                    rows["panel"] = [panel_title(side, metric, operation) for side in rows["side"]]
                rows["saturated"] = "no"
                if figure.saturation and metric == "throughput":
                    _mark(rows, figure.over)
                frames.append(_in_axis_unit(rows))
    columns = [*COLUMNS, "line", "panel", "saturated"]
    return pd.concat(frames, ignore_index=True)[columns]


def draw_curves(
    table: pd.DataFrame, figure: Curves, study: Study, stores: dict[str, Look]
) -> Figure:
    """A panel for each metric and side; lines with the range of their runs."""
    panels = panels_of(table, figure)
    columns = 1 if len(panels) == 1 else 2
    rows = math.ceil(len(panels) / columns)
    drawing, axes = plt.subplots(
        rows,
        columns,
        figsize=(TEXT_WIDTH, 0.5 + 1.75 * rows),
        squeeze=False,
        layout="constrained",
    )
    looks = line_looks(figure, study, stores)
    for place, ax in enumerate(axes.flat):
        if place >= len(panels):
            ax.set_axis_off()
            continue
        mine = table[table["panel"] == panels[place]].dropna(subset="value")
        if mine.empty:
            ax.text(0.5, 0.5, _("nothing was measured"), ha="center", transform=ax.transAxes)
            ax.set_axis_off()
            continue
        _panel(ax, mine, figure.over, looks)
        ax.set_title(title_of(mine), loc="left", pad=5)
    sns.despine(drawing)
    used = [index for index in looks if (table.loc[table["line"] == index, "value"].notna()).any()]
    handles = [
        Line2D([], [], color=color, linestyle=style, marker=marker, markersize=3.5, label=label)
        for color, style, marker, label in (looks[index] for index in used)
    ]
    if (table["saturated"] == "yes").any():
        handles.append(_ring(_("saturated from here")))
    if any_rejected(table):
        handles.append(rejected_handle())
    if handles:
        widest = max(len(str(handle.get_label())) for handle in handles)
        drawing.legend(
            handles=handles,
            loc="outside upper center",
            ncols=max(1, min(len(handles), 88 // (widest + 8))),
            frameon=False,
        )
    return drawing


def _lines(figure: Curves, study: Study) -> list[Line]:
    stores = figure.stores or study.store_names
    return lines(study, figure.over, figure.where, figure.workloads, stores)


def panels_of(table: pd.DataFrame, figure: Curves) -> list[str]:
    """The panels that have values: metric by metric, the published ones behind the measured."""
    found = table.dropna(subset="value").drop_duplicates("panel")
    places = found.assign(metric=found["metric"].map(figure.metrics.index))
    return places.sort_values(["metric", "side"], kind="stable")["panel"].tolist() or [""]


def _operations(figure: Curves, metric: str, workload: str, swept: Swept) -> list[str]:
    if not metric.startswith("latency"):
        return ["overall"]
    return [ALL] if figure.operations == "together" else swept.operations(workload)


def title_of(rows: pd.DataFrame) -> str:
    """What stands above the panel of ``rows``; their ``panel`` is the same in English."""
    first = rows.iloc[0]
    return panel_title(first["side"], first["metric"], first["operation"])


def panel_title(side: str, metric: str, operation: str) -> str:
    """What stands above a panel of curves."""
    name = _(METRICS[metric].short)
    if metric.startswith("latency"):
        of = _("all operations") if operation == ALL else recorded(operation)
        name = _("Latency of {}, {}").format(of, name.lower())
    # Whose it is stands in the caption: half the width of a page has no room for it.
    if side == PUBLISHED:
        return _("{}, published").format(name)
    # Latencies are rarely published; where they are, the other title says so.
    return name if metric.startswith("latency") else _("{}, measured here").format(name)


def _mark(rows: pd.DataFrame, over: str) -> None:
    for side in (MEASURED, PUBLISHED):
        mine = rows[rows["side"] == side].dropna(subset="value")
        if mine[over].nunique() < 2:
            continue
        point = saturation(mine[over].tolist(), mine["value"].tolist())
        rows.loc[mine.index[mine[over] == point], "saturated"] = "yes"


def _in_axis_unit(rows: pd.DataFrame) -> pd.DataFrame:
    for index, unit in rows.loc[rows["unit"] != "", "unit"].items():
        wanted = UNITS.get(unit, unit)
        for name in ("value", "low", "high"):
            rows.loc[index, name] = converted(rows.loc[index, name], unit, wanted)
        rows.loc[index, "unit"] = wanted
    return rows


def line_looks(
    figure: Curves, study: Study, stores: dict[str, Look]
) -> dict[int, tuple[str, object, str, str]]:
    """Colour, line style, marker and label of each line.

    The colour is the store's; where there is one store, the workload's. What else tells
    lines apart is their style.
    """
    found = _lines(figure, study)
    one_store = len({line.store for line in found}) == 1
    palette = sns.color_palette(PALETTE, len(figure.workloads)).as_hex()
    styles: dict[object, int] = {}
    looks = {}
    for index, line in enumerate(found):
        workload = figure.workloads.index(line.workload)
        color = palette[workload] if one_store else stores[line.store].color
        kind = line.fixed if one_store else (line.fixed, line.workload)
        style = styles.setdefault(kind, len(styles))
        shape = workload if one_store else list(stores).index(line.store)
        marker = MARKERS[shape % len(MARKERS)]
        label = _label(line, found, study, stores)
        looks[index] = (color, LINES[style % len(LINES)], marker, label)
    return looks


def _label(line: Line, all_lines: list[Line], study: Study, stores: dict[str, Look]) -> str:
    """What tells the line from the others."""
    parts = []
    if len({each.store for each in all_lines}) > 1 or len(all_lines) == 1:
        parts.append(stores[line.store].title)
    if len({each.workload for each in all_lines}) > 1:
        parts.append(study.workload(line.workload).short)
    for place, (size, number) in enumerate(line.fixed):
        same_workload = [each for each in all_lines if each.workload == line.workload]
        if len({each.fixed[place] for each in same_workload}) > 1:
            parts.append(size_words(size, number))
    return ", ".join(parts)


def _panel(ax: Axes, table: pd.DataFrame, over: str, looks: dict) -> None:
    for index, rows in table.groupby("line", sort=True):
        color, style, marker, _label = looks[index]
        rows = rows.sort_values(over)
        spread = rows["n"] > 1
        if spread.any():
            ax.fill_between(
                rows[over], rows["low"], rows["high"], color=color, alpha=0.15, linewidth=0
            )
        ax.plot(
            rows[over],
            rows["value"],
            color=color,
            linestyle=style,
            marker=marker,
            markersize=3.5,
            linewidth=1.1,
        )
        at = rows[rows["saturated"] == "yes"]
        ax.plot(at[over], at["value"], **_RING)
        for row in rows[rows["rejected"] == "yes"].itertuples():
            place = (getattr(row, over), row.value)
            ax.annotate(MARK, place, (4, 1), textcoords="offset points", color=DARK, fontsize=8)
    values = sorted(table[over].unique())
    if values[0] > 0 and values[-1] / values[0] > WIDE:
        ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(values))
    ax.xaxis.set_minor_locator(FixedLocator([]))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(f"{value:.0f}")))
    ax.set_ylim(0, None)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(f"{value:g}")))
    ax.set(xlabel=_(SIZE_TITLES[over]), ylabel=sign(table["unit"].iloc[0]))


_RING = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 9,
    "markerfacecolor": "none",
    "markeredgecolor": DARK,
    "markeredgewidth": 0.8,
}


def _ring(label: str) -> Line2D:
    return Line2D([], [], label=label, **_RING)
