"""Throughput and latencies over one size: threads, records or operations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from kvstudy.analyse.tidy.numbers import MARK, amount, converted, sign
from kvstudy.language.current import N_, ORIGINAL, _, using
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, lines, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.present.drawing.marks import mark_handles, mark_notes, marks_of
from kvstudy.study import combinations
from kvstudy.study.base import (
    ALL,
    MEASURED,
    PUBLISHED,
    SIZE_TITLES,
    SIZES,
    Metric,
    Name,
    Size,
    Sizes,
)
from kvstudy.study.combinations import Series
from kvstudy.study.exhibits import check_lines
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study

if TYPE_CHECKING:
    from kvstudy.analyse.tidy.swept import Swept

# What an axis is given in.
UNITS = {"ops/s": "kops/s", "ms": "s", "us": "ms"}
PALETTE = "colorblind"
# Values of a size that differ by more are drawn at equal steps of their logarithm.
WIDE = 20
RING = {"linestyle": "none", "marker": "o", "markersize": 9}
RING |= {"markerfacecolor": "none", "markeredgecolor": draw.DARK, "markeredgewidth": 0.8}
TEXTS = {"exact": N_("Value"), "size": N_("Size"), "range": N_("Range")}
TEXTS |= {"runs": N_("Mean of"), "saturation": N_("Saturation"), "note": N_("Note")}


class Curves(DrawnFigure):
    """Lines over a size: a panel for each metric, and one for published throughput."""

    in_template = True
    cells = "every size"
    texts = TEXTS
    fields = ("store", "workload", "value", "low", "high", "n", "name", "saturated")

    kind: Literal["curves"] = Field(
        description="Throughput and latencies over threads, records or operations."
    )
    over: Size = Field(description="The size on the x axis.")
    workloads: list[Name] = Field(min_length=1, description="A line for each.")
    stores: list[Name] = Field(default=[], description="Default: all of the study.")
    where: Sizes = Field(
        default=Sizes(),
        description="The other sizes; a list makes a line for each. Default: the shown sizes.",
    )
    metrics: list[Metric] = Field(
        default=["throughput"],
        min_length=1,
        description="throughput, runtime, and latencies of single operations.",
    )
    operations: Literal["each", "together"] = Field(
        default="each",
        description="For latencies. each: a panel for each kind of operation. together: one "
        "panel with the mean over operations of all kinds.",
    )
    saturation: bool = Field(
        default=False,
        description="Mark the fewest threads with at least 95 % of the maximum throughput.",
    )

    @model_validator(mode="after")
    def _fits(self) -> Curves:
        latencies = [metric for metric in self.metrics if metric.startswith("latency")]
        if self.operations == "together" and latencies != ["latency_mean"]:
            raise ValueError(
                "operations: together needs latency_mean among the metrics and no other latency, "
                "whose value for all operations together is not recorded"
            )
        return self

    def check(self, study: Study, path: Path, key: str) -> None:
        """Raise KvstudyError for names that the study does not have, or a line without cells."""
        super().check(study, path, key)
        check_lines(self, study, path, key)

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per point and panel: the columns of ``Swept.along``, line, panel, saturated.

        Values are in the unit of the axis. ``line`` numbers the lines from 0. ``saturated``
        is yes at the point from which on throughput is within 5 % of the line's largest
        (``stats.laws.saturation``), else no.
        """
        from kvstudy.stats.laws import saturation

        table = pd.concat(
            [
                run.swept.along(line, operation, metric).assign(line=index)
                for index, line in enumerate(_lines(self, run.study))
                for metric in self.metrics
                for operation in _operations(self, metric, line.workload, run.swept)
            ],
            ignore_index=True,
        )
        with using(ORIGINAL):
            table["panel"] = [panel_title(row, run.study) for row in table.itertuples()]
        table["saturated"] = "no"
        speeds = table[(table["metric"] == "throughput") & self.saturation].dropna(subset="value")
        for _key, mine in speeds.groupby(["line", "side"]):
            if mine[self.over].nunique() > 1:
                point = saturation(mine[self.over].tolist(), mine["value"].tolist())
                table.loc[mine.index[mine[self.over] == point], "saturated"] = "yes"
        units = table["unit"].replace(UNITS)
        pairs = zip(table["unit"], units, strict=True)
        factors = [converted(1, from_unit, unit) if from_unit else 1 for from_unit, unit in pairs]
        numbers = table[["value", "low", "high"]].mul(factors, axis=0)
        return table.assign(**numbers, unit=units)

    def published_rows(self, run: draw.Run) -> pd.DataFrame:
        rows = self.rows(run)
        return rows[rows["side"] == PUBLISHED]

    def nothing(self, table: pd.DataFrame) -> str:
        return "" if table["value"].notna().any() else _("nothing was measured")

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """Return the panels with values, metric by metric, published values behind the measured."""
        table = table.dropna(subset="value")
        names = [look.title for look in self._looks(looks)]
        table = table.assign(
            name=[names[line] for line in table["line"]],
            place=table["metric"].map(self.metrics.index),
        )
        words = _("Line chart. {}, in {}, over {}.")
        panels = []
        table = table.sort_values(["place", "side"], kind="stable")
        for _panel, rows in table.groupby("panel", sort=False):
            title, unit = panel_title(rows.iloc[0], looks.study), sign(rows["unit"].iloc[0])
            panels.append(Panel(title, rows, words.format(title, unit, sentence(self.over))))
        return panels

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        """The lines with values."""
        of_line = self._looks(looks)
        return [of_line[line] for line in sorted(table.dropna(subset="value")["line"].unique())]

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        rings = (table["saturated"] == "yes").any()
        saturated = _("Ring: throughput is saturated from this point on.") if rings else ""
        return " ".join(filter(None, [saturated, *mark_notes(table)]))

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """A panel for each metric and side; lines with the range of their runs."""
        panels, legend = self.panels(table, looks), self.legend(table, looks)
        drawing, axes = draw.grid(len(panels), 2, 0.5, 1.75)
        for ax, panel in zip(axes.flat, panels, strict=False):
            _draw_panel(ax, panel.rows, self.over, legend)
            ax.set_title(panel.title, loc="left", pad=5)
        sns.despine(drawing)
        handles = [look.handle(markersize=3.5) for look in legend]
        if (table["saturated"] == "yes").any():
            handles.append(lines.Line2D([], [], label=_("saturated from here"), **RING))
        handles += mark_handles(table)
        draw.legend(drawing, handles)
        return drawing

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        marks = marks_of(row)
        return {
            self.over: row[self.over],
            "title": f"{row['name']}, {amount(self.over, row[self.over])}",
            "size": ", ".join(amount(size, row[size]) for size in SIZES),
            **chart.value_texts(row, row["metric"], row["unit"]),
            "runs": chart.runs(row["n"]) if row["side"] == MEASURED else "",
            "saturation": _("from this point on") if row["saturated"] == "yes" else "",
            "mark": "".join(marks),
            "note": "; ".join(marks.values()),
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        values, legend = sorted(rows[self.over].unique().tolist()), self.legend(table, looks)
        kind = "log" if _is_wide(values) else "linear"
        x = chart.sizes(self.over, _(SIZE_TITLES[self.over]), values, kind)
        top = 1.05 * float(rows[["value", "high"]].max(axis=None)) or 1
        y = {"title": sign(rows["unit"].iloc[0]), "scale": alt.Scale(domain=[0, top])}
        lines = alt.Chart().encode(x=x, y=alt.Y("value:Q", **y))
        points = lines.encode(**chart.texts(self.texts))
        return [
            lines.transform_filter("datum.n > 1")
            .mark_area(opacity=0.15, aria=False)
            .encode(y=alt.Y("low:Q", **y), y2="high:Q", **chart.by_legend(legend, "color")),
            lines.mark_line(strokeWidth=1.6, aria=False).encode(
                **chart.by_legend(legend, "color", "strokeDash")
            ),
            points.transform_filter("datum.saturated === 'yes'").mark_point(
                filled=False, size=200, style="kv-ink", aria=False
            ),
            points.mark_point(filled=True, opacity=1, size=40).encode(
                **chart.by_legend(legend, "color", "shape")
            ),
            points.transform_filter("datum.mark !== ''")
            .mark_text(style="kv-text", aria=False, dx=6, dy=-6)
            .encode(text="mark:N"),
        ]

    def _looks(self, looks: StyleSheet) -> list[Style]:
        """Return the style of each line.

        The colour is the store's; where there is one store, the workload's. What else tells
        lines apart is their style.
        """
        of_figure = _lines(self, looks.study)
        one_store = len({line.store for line in of_figure}) == 1
        palette = sns.color_palette(PALETTE, len(self.workloads)).as_hex()
        styles: dict[object, int] = {}
        line_styles = []
        for line in of_figure:
            look, workload = looks.stores[line.store], self.workloads.index(line.workload)
            kind = (line.fixed, line.workload)
            if one_store:
                marker = draw.MARKERS[workload % len(draw.MARKERS)]
                look, kind = replace(look, color=palette[workload], marker=marker), line.fixed
            style = draw.LINES[styles.setdefault(kind, len(styles)) % len(draw.LINES)]
            title = _label(line, of_figure, looks)
            line_styles.append(replace(look, title=title, hatch=None, line=style))
        return line_styles


def _lines(figure: Curves, study: Study) -> list[Series]:
    stores = figure.stores or study.store_names
    return combinations.series_of(study, figure.over, figure.where, figure.workloads, stores)


def _operations(figure: Curves, metric: str, workload: str, swept: Swept) -> list[str]:
    if not metric.startswith("latency"):
        return ["overall"]
    return [ALL] if figure.operations == "together" else swept.operations(workload)


def panel_title(row, study: Study) -> str:
    """Return the title of the panel of a ``row``; its ``panel`` is the same in English."""
    name = _(METRICS[row.metric].short)
    latency = row.metric.startswith("latency")
    if latency:
        of = _("all operations") if row.operation == ALL else sentence(row.operation)
        name = _("Latency of {}, {}").format(of, name.lower())
    # Whose it is is in the caption: half the width of a page has no room for it.
    if row.side == PUBLISHED:
        return _("{}, published").format(name)
    # Latencies are rarely published; where they are, the other title says so.
    if latency:
        return name
    return (_("{}, imported") if study.imported else _("{}, measured")).format(name)


def _is_wide(sizes: list[int]) -> bool:
    return sizes[0] > 0 and sizes[-1] / sizes[0] > WIDE


def _label(line: Series, of_figure: list[Series], looks: StyleSheet) -> str:
    parts = []
    if len({other.store for other in of_figure}) > 1 or len(of_figure) == 1:
        parts.append(looks.titles[line.store])
    if len({other.workload for other in of_figure}) > 1:
        parts.append(looks.study.workload(line.workload).short)
    same_workload = [other for other in of_figure if other.workload == line.workload]
    for place, (size, number) in enumerate(line.fixed):
        if len({other.fixed[place] for other in same_workload}) > 1:
            parts.append(amount(size, number))
    return ", ".join(parts)


def _draw_panel(ax: plt.Axes, table: pd.DataFrame, over: str, legend: list[Style]) -> None:
    for look, of_line in draw.by_style(table, legend):
        rows = of_line.sort_values(over)
        if (rows["n"] > 1).any():
            ends = (rows["low"], rows["high"])
            ax.fill_between(rows[over], *ends, color=look.color, alpha=0.15, linewidth=0)
        ax.plot(rows[over], rows["value"], **look.style(markersize=3.5, linewidth=1.1))
        at = rows[rows["saturated"] == "yes"]
        ax.plot(at[over], at["value"], **RING)
        for row in rows[rows["inconsistent"] == "yes"].itertuples():
            place = (getattr(row, over), row.value)
            ax.annotate(
                MARK, place, (4, 1), textcoords="offset points", color=draw.DARK, fontsize=8
            )
    values = sorted(table[over].unique())
    if _is_wide(values):
        ax.set_xscale("log")
    draw.number_axis(ax.xaxis, ticker.FixedLocator(values), ".0f")
    ax.minorticks_off()
    ax.set_ylim(0, None)
    draw.number_axis(ax.yaxis)
    ax.set(xlabel=_(SIZE_TITLES[over]), ylabel=sign(table["unit"].iloc[0]))
