"""A value of a workload at all of its sizes: a map for each store, all in one colour scale."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.numbers import grouped, sign, significant
from kvstudy.analyse.tidy.swept import ALL, Swept
from kvstudy.language.current import _
from kvstudy.present.figures.draw import DARK, TEXT_WIDTH, Look
from kvstudy.present.figures.words import from_to
from kvstudy.study.base import SIZES
from kvstudy.study.grids import Heatmap
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study

COLUMNS = [*SETTING, *SIZES, "value", "low", "high", "unit", "n", "note"]
# Readable in grey print and by the colour-blind: from dark to light.
COLORS = "cividis"
# Inches: a cell with four characters of 7 points, and what stands left of a row of panels.
CELL_WIDTH, CELL_HEIGHT, LABELS = 0.34, 0.19, 1.1
# Values further apart than that need a logarithmic scale.
WIDE = 10


def heatmap_table(figure: Heatmap, study: Study, swept: Swept) -> pd.DataFrame:
    """One row per cell of the maps, in the order of drawing.

    Planned sizes without a value are rows with a ``note`` that says why; ``low`` and
    ``high`` are the range of the ``n`` runs behind a value.
    """
    whole = ALL if figure.metric.startswith("latency") else "overall"
    values = swept.values(figure.metric, figure.operation or whole, figure.unit)
    found = values.set_index(SETTING)
    grid = swept.grid(figure.workload).sort_values(list(SIZES))
    rows = []
    for store in study.store_names:
        for size in grid.itertuples():
            key = (store, figure.workload, size.parameters)
            row = dict(zip(SETTING, key, strict=True))
            row |= {name: getattr(size, name) for name in SIZES}
            row |= dict.fromkeys(("value", "low", "high"), math.nan)
            row |= {"unit": figure.unit, "n": 0, "note": ""}
            if key in found.index:
                row |= dict(found.loc[key])
            else:
                row["note"] = swept.reason(*key)
            rows.append(row)
    return pd.DataFrame(rows, columns=COLUMNS)


def draw_heatmap(table: pd.DataFrame, figure: Heatmap, stores: dict[str, Look]) -> Figure:
    """Draw ``heatmap_table``; sizes that were planned and have no value are hatched."""
    places = list(table[["records", "operations"]].drop_duplicates().itertuples(index=False))
    threads = sorted(table["threads"].unique())
    shown = [store for store in stores if (table["store"] == store).any()]
    room = (TEXT_WIDTH - LABELS) / (CELL_WIDTH * max(len(threads), 3) + 0.12)
    across = max(1, min(len(shown), int(room)))
    down = max(1, math.ceil(len(shown) / across))
    height = (
        0.75
        + down * (0.3 + CELL_HEIGHT * max(len(places), 5 if down == 1 else 3))
        + (0.15 * (down - 1))
    )
    drawing, axes = plt.subplots(
        down,
        across,
        figsize=(TEXT_WIDTH, height),
        squeeze=False,
        sharex=True,
        sharey=True,
        layout="constrained",
    )
    norm = norm_of(table["value"].dropna())
    for place, ax in enumerate(axes.flat):
        if place >= len(shown):
            ax.set_axis_off()
            continue
        store = shown[place]
        _panel(ax, table[table["store"] == store], places, threads, norm)
        ax.set_title(stores[store].title, loc="left", pad=4)
        # With sharex the labels of the panel above an empty place would be missing.
        ax.tick_params(labelbottom=place + across >= len(shown))
        if place % across == 0:
            _label_rows(ax, places)
    drawing.supxlabel(_("Client threads"), fontsize="medium")
    label = f"{_(METRICS[figure.metric].title)} ({sign(figure.unit)})\n{runs_words(table)}"
    _color_bar(drawing, axes, norm, label)
    if table["value"].isna().any():
        handle = Patch(facecolor="white", edgecolor="0.6", hatch="////", label=_("no value"))
        drawing.legend(handles=[handle], loc="outside lower left", frameon=False)
    return drawing


def runs_words(table: pd.DataFrame) -> str:
    counts = sorted({int(n) for n in table["n"] if n > 0})
    if counts in ([], [1]):
        return _("single runs")
    several = from_to(counts[0], counts[-1]) if len(counts) > 1 else counts[0]
    return _("means of {} runs").format(several)


def norm_of(values: pd.Series) -> Normalize:
    if values.empty:
        return Normalize(0, 1)
    low, high = values.min(), values.max()
    if low > 0 and high / low > WIDE:
        return LogNorm(low, high)
    return Normalize(min(0, low) if low == high else low, high or 1)


def _panel(
    ax: Axes,
    rows: pd.DataFrame,
    places: list[tuple[float, float]],
    threads: list[float],
    norm: Normalize,
) -> None:
    colors = plt.get_cmap(COLORS)
    for row in rows.itertuples():
        x, y = threads.index(row.threads), places.index((row.records, row.operations))
        corner = (x - 0.5, y - 0.5)
        if pd.isna(row.value):
            # A hatch is drawn in the colour of the edge.
            ax.add_patch(
                Rectangle(corner, 1, 1, facecolor="white", edgecolor="0.6", hatch="////", lw=0)
            )
            continue
        color = colors(norm(row.value))
        ax.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor="white", lw=0.6))
        light = np.dot(color[:3], [0.299, 0.587, 0.114]) > 0.5
        ax.text(
            x,
            y,
            grouped(significant(row.value)),
            ha="center",
            va="center",
            fontsize=7,
            color=DARK if light else "white",
        )
    ax.set_xlim(-0.5, len(threads) - 0.5)
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.grid(visible=False)
    ax.set_xticks(range(len(threads)), [f"{count:g}" for count in threads])
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    for y in range(1, len(places)):
        if places[y][0] != places[y - 1][0]:
            ax.axhline(y - 0.5, color="white", linewidth=3)


def _label_rows(ax: Axes, places: list[tuple[float, float]]) -> None:
    """Operations at each row, records beside the rows that share them."""
    ax.set_yticks(range(len(places)), [grouped(f"{row[1]:.0f}") for row in places])
    ax.annotate(
        _("Records, operations"),
        (0, 1),
        xycoords="axes fraction",
        xytext=(-4, 4),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=7,
        color="0.35",
    )
    records = [row[0] for row in places]
    for count in dict.fromkeys(records):
        first, last = records.index(count), len(records) - 1 - records[::-1].index(count)
        ax.annotate(
            grouped(f"{count:.0f}"),
            (0, (first + last) / 2),
            xycoords=("axes fraction", "data"),
            xytext=(-48, 0),
            textcoords="offset points",
            ha="center",
            va="center",
            rotation=90 if last - first >= 2 else 0,
        )


def _color_bar(drawing: Figure, axes: np.ndarray, norm: Normalize, label: str) -> None:
    bar = drawing.colorbar(
        ScalarMappable(norm, COLORS), ax=axes, location="right", aspect=30, pad=0.015, fraction=0.04
    )
    bar.set_label(label)
    bar.outline.set_visible(False)
    if isinstance(norm, LogNorm):
        bar.ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        bar.ax.yaxis.set_minor_formatter(NullFormatter())
        bar.ax.yaxis.set_minor_locator(LogLocator(subs=()))
    else:
        bar.ax.yaxis.set_major_locator(MaxNLocator(nbins=5))
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(f"{value:g}")))
