"""A value of a workload at all of its sizes: a map for each store, all in one colour scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.numbers import between, grouped, sign, significant
from kvstudy.language.current import N_, _
from kvstudy.libraries import alt, colors, np, patches, pd, plt, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.chart import Chart, Panel
from kvstudy.present.drawing.draw import DARK, TEXT_WIDTH, DrawnFigure, Looks
from kvstudy.study.base import ALL, SIZES, Metric, Name, Operation, Unit, check_unit
from kvstudy.study.metrics import METRICS

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [*SETTING, *SIZES, "value", "low", "high", "unit", "n", "note"]
NOTHING = dict.fromkeys(("value", "low", "high"), math.nan) | {"note": ""}
# Readable in grey print and by the colour-blind: from dark to light.
COLORS = "cividis"
# Inches: a cell with four characters of 7 points, and what stands left of a row of panels.
CELL_WIDTH, CELL_HEIGHT, LABELS = 0.34, 0.19, 1.1
# Values further apart than that need a logarithmic scale.
WIDE = 10
TEXTS = {"exact": N_("Value"), "size": N_("Size"), "range": N_("Range")}
TEXTS |= {"runs": N_("Mean of"), "cells": N_("Cells"), "note": N_("Note")}
# Pixels of a cell: high, and the least width that has room for its value.
HEIGHT, LEAST = 26, 26
INKS = ["#262626", "#ffffff"]
# A hatch is drawn in the colour of the edge.
NO_VALUE = {"facecolor": "white", "edgecolor": "0.6", "hatch": "////"}


class Heatmap(DrawnFigure):
    """A panel for each store: records and operations down, client threads across."""

    cells = "every size"

    kind: Literal["heatmap"] = Field(
        description="A value of a workload at all of its sizes, a panel for each store: records "
        "and operations down, client threads across. Sizes under `also` with other threads are "
        "left out."
    )
    workload: Name = Field(description="The workload.")
    metric: Metric = Field(default="throughput", description="What is shown.")
    operation: Operation | None = Field(
        default=None,
        description="For latencies: of this operation; left out, the mean over all single "
        "operations, whatever their kind.",
    )
    unit: Unit

    @model_validator(mode="after")
    def _fits(self) -> Heatmap:
        latency = self.metric.startswith("latency")
        if latency and self.operation is None and self.metric != "latency_mean":
            raise ValueError(
                f"{self.metric} of all operations together is not recorded; name an operation, or "
                "take latency_mean"
            )
        if not latency and self.operation is not None:
            raise ValueError(f"{self.metric} is of the whole phase; leave out the operation")
        check_unit(self.metric, self.unit)
        return self

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per cell of the maps, in the order of drawing.

        Planned sizes without a value are rows with a ``note`` that says why; ``low`` and
        ``high`` are the range of the ``n`` runs behind a value.
        """
        whole = ALL if self.metric.startswith("latency") else "overall"
        values = run.swept.values(self.metric, self.operation or whole, self.unit)
        found = values.set_index(SETTING)
        grid = run.swept.grid(self.workload).sort_values(list(SIZES))
        rows = []
        for store in run.study.store_names:
            for size in grid.itertuples():
                key = (store, self.workload, size.parameters)
                row = dict(zip(SETTING, key, strict=True)) | {"unit": self.unit, "n": 0}
                row |= {name: getattr(size, name) for name in SIZES}
                there = key in found.index
                value = dict(found.loc[key]) if there else {"note": run.swept.reason(*key)}
                rows.append(row | NOTHING | value)
        return pd.DataFrame(rows, columns=COLUMNS)

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """Sizes that were planned and have no value are hatched."""
        places = list(table[["records", "operations"]].drop_duplicates().itertuples(index=False))
        threads = sorted(table["threads"].unique())
        shown = _shown(table, looks)
        room = (TEXT_WIDTH - LABELS) / (CELL_WIDTH * max(len(threads), 3) + 0.12)
        across = max(1, min(len(shown), int(room)))
        down = max(1, math.ceil(len(shown) / across))
        height = 0.3 + CELL_HEIGHT * max(len(places), 5 if down == 1 else 3) + 0.15
        drawing, axes = draw.grid(len(shown), across, 0.6, height, sharex=True, sharey=True)
        norm = norm_of(table["value"].dropna())
        for place, (ax, store) in enumerate(zip(axes.flat, shown, strict=False)):
            _panel(ax, table[table["store"] == store], places, threads, norm)
            ax.set_title(looks.stores[store].title, loc="left", pad=4)
            # With sharex the labels of the panel above an empty place would be missing.
            ax.tick_params(labelbottom=place + across >= len(shown))
            if place % across == 0:
                _label_rows(ax, places)
        drawing.supxlabel(_("Client threads"), fontsize="medium")
        _color_bar(drawing, axes, norm, f"{self._value_title}\n{runs_words(table)}")
        if table["value"].isna().any():
            handle = patches.Patch(label=_("no value"), **NO_VALUE)
            drawing.legend(handles=[handle], loc="outside lower left")
        return drawing

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        norm, shown = norm_of(table["value"].dropna()), _shown(table, looks)
        rows = [_row(row, self, looks.stores, norm, shown) for row in table.to_dict("records")]
        places = list(dict.fromkeys(row["place"] for row in rows))
        threads = sorted({row["threads"] for row in rows})
        name = self._value_title
        layers, height = _layers(places, threads, norm, name), HEIGHT * len(places)
        words = _("Heat map of {}: {} by records, operations and threads.")
        titles = [looks.titles[store] for store in shown]
        panels = [Panel(layers, title, words.format(title, name), height) for title in titles]
        note = _("{}, {}. Rows: records, operations.").format(name, runs_words(table))
        return Chart(rows, panels, [], min(len(shown), 3) or 1, note)

    @property
    def _value_title(self) -> str:
        return f"{_(METRICS[self.metric].title)} ({sign(self.unit)})"


def _shown(table: pd.DataFrame, looks: Looks) -> list[str]:
    return [store for store in looks.stores if (table["store"] == store).any()]


def runs_words(table: pd.DataFrame) -> str:
    counts = sorted({int(n) for n in table["n"] if n > 0})
    if counts in ([], [1]):
        return _("single runs")
    several = between(counts[0], counts[-1]) if len(counts) > 1 else counts[0]
    return _("means of {} runs").format(several)


def norm_of(values: pd.Series) -> colors.Normalize:
    if values.empty:
        return colors.Normalize(0, 1)
    low, high = values.min(), values.max()
    if low > 0 and high / low > WIDE:
        return colors.LogNorm(low, high)
    return colors.Normalize(min(0, low) if low == high else low, high or 1)


def _panel(
    ax: plt.Axes,
    rows: pd.DataFrame,
    places: list[tuple[float, float]],
    threads: list[float],
    norm: colors.Normalize,
) -> None:
    cmap = plt.get_cmap(COLORS)
    for row in rows.itertuples():
        x, y = threads.index(row.threads), places.index((row.records, row.operations))
        corner = (x - 0.5, y - 0.5)
        if pd.isna(row.value):
            ax.add_patch(patches.Rectangle(corner, 1, 1, lw=0, **NO_VALUE))
            continue
        color = cmap(norm(row.value))
        ax.add_patch(patches.Rectangle(corner, 1, 1, facecolor=color, edgecolor="white", lw=0.6))
        style = {"ha": "center", "va": "center", "fontsize": 7}
        style["color"] = DARK if _is_light(color) else "white"
        ax.text(x, y, grouped(significant(row.value)), **style)
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


def _label_rows(ax: plt.Axes, places: list[tuple[float, float]]) -> None:
    """Operations at each row, records beside the rows that share them."""
    ax.set_yticks(range(len(places)), [grouped(f"{row[1]:.0f}") for row in places])
    beside = {"textcoords": "offset points"}
    style = {"ha": "right", "va": "bottom", "fontsize": 7, "color": "0.35"}
    words = _("Records, operations")
    ax.annotate(words, (0, 1), (-4, 4), xycoords="axes fraction", **beside, **style)
    records = [row[0] for row in places]
    for count in dict.fromkeys(records):
        first, last = records.index(count), len(records) - 1 - records[::-1].index(count)
        style = {"ha": "center", "va": "center", "rotation": 90 if last - first >= 2 else 0}
        place, sides = (0, (first + last) / 2), ("axes fraction", "data")
        ax.annotate(grouped(f"{count:.0f}"), place, (-48, 0), xycoords=sides, **beside, **style)


def _color_bar(drawing: plt.Figure, axes: np.ndarray, norm: colors.Normalize, label: str) -> None:
    form = {"location": "right", "aspect": 30, "pad": 0.015, "fraction": 0.04}
    bar = drawing.colorbar(plt.cm.ScalarMappable(norm, COLORS), ax=axes, **form)
    bar.set_label(label)
    bar.outline.set_visible(False)
    if isinstance(norm, colors.LogNorm):
        bar.ax.yaxis.set_minor_locator(ticker.LogLocator(subs=()))
        draw.number_axis(bar.ax.yaxis, ticker.LogLocator(subs=(1, 2, 5)))
    else:
        draw.number_axis(bar.ax.yaxis, ticker.MaxNLocator(nbins=5))


def _row(
    row: dict, figure: Heatmap, stores: dict, norm: colors.Normalize, shown: list[str]
) -> dict:
    value, unit, look = row["value"], row["unit"], stores[row["store"]]
    records_, operations = (grouped(f"{row[name]:.0f}") for name in ("records", "operations"))
    names = ["workload", "store", *SIZES, "value", "low", "high", "n", "note"]
    shades = plt.get_cmap(COLORS)
    known = not pd.isna(value)
    return chart.plain(row, names) | {
        "panel": shown.index(row["store"]),
        "place": f"{records_}, {operations}",
        "title": look.title,
        "size": ", ".join(chart.size_words(size, row[size]) for size in SIZES),
        **chart.value_texts(row, figure.metric, unit),
        "runs": chart.runs(row["n"]) if row["n"] else "",
        "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
        "label": grouped(significant(value)) if known else "",
        # Black or white, whichever is readable on the cell's colour, as in print.
        "ink": INKS[0 if _is_light(shades(norm(value))) else 1] if known else "",
    }


def _is_light(color: tuple[float, ...]) -> bool:
    return np.dot(color[:3], [0.299, 0.587, 0.114]) > 0.5


def _layers(
    places: list[str], threads: list[float], norm: colors.Normalize, name: str
) -> list[alt.Chart]:
    base = alt.Chart().encode(
        x=alt.X("threads:O", sort=threads, title=_("Client threads")).axis(
            labelAngle=0, ticks=False
        ),
        y=alt.Y("place:O", sort=places, title=None).axis(ticks=False, domain=False),
        **chart.texts(TEXTS),
    )
    kind = "log" if isinstance(norm, colors.LogNorm) else "linear"
    scale = alt.Scale(
        scheme=COLORS, type=kind, domain=[float(norm.vmin), float(norm.vmax)], nice=False
    )
    legend = alt.Legend(title=name, orient="top")
    known = base.transform_filter("isValid(datum.value)")
    narrow = f"width / {len(threads)} < {LEAST} ? 0 : 1"
    return [
        known.mark_rect().encode(color=alt.Color("value:Q", scale=scale, legend=legend)),
        base.transform_filter("!isValid(datum.value)").mark_rect(
            fill="url(#kv-nothing) #8c8c8c", fillOpacity=0.5
        ),
        *[
            known.transform_filter(f"datum.ink === '{ink}'")
            .mark_text(color=ink, aria=False, opacity=alt.ExprRef(narrow))
            .encode(text="label:N")
            for ink in INKS
        ],
    ]
