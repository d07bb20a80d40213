"""A value of a workload at all of its sizes: a map for each store, all in one colour scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from kvstudy.analyse.tidy.files import SETTING
from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.texts import means_of_runs, runs, value_texts
from kvstudy.language.current import N_, _
from kvstudy.layout import plot
from kvstudy.layout.looks import DARK, NOTHING, Style, StyleSheet
from kvstudy.layout.numbers import amount, between, rate, sign, whole
from kvstudy.libraries import colors, np, pd, plt
from kvstudy.study.base import ALL, SIZES, Metric, Name, Operation, Unit, check_unit
from kvstudy.study.metrics import METRICS

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [*SETTING, *SIZES, "value", "low", "high", "unit", "n", "note"]
# Readable in grey print and by the colour-blind: from dark to light.
COLORS = "cividis"
# Inches: a cell with four characters of 7 points.
CELL_WIDTH, CELL_HEIGHT = 0.34, 0.19
# Values further apart than that need a logarithmic scale.
WIDE = 10
TEXTS = {"exact": N_("Value"), "size": N_("Size"), "range": N_("Range")}
TEXTS |= {"runs": N_("Mean of"), "cells": N_("Cells"), "note": N_("Note")}
# Pixels of the height of a cell.
HEIGHT = 26
# Of values on light and on dark colours; how light a colour's red, green and blue make it.
INKS, LUMA = ["#262626", "#ffffff"], [0.299, 0.587, 0.114]


class Heatmap(DrawnFigure):
    """A panel for each store: records and operations down, client threads across."""

    in_template = True
    cells = "every size"
    texts = TEXTS

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

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per cell of the maps, in the order of drawing.

        Planned sizes without a value are rows with a ``note`` that says why; ``low`` and
        ``high`` are the range of the ``n`` runs behind a value.
        """
        values = run.swept.values(self.metric, self._operation, self.unit)
        grid = run.swept.grid(self.workload).sort_values(list(SIZES))
        places = pd.DataFrame({"store": run.study.store_names}).merge(grid, how="cross")
        table = places.merge(values, how="left", on=SETTING)
        table["note"] = [
            run.swept.reason(*key) if pd.isna(n) else ""
            for n, *key in table[["n", *SETTING]].itertuples(index=False)
        ]
        return table.assign(unit=self.unit, n=table["n"].fillna(0).astype(int))[COLUMNS]

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """A map for each store; sizes that were planned and have no value are hatched."""
        scale = plot.ColorScale(f"{self._value_title}\n{_runs_words(table)}", _scale(table), COLORS)
        inks, fills = _colors(table["value"], scale.axis)
        measured = table["value"].notna()
        sizes = (table[name].map(whole) for name in ("records", "operations"))
        table = table.assign(
            name=table["store"].map(styles.titles),
            across=table["threads"].map(lambda count: f"{count:g}"),
            place=[", ".join(pair) for pair in zip(*sizes, strict=True)],
            measured=measured,
            made_of=means_of_runs(table.assign(operation=self._operation, metric=self.metric)),
            missing=~measured,
            ink=inks,
            fill=fills,
            label=["" if pd.isna(value) else rate(value) for value in table["value"]],
        )
        threads = table.sort_values("threads")["across"].unique()
        x = plot.Bands("across", _("Client threads"), (*threads,))
        y = plot.Bands("place", _("Records, operations"), (*table["place"].unique(),))
        layers = [
            plot.Bar(colors="fill", where="measured", look=Style("", DARK), hover=True),
            plot.Bar(where="missing", look=Style("", "white", hatch=NOTHING), hover=True),
            plot.Label("label", middle=True, size=7, inks="ink", hover=True),
        ]
        words = _("Heat map of {}: {} by records, operations and threads.")
        name, height = self._value_title, HEIGHT * len(y.texts)
        panels = [
            plot.Panel(title, rows, x, y, layers, [], words.format(title, name), height)
            for title, rows in table.groupby("name", sort=False)
        ]
        note = _("{}, {}. Rows: records, operations.")
        note = note.format(self._value_title, _runs_words(table))
        labels = 0.6 + 0.06 * max(map(len, y.texts)) + 0.7
        room = (plot.TEXT_WIDTH - labels) / (CELL_WIDTH * max(len(x.texts), 3) + 0.12)
        columns = max(1, min(len(panels), int(room)))
        lines = max(len(y.texts), 5 if len(panels) <= columns else 3)
        return plot.Plot(
            panels,
            note=note,
            keys=[] if measured.all() else [Style(_("no value"), "white", hatch=NOTHING)],
            across=3,
            columns=columns,
            first=0.6,
            each=0.45 + CELL_HEIGHT * lines,
            colors=scale,
        )

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        return {
            "title": row["name"],
            "size": ", ".join(amount(size, row[size]) for size in SIZES),
            **value_texts(row, self.metric, row["unit"]),
            "runs": runs(row["n"]) if row["n"] else "",
            "cells": f"{row['store']}/{row['workload']}/{row['parameters']}",
            "note": row["note"],
        }

    @property
    def _operation(self) -> str:
        whole = ALL if self.metric.startswith("latency") else "overall"
        return self.operation or whole

    @property
    def _value_title(self) -> str:
        return f"{_(METRICS[self.metric].title)} ({sign(self.unit)})"


def _runs_words(table: pd.DataFrame) -> str:
    counts = sorted({int(n) for n in table["n"] if n > 0})
    if counts in ([], [1]):
        return _("single runs")
    several = between(counts[0], counts[-1]) if len(counts) > 1 else counts[0]
    return _("means of {} runs").format(several)


def _scale(table: pd.DataFrame) -> plot.Axis:
    """The axis of the colour scale."""
    values = table["value"].dropna()
    low, high = (values.min(), values.max()) if len(values) else (0, 1)
    if low > 0 and high / low > WIDE:
        return plot.axis("value", "", low, high, log=True)
    return plot.axis("value", "", min(0, low) if low == high else low, high or 1)


def _colors(values: pd.Series, scale: plot.Axis) -> tuple[list[str], list[str]]:
    """Return the ink and the colour of each value; black or white ink, whichever is readable."""
    norm = (colors.LogNorm if scale.log else colors.Normalize)(scale.low, scale.high)
    fills = plt.get_cmap(COLORS)(norm(values.fillna(scale.low)))[:, :3]
    inks = [INKS[int(light <= 0.5)] for light in np.dot(fills, LUMA)]
    return inks, [colors.to_hex(fill) for fill in fills]
