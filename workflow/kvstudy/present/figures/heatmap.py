"""A value of a workload at all of its sizes: a map for each store, all in one colour scale."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from pydantic import Field, model_validator

from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.numbers import amount, between, rate, sign, whole
from kvstudy.language.current import N_, _
from kvstudy.libraries import alt, colors, np, patches, pd, plt, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, StyleSheet
from kvstudy.study.base import ALL, SIZES, Metric, Name, Operation, Unit, check_unit
from kvstudy.study.metrics import METRICS

COLUMNS = [*SETTING, *SIZES, "value", "low", "high", "unit", "n", "note"]
# Readable in grey print and by the colour-blind: from dark to light.
COLORS = "cividis"
# Inches: a cell with four characters of 7 points, and what is left of a row of panels.
CELL_WIDTH, CELL_HEIGHT, LABELS = 0.34, 0.19, 1.1
# Values further apart than that need a logarithmic scale.
WIDE = 10
TEXTS = {"exact": N_("Value"), "size": N_("Size"), "range": N_("Range")}
TEXTS |= {"runs": N_("Mean of"), "cells": N_("Cells"), "note": N_("Note")}
# Pixels of a cell: high, and the least width that has room for its value.
HEIGHT, LEAST = 26, 26
# Of values on light and on dark colours; how light a colour's red, green and blue make it.
INKS, LUMA = ["#262626", "#ffffff"], [0.299, 0.587, 0.114]
# A hatch is drawn in the colour of the edge.
NO_VALUE = {"facecolor": "white", "edgecolor": "0.6", "hatch": "////"}


class Heatmap(DrawnFigure):
    """A panel for each store: records and operations down, client threads across."""

    in_template = True
    cells = "every size"
    texts = TEXTS
    fields = ("store", *SIZES, "value", "low", "high", "n", "note", "place", "ink")
    across = 3

    kind: Literal["heatmap"] = Field(
        description="A value of a workload at all of its sizes, a panel for each store: records "
        "and operations down, client threads across. Sizes under `also` with other threads are "
        "left out."
    )
    workload: Name = Field(description="The workload.")
    metric: Metric = Field(default="throughput", description="The metric.")
    operation: Operation | None = Field(
        default=None,
        description="For latencies: the operation; default: the mean over operations of all kinds.",
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

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per cell of the maps, in the order of drawing.

        Planned sizes without a value are rows with a ``note`` that says why; ``low`` and
        ``high`` are the range of the ``n`` runs behind a value.
        """
        whole = ALL if self.metric.startswith("latency") else "overall"
        values = run.swept.values(self.metric, self.operation or whole, self.unit)
        grid = run.swept.grid(self.workload).sort_values(list(SIZES))
        places = pd.DataFrame({"store": run.study.store_names}).merge(grid, how="cross")
        table = places.merge(values, how="left", on=SETTING)
        table["note"] = [
            run.swept.reason(*key) if pd.isna(n) else ""
            for n, *key in table[["n", *SETTING]].itertuples(index=False)
        ]
        return table.assign(unit=self.unit, n=table["n"].fillna(0).astype(int))[COLUMNS]

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """One for each store; cells have their ``place`` from above and ``ink`` for their value."""
        norm, colormap = _norm(table), plt.get_cmap(COLORS)
        light = [np.dot(colormap(norm(value))[:3], LUMA) > 0.5 for value in table["value"]]
        # Black or white, whichever is readable on the cell's colour.
        inks = np.where(table["value"].isna(), "", np.where(light, *INKS))
        sizes = (table[name].map(whole) for name in ("records", "operations"))
        table = table.assign(ink=inks, place=[", ".join(pair) for pair in zip(*sizes, strict=True)])
        words = _("Heat map of {}: {} by records, operations and threads.")
        return [
            Panel(
                look.title,
                table[table["store"] == store],
                words.format(look.title, self._value_title),
                HEIGHT * table["place"].nunique(),
            )
            for store, look in looks.shown(table).items()
        ]

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        words = _("{}, {}. Rows: records, operations.")
        return words.format(self._value_title, _runs_words(table))

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """Sizes that were planned and have no value are hatched."""
        panels, norm = self.panels(table, looks), _norm(table)
        rows = table.drop_duplicates(["records", "operations"])
        threads = sorted(table["threads"].unique())
        room = (draw.TEXT_WIDTH - LABELS) / (CELL_WIDTH * max(len(threads), 3) + 0.12)
        across = max(1, min(len(panels), int(room)))
        height = 0.45 + CELL_HEIGHT * max(len(rows), 5 if len(panels) <= across else 3)
        drawing, axes = draw.grid(len(panels), across, 0.6, height, sharex=True, sharey=True)
        for place, (ax, panel) in enumerate(zip(axes.flat, panels, strict=False)):
            _panel(ax, panel.rows, threads, norm)
            ax.set_title(draw.in_lines(panel.title, across), loc="left", pad=4)
            # With sharex the labels of the panel above an empty place would be missing.
            ax.tick_params(labelbottom=place + across >= len(panels))
            if place % across == 0:
                _label_rows(ax, rows)
        drawing.supxlabel(_("Client threads"), fontsize="medium")
        form = {"location": "right", "aspect": 30, "pad": 0.015, "fraction": 0.04}
        bar = drawing.colorbar(plt.cm.ScalarMappable(norm, COLORS), ax=axes, **form)
        bar.set_label(f"{self._value_title}\n{_runs_words(table)}")
        bar.outline.set_visible(False)
        logarithmic = isinstance(norm, colors.LogNorm)
        steps = ticker.LogLocator(subs=(1, 2, 5)) if logarithmic else ticker.MaxNLocator(nbins=5)
        bar.ax.yaxis.set_minor_locator(ticker.NullLocator())
        draw.number_axis(bar.ax.yaxis, steps)
        if table["value"].isna().any():
            handle = patches.Patch(label=_("no value"), **NO_VALUE)
            drawing.legend(handles=[handle], loc="outside lower left")
        return drawing

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        return {
            "title": looks.titles[row["store"]],
            "size": ", ".join(amount(size, row[size]) for size in SIZES),
            **chart.value_texts(row, self.metric, row["unit"]),
            "runs": chart.runs(row["n"]) if row["n"] else "",
            "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
            "label": rate(row["value"]) if row["ink"] else "",
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        norm, threads = _norm(table), sorted(rows["threads"].unique().tolist())
        places = rows["place"].unique().tolist()
        x = alt.X("threads:O", sort=threads, title=_("Client threads"))
        y = alt.Y("place:O", sort=places, title=None).axis(ticks=False, domain=False)
        base = alt.Chart().encode(
            x=x.axis(labelAngle=0, ticks=False), y=y, **chart.texts(self.texts)
        )
        kind = "log" if isinstance(norm, colors.LogNorm) else "linear"
        scale = alt.Scale(scheme=COLORS, type=kind, domain=[norm.vmin, norm.vmax], nice=False)
        legend = alt.Legend(title=self._value_title, orient="top")
        valued = base.transform_filter("isValid(datum.value)")
        narrow = f"width / {len(threads)} < {LEAST} ? 0 : 1"
        return [
            valued.mark_rect().encode(color=alt.Color("value:Q", scale=scale, legend=legend)),
            base.transform_filter("!isValid(datum.value)").mark_rect(
                fill="url(#kv-nothing) #8c8c8c", fillOpacity=0.5
            ),
            *[
                valued.transform_filter(f"datum.ink === '{ink}'")
                .mark_text(color=ink, aria=False, opacity=alt.ExprRef(narrow))
                .encode(text="label:N")
                for ink in INKS
            ],
        ]

    @property
    def _value_title(self) -> str:
        return f"{_(METRICS[self.metric].title)} ({sign(self.unit)})"


def _runs_words(table: pd.DataFrame) -> str:
    counts = sorted({int(n) for n in table["n"] if n > 0})
    if counts in ([], [1]):
        return _("single runs")
    several = between(counts[0], counts[-1]) if len(counts) > 1 else counts[0]
    return _("means of {} runs").format(several)


def _norm(table: pd.DataFrame) -> colors.Normalize:
    """From values to places in the colour scale."""
    values = table["value"].dropna()
    if values.empty:
        return colors.Normalize(0, 1)
    low, high = values.min(), values.max()
    if low > 0 and high / low > WIDE:
        return colors.LogNorm(low, high)
    return colors.Normalize(min(0, low) if low == high else low, high or 1)


def _panel(ax: plt.Axes, rows: pd.DataFrame, threads: list, norm: colors.Normalize) -> None:
    """A cell for each place and number of threads."""
    places = rows["place"].unique().tolist()
    for row in rows.itertuples():
        x, y = threads.index(row.threads), places.index(row.place)
        form = {"lw": 0, **NO_VALUE}
        if row.ink:
            color = plt.get_cmap(COLORS)(norm(row.value))
            form = {"lw": 0.6, "facecolor": color, "edgecolor": "white"}
            style = {"ha": "center", "va": "center", "fontsize": 7, "color": row.ink}
            ax.text(x, y, rate(row.value), **style)
        ax.add_patch(patches.Rectangle((x - 0.5, y - 0.5), 1, 1, **form))
    ax.set_xlim(-0.5, len(threads) - 0.5)
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.grid(visible=False)
    ax.set_xticks(range(len(threads)), [f"{count:g}" for count in threads])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    records = rows.drop_duplicates("place")["records"]
    for y, (above, below) in enumerate(pairwise(records)):
        if above != below:
            ax.axhline(y + 0.5, color="white", linewidth=3)


def _label_rows(ax: plt.Axes, rows: pd.DataFrame) -> None:
    """Operations at each row of a map, records next to the rows that share them."""
    ax.set_yticks(range(len(rows)), rows["operations"].map(whole))
    offset = {"textcoords": "offset points"}
    style = {"ha": "right", "va": "bottom", "fontsize": 7, "color": "0.35"}
    words = _("Records, operations")
    ax.annotate(words, (0, 1), (-4, 4), xycoords="axes fraction", **offset, **style)
    for records, of in rows.reset_index().groupby("records", sort=False):
        first, last = of.index[[0, -1]]
        style = {"ha": "center", "va": "center", "rotation": 90 if last - first >= 2 else 0}
        at, sides = (0, (first + last) / 2), ("axes fraction", "data")
        ax.annotate(whole(records), at, (-48, 0), xycoords=sides, **offset, **style)
