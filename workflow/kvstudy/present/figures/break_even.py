"""Cost of one write and its reads with and without a cache."""

from __future__ import annotations

import math
from itertools import product
from typing import Annotated, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import between, grouped, significant
from kvstudy.language.current import N_, _, ngettext
from kvstudy.libraries import alt, pd, plt
from kvstudy.present.drawing import chart, draw
from kvstudy.study.base import MEASURED, PUBLISHED
from kvstudy.study.kinds import Caching

COLUMNS = ["panel", "records", "reads", "without", "cached", "crossing", "low", "high"]
# Reads per write that are drawn, at least and at most; more than fit the crossing.
FEWEST, MOST, BEYOND = 6, 200, 2
COSTS = {"exact": N_("Cost"), "crossing_text": N_("Pays off from")}
# More rows than that have no points of their own in print either.
FEW = 20


class BreakEvenPlot(Caching, draw.DrawnFigure):
    """Cost of a write and its reads with and without a cache."""

    cells = "every size"

    kind: Literal["break-even"] = Field(
        description="Cost of a write and its reads, with and without a cache."
    )
    records: Annotated[int, Field(gt=0)] = Field(
        description="Times are those with so many records, or with the next fewer measured."
    )

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per panel (published, measured) and number of reads after one write.

        ``without`` and ``cached`` are the costs of the write and the reads in us. The crossing
        (reads per write) with its 95 % interval low to high is the same in all rows of a panel;
        NaN where there is none, or where it is not known.
        """
        from kvstudy.analyse.findings.rounds import Times, costs_of, printed, published_costs

        times, source = Times(run.headline_analysis.rounds, self.workload), run.swept.published
        pair = (self.database, self.cache)
        of_source = (source, self.workload, *pair)
        fits = [number for number in times.records if number <= self.records]
        records = max(fits) if fits else min(times.records, default=self.records)
        panels: list[tuple] = [
            (PUBLISHED, of, published_costs(*of_source, of, "runtime"))
            for of in printed(*of_source)
        ]
        panels.append((MEASURED, records, costs_of(times, *pair, records)))
        rows = []
        for panel, of, costs in panels:
            if costs is None:
                continue
            crossing = costs.crossing()
            ends = [crossing.value, crossing.low, crossing.high] if crossing else [None] * 3
            end = MOST if crossing is None else math.ceil(BEYOND * crossing.value)
            for reads in range(1, min(max(end, FEWEST), MOST) + 1):
                row = [panel, of, reads, costs.without(reads), costs.cached(reads), *ends]
                rows.append(row)
        return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COLUMNS[3:], float))

    # Without measurements all of them are published.
    published_rows = rows

    def nothing(self, table: pd.DataFrame) -> str:
        return _("the times that it takes were not measured") if table.empty else ""

    def draw(self, table: pd.DataFrame, looks: draw.Looks) -> plt.Figure:
        panels, legend = self._panels(table, looks), self._legend(looks)
        drawing, axes = draw.grid(len(panels), len(panels), 2.7, 0)
        for ax, (title, rows) in zip(axes.flat, panels.items(), strict=False):
            ax.set_title(title, loc="left", pad=5, fontsize=7.5)
            _panel(ax, rows, legend)
        drawing.supxlabel(_("Reads after each write"), fontsize=8)
        handles, labels = axes[0, 0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside upper center", ncols=2)
        return drawing

    def chart(self, table: pd.DataFrame, looks: draw.Looks) -> chart.Chart:
        rows, panels, legend = [], [], self._legend(looks)
        for place, (title, mine) in enumerate(self._panels(table, looks).items()):
            for row, (side, look) in product(mine.to_dict("records"), legend.items()):
                rows.append(_row(row, self, side, look.title) | {"panel": place})
            text = _("Line chart of the cost of a write and its reads. {}.").format(title)
            panels.append(chart.Panel(_layers(mine, list(legend.values())), title, text))
        note = _("The dotted line is where the cache pays off.")
        if table["low"].notna().any():
            note = _("The dotted line is where the cache pays off, the band its 95 % interval.")
        note = note if table["crossing"].notna().any() else ""
        return chart.Chart(rows, panels, list(legend.values()), 2, note)

    def _legend(self, looks: draw.Looks) -> dict[str, draw.Look]:
        """The lines by the columns of their costs."""
        database, cache = looks.titles[self.database], looks.titles[self.cache]
        with_cache = _("{} with a cache of {}").format(database, cache)
        return {
            "without": draw.Look(_("{} alone").format(database), "#e69f00", line="--"),
            "cached": draw.Look(with_cache, "#0072b2", line="-"),
        }

    def _panels(self, table: pd.DataFrame, looks: draw.Looks) -> dict[str, pd.DataFrame]:
        """The rows of each panel by what stands above it."""
        whose = {MEASURED: _("Measured here"), PUBLISHED: looks.published}
        panels = {}
        for panel, rows in table.groupby("panel", sort=False):
            records = int(rows["records"].iloc[0])
            of = ngettext("{}: {} record", "{}: {} records", records)
            panels[of.format(whose[panel], grouped(str(records)))] = rows
        return panels


def _axis_unit(table: pd.DataFrame) -> tuple[float, str]:
    """What the axis of the costs is given in, and the factor to it from us."""
    return (1e-3, "ms") if table[["without", "cached"]].max(axis=None) > 2_000 else (1, "µs")


def _panel(ax: plt.Axes, rows: pd.DataFrame, legend: dict[str, draw.Look]) -> None:
    """Costs in us or ms, and the crossing with its interval as a band."""
    scale, unit = _axis_unit(rows)
    style = {"marker": "o" if len(rows) < FEW else None, "markersize": 3, "linewidth": 1.2}
    for column, look in legend.items():
        form = style | {"color": look.color, "linestyle": look.line, "label": look.title}
        ax.plot(rows["reads"], rows[column] * scale, **form)
    first = rows.iloc[0]
    low, high = rows["reads"].min(), rows["reads"].max()
    if math.isfinite(first["crossing"]):
        if math.isfinite(first["low"]):
            ax.axvspan(first["low"], min(first["high"], high), color="0.85", linewidth=0, zorder=0)
        ax.axvline(first["crossing"], color=draw.DARK, linewidth=0.8, linestyle=":")
        words, place = significant(first["crossing"]), (first["crossing"], 0.03)
        sides = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        ax.annotate(words, place, (3, 0), **sides)
    ax.set_xlim(low - 0.2, high + 0.2)
    ax.set_ylabel(_("Cost in {}").format(unit))


def _row(row: dict, figure: BreakEvenPlot, side: str, name: str) -> dict:
    crossing = ""
    if math.isfinite(row["crossing"]):
        crossing = _("{} reads per write").format(significant(row["crossing"]))
        if math.isfinite(row["low"]) and math.isfinite(row["high"]):
            crossing += f" ({between(significant(row['low']), significant(row['high']))})"
    return {
        "store": figure.database if side == "without" else figure.cache,
        "workload": figure.workload,
        "reads": row["reads"],
        "cost": float(row[side]),
        "name": name,
        "title": _("{}, {} reads after the write").format(name, f"{row['reads']:.0f}"),
        "exact": chart.exact("latency", row[side], "us"),
        "crossing_text": crossing,
    }


def _layers(table: pd.DataFrame, legend: list[draw.Look]) -> list[alt.Chart]:
    scale, unit = _axis_unit(table)
    low, high = int(table["reads"].min()), int(table["reads"].max())
    ends = (low - 0.2, high + 0.2)
    x = chart.linear(_("Reads after each write"), *ends, grid=False, tickMinStep=1, format="d")
    y = alt.Y("shown:Q", title=_("Cost in {}").format(unit), scale=alt.Scale(zero=False))
    base = (
        alt.Chart()
        .transform_calculate(shown=f"datum.cost * {scale}")
        .encode(x=alt.X("reads:Q", **x), y=y, **chart.by_legend(legend, "color"))
    )
    first = table.iloc[0]
    layers = []
    if math.isfinite(first["low"]):
        layers.append(chart.band(first["low"], min(first["high"], high), x, clip=True))
    if math.isfinite(first["crossing"]):
        at = alt.Chart().encode(x=alt.XDatum(first["crossing"], **x))
        layers.append(at.mark_rule(style="kv-ink", strokeDash=[2, 3], clip=True))
        words = at.mark_text(style="kv-text", align="left", dx=4, dy=-6, aria=False)
        value = alt.value(significant(first["crossing"]))
        layers.append(words.encode(y=alt.YValue("height"), text=value))
    return [
        *layers,
        base.mark_line(strokeWidth=1.6, aria=False).encode(**chart.by_legend(legend, "strokeDash")),
        base.mark_point(filled=True, opacity=1 if len(table) < FEW else 0, size=36).encode(
            **chart.texts(COSTS)
        ),
    ]
