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
from kvstudy.study.base import ALL, SIZES, Metric, Name, Operation, Unit, check_unit
from kvstudy.study.metrics import METRICS

COLUMNS = [*SETTING, *SIZES, "value", "low", "high", "unit", "n", "note"]
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


class Heatmap(draw.DrawnFigure):
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

    def draw(self, table: pd.DataFrame, looks: draw.Looks) -> plt.Figure:
        """Sizes that were planned and have no value are hatched."""
        places = list(table[["records", "operations"]].drop_duplicates().itertuples(index=False))
        threads = sorted(table["threads"].unique())
        shown = looks.shown(table)
        room = (draw.TEXT_WIDTH - LABELS) / (CELL_WIDTH * max(len(threads), 3) + 0.12)
        across = max(1, min(len(shown), int(room)))
        height = 0.45 + CELL_HEIGHT * max(len(places), 5 if len(shown) <= across else 3)
        drawing, axes = draw.grid(len(shown), across, 0.6, height, sharex=True, sharey=True)
        norm = norm_of(table["value"].dropna())
        for place, (ax, (store, look)) in enumerate(zip(axes.flat, shown.items(), strict=False)):
            _panel(ax, table[table["store"] == store], places, threads, norm)
            ax.set_title(look.title, loc="left", pad=4)
            # With sharex the labels of the panel above an empty place would be missing.
            ax.tick_params(labelbottom=place + across >= len(shown))
            if place % across == 0:
                _label_rows(ax, places)
        drawing.supxlabel(_("Client threads"), fontsize="medium")
        form = {"location": "right", "aspect": 30, "pad": 0.015, "fraction": 0.04}
        bar = drawing.colorbar(plt.cm.ScalarMappable(norm, COLORS), ax=axes, **form)
        bar.set_label(f"{self._value_title}\n{runs_words(table)}")
        bar.outline.set_visible(False)
        logarithmic = isinstance(norm, colors.LogNorm)
        steps = ticker.LogLocator(subs=(1, 2, 5)) if logarithmic else ticker.MaxNLocator(nbins=5)
        bar.ax.yaxis.set_minor_locator(ticker.NullLocator())
        draw.number_axis(bar.ax.yaxis, steps)
        if table["value"].isna().any():
            handle = patches.Patch(label=_("no value"), **NO_VALUE)
            drawing.legend(handles=[handle], loc="outside lower left")
        return drawing

    def chart(self, table: pd.DataFrame, looks: draw.Looks) -> chart.Chart:
        norm, shown = norm_of(table["value"].dropna()), looks.shown(table)
        rows = [
            _row(row, self, shown, norm) | {"panel": list(shown).index(row["store"])}
            for row in table.to_dict("records")
        ]
        places = list(dict.fromkeys(row["place"] for row in rows))
        threads = sorted({row["threads"] for row in rows})
        name = self._value_title
        layers, height = _layers(places, threads, norm, name), HEIGHT * len(places)
        words = _("Heat map of {}: {} by records, operations and threads.")
        titles = [look.title for look in shown.values()]
        panels = [chart.Panel(layers, title, words.format(title, name), height) for title in titles]
        note = _("{}, {}. Rows: records, operations.").format(name, runs_words(table))
        return chart.Chart(rows, panels, [], min(len(shown), 3) or 1, note)

    @property
    def _value_title(self) -> str:
        return f"{_(METRICS[self.metric].title)} ({sign(self.unit)})"


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
    ax: plt.Axes, rows: pd.DataFrame, places: list, threads: list, norm: colors.Normalize
) -> None:
    """A cell for each of the ``places`` (records, operations) and threads."""
    cmap = plt.get_cmap(COLORS)
    for row in rows.itertuples():
        x, y = threads.index(row.threads), places.index((row.records, row.operations))
        form = {"lw": 0, **NO_VALUE}
        if not pd.isna(row.value):
            form = {"lw": 0.6, "facecolor": cmap(norm(row.value)), "edgecolor": "white"}
            style = {"ha": "center", "va": "center", "fontsize": 7}
            style["color"] = draw.DARK if _is_light(form["facecolor"]) else "white"
            ax.text(x, y, rate(row.value), **style)
        ax.add_patch(patches.Rectangle((x - 0.5, y - 0.5), 1, 1, **form))
    ax.set_xlim(-0.5, len(threads) - 0.5)
    ax.set_ylim(len(places) - 0.5, -0.5)
    ax.grid(visible=False)
    ax.set_xticks(range(len(threads)), [f"{count:g}" for count in threads])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    for y, (above, below) in enumerate(pairwise(places)):
        if above.records != below.records:
            ax.axhline(y + 0.5, color="white", linewidth=3)


def _label_rows(ax: plt.Axes, places: list) -> None:
    """Operations at each row, records beside the rows that share them."""
    ax.set_yticks(range(len(places)), [whole(place.operations) for place in places])
    beside = {"textcoords": "offset points"}
    style = {"ha": "right", "va": "bottom", "fontsize": 7, "color": "0.35"}
    words = _("Records, operations")
    ax.annotate(words, (0, 1), (-4, 4), xycoords="axes fraction", **beside, **style)
    rows = pd.Series([place.records for place in places])
    for records, of in rows.groupby(rows, sort=False):
        first, last = of.index[[0, -1]]
        style = {"ha": "center", "va": "center", "rotation": 90 if last - first >= 2 else 0}
        at, sides = (0, (first + last) / 2), ("axes fraction", "data")
        ax.annotate(whole(records), at, (-48, 0), xycoords=sides, **beside, **style)


def _row(row: dict, figure: Heatmap, stores: dict[str, draw.Look], norm: colors.Normalize) -> dict:
    records_, operations = (whole(row[name]) for name in ("records", "operations"))
    names = ["workload", "store", *SIZES, "value", "low", "high", "n", "note"]
    label = ink = ""
    if not pd.isna(row["value"]):
        label = rate(row["value"])
        # Black or white, whichever is readable on the cell's colour, as in print.
        ink = INKS[0 if _is_light(plt.get_cmap(COLORS)(norm(row["value"]))) else 1]
    return chart.plain(row, names) | {
        "place": f"{records_}, {operations}",
        "title": stores[row["store"]].title,
        "size": ", ".join(amount(size, row[size]) for size in SIZES),
        **chart.value_texts(row, figure.metric, row["unit"]),
        "runs": chart.runs(row["n"]) if row["n"] else "",
        "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
        "label": label,
        "ink": ink,
    }


def _is_light(color: tuple[float, ...]) -> bool:
    return np.dot(color[:3], [0.299, 0.587, 0.114]) > 0.5


def _layers(
    places: list[str], threads: list[float], norm: colors.Normalize, name: str
) -> list[alt.Chart]:
    x = alt.X("threads:O", sort=threads, title=_("Client threads"))
    y = alt.Y("place:O", sort=places, title=None).axis(ticks=False, domain=False)
    base = alt.Chart().encode(x=x.axis(labelAngle=0, ticks=False), y=y, **chart.texts(TEXTS))
    kind = "log" if isinstance(norm, colors.LogNorm) else "linear"
    scale = alt.Scale(scheme=COLORS, type=kind, domain=[norm.vmin, norm.vmax], nice=False)
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
