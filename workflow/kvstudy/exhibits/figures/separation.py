"""The source's mean latencies against those measured here, with what would make them one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.texts import exact
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.layout import plot
from kvstudy.layout.looks import DARK, DASHED, DOTTED, SOLID, Style, StyleSheet
from kvstudy.layout.numbers import latency, significant
from kvstudy.libraries import np, pd
from kvstudy.stats.latency_models import FEWEST_MEANS, Difference

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

KEYS = ["workload", "parameters", "store", "operation"]
NUMBERS = ["round_trips", "published", "measured", "factor", "constant"]
TEXTS = {"published_text": N_("Published"), "measured_text": N_("Measured")}
TEXTS |= {"requests": N_("Round trips")}
# Of the factor, and of the constant once, twice and so on.
FACTOR, TIMES = DASHED, (SOLID, DOTTED)
# Room next to the smallest and the largest value, and points of a curve.
ROOM, POINTS = 1.2, 60


class SeparationPlot(DrawnFigure):
    """Published means against measured ones; in the report of a source with mean latencies."""

    in_template = True
    by_itself = True
    probes = True
    texts = TEXTS
    own_caption = N_("Published against measured mean latencies")

    kind: Literal["separation"] = Field(description="Published means against measured ones.")

    def rows(self, run: Run) -> pd.DataFrame:
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

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """Points by store, hollow for several round trips, and the lines of the models."""
        titles = {
            "measured": _("Measured mean latency (µs)"),
            "published": _("Published mean latency (µs)"),
        }
        x, y = (
            plot.axis(name, title, table[name].min() / ROOM, table[name].max() * ROOM, log=True)
            for name, title in titles.items()
        )
        rows = table.assign(
            name=table["store"].map(styles.titles),
            single=table["round_trips"] <= 1,
            several=table["round_trips"] > 1,
        )
        models, at = _models(table), np.geomspace(x.low, x.high, POINTS)
        lines = pd.concat(
            pd.DataFrame({"name": look.title, "measured": at, "published": factor * at + added})
            for look, (factor, added) in models
        )
        lines = lines[lines["published"] > 0]
        legend = [*styles.legend(table, "marker"), *(look for look, _line in models)]
        layers = [
            plot.Line(width=1, rows=lines),
            plot.Points(size=4.5, where="single", hover=True),
            plot.Points(size=4.5, where="several", hover=True, hollow=True),
        ]
        words = _("Points: published by measured mean latency, by store, with the models.")
        several = rows["several"].any()
        hollow = Style(_("more than one round trip"), DARK, marker="o", hollow=True)
        return plot.Plot(
            [plot.Panel("", rows, x, y, layers, legend, words, 320)],
            legend,
            _("Hollow: operations with more than one round trip.") if several else "",
            [hollow] if several else [],
            across=1,
            each=2.2,
        )

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        use, operation = styles.study.workload(row["workload"]), sentence(row["operation"])
        return {
            "title": f"{row['name']}, {use.title}: {operation}",
            "published_text": exact("latency_mean", row["published"], "us"),
            "measured_text": exact("latency_mean", row["measured"], "us"),
            "requests": f"{row['round_trips']:.0f}",
        }


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
        lines.append((Style(title, DARK, line=line), (1.0, times * constant)))
    return lines
