"""Cost of one write and its reads with and without a cache."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kvstudy.analyse.findings.break_even import Costs, costs_of
from kvstudy.analyse.findings.published_costs import printed, published_costs
from kvstudy.analyse.findings.rounds import Times
from kvstudy.analyse.tidy.numbers import grouped, significant
from kvstudy.analyse.tidy.swept import MEASURED, PUBLISHED
from kvstudy.language.current import _, ngettext
from kvstudy.present.figures.draw import DARK, TEXT_WIDTH
from kvstudy.study.relative import BreakEvenPlot

COLUMNS = ["panel", "records", "reads", "without", "cached", "crossing", "low", "high"]
# Reads per write that are drawn, at least and at most; more than fit the crossing.
FEWEST, MOST, BEYOND = 6, 200, 2
WITHOUT, CACHED = "#e69f00", "#0072b2"


def break_even_table(
    figure: BreakEvenPlot, found: pd.DataFrame, published: pd.DataFrame | None
) -> pd.DataFrame:
    """One row per panel (published, measured) and number of reads after one write.

    ``without`` and ``cached`` are the costs of the write and the reads in us. The crossing
    (reads per write) with its 95 % interval low to high is the same in all rows of a panel;
    NaN where there is none, or where it is not known.
    """
    times = Times(found, figure.workload)
    pair = (figure.database, figure.cache)
    fits = [number for number in times.records if number <= figure.records]
    records = max(fits) if fits else min(times.records, default=figure.records)
    panels: list[tuple[str, int, Costs | None]] = [
        (PUBLISHED, of, published_costs(published, figure.workload, *pair, of, "runtime"))
        for of in printed(published, figure.workload, *pair)
    ]
    panels.append((MEASURED, records, costs_of(times, *pair, records)))
    rows = []
    for panel, of, costs in panels:
        if costs is None:
            continue
        crossing = costs.crossing()
        numbers = [crossing.value, crossing.low, crossing.high] if crossing else [None] * 3
        end = MOST if crossing is None else math.ceil(BEYOND * crossing.value)
        for reads in range(1, min(max(end, FEWEST), MOST) + 1):
            rows.append([panel, of, reads, costs.without(reads), costs.cached(reads), *numbers])
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[3:], float))


def draw_break_even(
    table: pd.DataFrame, figure: BreakEvenPlot, titles: dict[str, str], source: str
) -> Figure:
    """Draw ``break_even_table``, a panel each; ``source`` says who published."""
    panels = list(table.groupby("panel", sort=False))
    drawing, axes = plt.subplots(
        1, len(panels) or 1, figsize=(TEXT_WIDTH, 2.7), layout="constrained", squeeze=False
    )
    for ax, (panel, rows) in zip(axes.flat, panels, strict=False):
        title = panel_title(panel, rows["records"].iloc[0], source)
        ax.set_title(title, loc="left", pad=5, fontsize=7.5)
        _panel(ax, rows, titles[figure.database], titles[figure.cache])
    if not panels:
        axes[0, 0].text(0.5, 0.5, _("the times that it takes were not measured"), ha="center")
        return drawing
    drawing.supxlabel(_("Reads after each write"), fontsize=8)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="outside upper center", ncols=2, frameon=False)
    return drawing


def panel_title(panel: str, records: int, source: str) -> str:
    """Whose the costs of a panel are, and of how many records; ``source`` says who published."""
    whose = _("Measured here")
    if panel == PUBLISHED:
        whose = _("Published {}").format(source).strip()
    of = ngettext("{}: {} record", "{}: {} records", int(records))
    return of.format(whose, grouped(str(records)))


def line_names(database: str, cache: str) -> tuple[str, str]:
    """Of the line without a cache, and of the one with it."""
    alone, cached = _("{} alone"), _("{} with a cache of {}")
    return alone.format(database), cached.format(database, cache)


def _panel(ax: Axes, rows: pd.DataFrame, database: str, cache: str) -> None:
    """Costs in us or ms, and the crossing with its interval as a band."""
    scale, unit = (1e-3, "ms") if rows[["without", "cached"]].max(axis=None) > 2_000 else (1, "µs")
    alone, with_cache = line_names(database, cache)
    for column, color, label, line in (
        ("without", WITHOUT, alone, "--"),
        ("cached", CACHED, with_cache, "-"),
    ):
        marker = "o" if len(rows) < 20 else None
        ax.plot(
            *(rows["reads"], rows[column] * scale),
            color=color,
            linestyle=line,
            marker=marker,
            markersize=3,
            linewidth=1.2,
            label=label,
        )
    first = rows.iloc[0]
    low, high = rows["reads"].min(), rows["reads"].max()
    if not pd.isna(first["crossing"]):
        if not pd.isna(first["low"]):
            ax.axvspan(first["low"], min(first["high"], high), color="0.85", linewidth=0, zorder=0)
        ax.axvline(first["crossing"], color=DARK, linewidth=0.8, linestyle=":")
        ax.annotate(
            significant(first["crossing"]),
            (first["crossing"], 0.03),
            xycoords=("data", "axes fraction"),
            xytext=(3, 0),
            textcoords="offset points",
        )
    ax.set_xlim(low - 0.2, high + 0.2)
    ax.set_ylabel(_("Cost in {}").format(unit))
