"""The source's mean latencies against those measured here, with what would make them one."""

from __future__ import annotations

import json
import math
from typing import Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import latency, significant
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, np, pd, plt
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.stats.latency_models import FEWEST_MEANS, Difference

KEYS = ["workload", "parameters", "store", "operation"]
NUMBERS = ["round_trips", "published", "measured", "factor", "constant"]
TEXTS = {"published_text": N_("Published"), "measured_text": N_("Measured")}
TEXTS |= {"requests": N_("Round trips")}
# Of the factor, and of the constant once, twice and so on.
FACTOR, TIMES = "--", ("-", ":")
# Room next to the smallest and the largest value, and points of a curve.
ROOM, POINTS = 1.2, 60


class SeparationPlot(DrawnFigure):
    """Published means against measured ones; in the report of a source with mean latencies."""

    in_template = True
    by_itself = True
    probes = True
    texts = TEXTS
    fields = ("store", "workload", "operation", *NUMBERS)
    across = 1
    own_caption = N_("Published against measured mean latencies")

    kind: Literal["separation"] = Field(description="Published means against measured ones.")

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per published mean latency (us), with the ``measured`` one.

        The same in all rows: the ``factor`` between them; and the ``constant`` (us) between them,
        once per operation or once for each of its ``round_trips``: the ``difference`` that errs
        less.
        """
        table = run.analysis.separation
        models = run.analysis.separation_models.set_index("model")
        constants = models.index[models.index != Difference.FACTOR]
        rows = table[[*KEYS, *NUMBERS[:3]]].assign(factor=math.nan, constant=math.nan)
        if len(table):
            of = models["constant"]
            rows = rows.assign(factor=of[Difference.FACTOR.value], constant=of[constants[0]])
        return rows.assign(difference=constants[0] if len(constants) else "")

    def nothing(self, table: pd.DataFrame) -> str:
        few = _("the source has fewer than {} mean latencies with a known number of round trips")
        return few.format(FEWEST_MEANS) if table.empty else ""

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        words = _("Points: published by measured mean latency, by store, with the models.")
        return [Panel("", table.assign(name=table["store"].map(looks.titles)), words, 320)]

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        return [*looks.legend(table, "marker"), *(look for look, _line in _models(table))]

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        several = (table["round_trips"] > 1).any()
        return _("Hollow: operations with more than one round trip.") if several else ""

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        figure, ax = plt.subplots(figsize=(draw.TEXT_WIDTH, 2.7), layout="constrained")
        ax.set(xscale="log", yscale="log")
        (panel,) = self.panels(table, looks)
        legend = looks.legend(table, "marker")
        for look, rows in draw.by_style(panel.rows, legend):
            for several, mine in rows.groupby(rows["round_trips"] > 1):
                face = {"markerfacecolor": "white" if several else look.color}
                style = look.style(markersize=4.5, **face)
                ax.plot(mine["measured"], mine["published"], **style, zorder=3)
        sides = {name: _domain(table[name]) for name in ("measured", "published")}
        at = np.geomspace(*sides["measured"], POINTS)
        handles = [look.handle(markersize=4.5) for look in legend]
        for look, (factor, added) in _models(table):
            values = factor * at + added
            ax.plot(at[values > 0], values[values > 0], **look.style(linewidth=1))
            handles.append(look.handle(linewidth=1))
        if self.note(table, looks):
            hollow = Style(_("more than one round trip"), draw.DARK, marker="o", hollow=True)
            handles.append(hollow.handle(markersize=4.5))
        for axis, name in ((ax.xaxis, "measured"), (ax.yaxis, "published")):
            draw.number_axis(axis)
            ax.set(**{f"{axis.axis_name}lim": sides[name]})
            axis.set_ticks(draw.round_numbers(*sides[name]), minor=False)
        ax.tick_params(which="minor", length=0)
        ax.tick_params(axis="x", length=3)
        ax.grid(axis="both", visible=True)
        ax.set_xlabel(_side_title("measured"))
        ax.set_ylabel(_side_title("published"))
        draw.legend(figure, handles)
        return figure

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        use, operation = looks.study.workload(row["workload"]), sentence(row["operation"])
        return {
            "name": row["name"],
            "title": f"{row['name']}, {use.title}: {operation}",
            "published_text": chart.exact("latency_mean", row["published"], "us"),
            "measured_text": chart.exact("latency_mean", row["measured"], "us"),
            "requests": f"{row['round_trips']:.0f}",
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        legend, ends = self.legend(table, looks), _domain(table["measured"])
        sides = {
            name: chart.log_side(_side_title(name), *_domain(table[name]))
            for name in ("measured", "published")
        }
        base = alt.Chart().encode(
            x=alt.X("measured:Q", **sides["measured"]),
            y=alt.Y("published:Q", **sides["published"]),
            **chart.by_legend(legend, "color"),
        )
        low, high = map(math.log, ends)
        lines = [
            base.transform_aggregate(means="count()")
            .transform_calculate(at=f"sequence({low}, {high}, {(high - low) / POINTS})")
            .transform_flatten(["at"])
            .transform_calculate(
                measured="exp(datum.at)",
                published=f"exp(datum.at) * {factor} + {added}",
                name=json.dumps(look.title, ensure_ascii=False),
            )
            .transform_filter("datum.published > 0")
            .mark_line(strokeWidth=1.4, clip=True, aria=False, strokeDash=chart.dash(look.line))
            for look, (factor, added) in _models(table)
        ]
        points = base.encode(
            **chart.by_legend(looks.legend(table, "marker"), "shape"), **chart.texts(self.texts)
        )
        return [
            *lines,
            *(
                points.transform_filter(f"datum.round_trips {several} 1").mark_point(
                    filled=filled, size=60, opacity=1
                )
                for several, filled in (("<=", True), (">", False))
            ),
        ]


def _models(table: pd.DataFrame) -> list[tuple[Style, tuple[float, float]]]:
    """The lines, each with the factor of the measured mean and the time (us) added to it."""
    if table.empty:
        return []
    row = table.iloc[0]
    constant = row["constant"]
    by = _("{} times measured").format(significant(row["factor"]))
    lines = [(Style(by, "0.5", line=FACTOR), (row["factor"], 0.0))]
    most = 1
    if row["difference"] == Difference.ROUND_TRIP:
        most = int(table["round_trips"].max())
    plus = _("measured, less {}") if constant < 0 else _("measured + {}")
    for times in range(1, most + 1):
        time = latency(abs(constant))
        title = plus.format(time if times == 1 else _("{} times {}").format(times, time))
        line = TIMES[min(times, len(TIMES)) - 1]
        lines.append((Style(title, draw.DARK, line=line), (1.0, times * constant)))
    return lines


def _side_title(name: str) -> str:
    if name == "published":
        return _("Published mean latency (µs)")
    return _("Measured mean latency (µs)")


def _domain(values: pd.Series) -> tuple[float, float]:
    """The ends of the axis of these values."""
    return float(values.min() / ROOM), float(values.max() * ROOM)
