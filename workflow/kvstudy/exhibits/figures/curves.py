"""Throughput and latencies over one size: threads, records or operations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.texts import (
    mark_entries,
    mark_notes,
    mark_texts,
    marks_of,
    means_of_runs,
    runs,
    value_texts,
)
from kvstudy.language.current import N_, ORIGINAL, _, using
from kvstudy.language.reasons import sentence
from kvstudy.layout import plot
from kvstudy.layout.looks import DARK, LINES, MARKERS, Style, StyleSheet
from kvstudy.layout.numbers import amount, sign
from kvstudy.libraries import pd, sns
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
from kvstudy.study.units import converted

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.swept import Swept

# What an axis is given in.
UNITS = {"ops/s": "kops/s", "ms": "s", "us": "ms"}
PALETTE = "colorblind"
TEXTS = {"exact": N_("Value"), "size": N_("Size"), "range": N_("Range")}
TEXTS |= {"runs": N_("Mean of"), "saturation": N_("Saturation"), "note": N_("Note")}


class Curves(DrawnFigure):
    """Lines over a size: a panel for each metric, and one for published throughput."""

    in_template = True
    cells = "every size"
    texts = TEXTS

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

    def rows(self, run: Run) -> pd.DataFrame:
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

    def published_rows(self, run: Run) -> pd.DataFrame:
        rows = self.rows(run)
        return rows[rows["side"] == PUBLISHED]

    def nothing(self, table: pd.DataFrame) -> str:
        return "" if table["value"].notna().any() else _("nothing was measured")

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """A panel for each metric, published values behind the measured; lines with their range."""
        of_line, panels = self._looks(styles), []
        table = table.dropna(subset="value")
        legend = [of_line[line] for line in sorted(table["line"].unique())]
        table = table.assign(
            name=[of_line[line].title for line in table["line"]],
            place=table["metric"].map(self.metrics.index),
            several=table["n"] > 1,
            saturates=table["saturated"] == "yes",
            mark=mark_texts(table),
            made_of=means_of_runs(table),
        )
        ring = Style(_("saturated from here"), DARK, marker="o", hollow=True)
        layers = [
            plot.Area("low", "high", 0.15, where="several"),
            plot.Points(size=9, where="saturates", look=ring),
            plot.Line(),
            plot.Points(size=3.5, hover=True),
            plot.Label("mark", dx=4, dy=1, align="left"),
        ]
        words = _("Line chart. {}, in {}, over {}.")
        table = table.sort_values(["place", "side"], kind="stable")
        for _panel, rows in table.groupby("panel", sort=False):
            title, unit = panel_title(rows.iloc[0], styles.study), sign(rows["unit"].iloc[0])
            x = plot.size_axis(self.over, _(SIZE_TITLES[self.over]), rows[self.over])
            y = plot.axis("value", unit, 0, 1.05 * rows[["value", "high"]].max(axis=None) or 1)
            said = words.format(title, unit, sentence(self.over))
            panels.append(plot.Panel(title, rows, x, y, layers, legend, said))
        rings = table["saturates"].any()
        saturated = _("Ring: throughput is saturated from this point on.") if rings else ""
        note = " ".join(filter(None, [saturated, *mark_notes(table)]))
        return plot.Plot(panels, legend, note, [ring] * bool(rings) + mark_entries(table))

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        return {
            "title": f"{row['name']}, {amount(self.over, row[self.over])}",
            "size": ", ".join(amount(size, row[size]) for size in SIZES),
            **value_texts(row, row["metric"], row["unit"]),
            "runs": runs(row["n"]) if row["side"] == MEASURED else "",
            "saturation": _("from this point on") if row["saturates"] else "",
            "note": "; ".join(marks_of(row).values()),
        }

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
                marker = MARKERS[workload % len(MARKERS)]
                look, kind = replace(look, color=palette[workload], marker=marker), line.fixed
            style = LINES[styles.setdefault(kind, len(styles)) % len(LINES)]
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
