"""Figures of workloads with rounds: relative performance, and the break-even point of a cache."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import amount, between, grouped, significant
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, pd, plt
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Panel, Style, StyleSheet
from kvstudy.study.base import MEASURED, PUBLISHED
from kvstudy.study.exhibits import Caching, OfRound, TwoStores

RATIOS = ["operation", "origin", "records", "ratio", "low", "high"]
ORIGINS = {MEASURED: N_("measured"), PUBLISHED: N_("published")}
STYLES = {MEASURED: "-", PUBLISHED: "--"}
# Colour and marker of each line; apart from those of the stores.
LOOKS = [("#0072b2", "o"), ("#d55e00", "s"), ("0.35", "^")]
RATIO_TEXTS = {"exact": N_("Ratio"), "interval": N_("95 % interval")}
# Costs without and with the cache.
SIDES = ["without", "cached"]
COSTS = ["panel", "records", "reads", *SIDES, "crossing", "low", "high"]
# Reads per write that are drawn, at least and at most; more than fit the crossing.
FEWEST, MOST, BEYOND = 6, 200, 2
COST_TEXTS = {"exact": N_("Cost"), "crossing_text": N_("Pays off from")}
# Lines of so many reads or more have no points of their own.
FEW = 20
# Room next to the first and the last number of reads.
EDGE = 0.2


class RelativePlot(TwoStores, DrawnFigure):
    """Relative performance over the number of records."""

    in_template = True
    cells = "every size"
    texts = RATIO_TEXTS
    fields = ("origin", "records", "ratio", "low", "high", "name")

    kind: Literal["relative"] = Field(description="Relative performance over the records.")
    operations: Annotated[list[OfRound], Field(min_length=1)] = Field(
        description="The operations of the rounds, a line for each."
    )

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per operation, origin (measured, published) and number of records.

        ``ratio`` is the baseline's time by the store's, ``low`` to ``high`` its 95 % interval (NaN
        where it is not known).
        """
        from kvstudy.analyse.findings.rounds import Times
        from kvstudy.analyse.findings.spread import level_of
        from kvstudy.analyse.tidy.results import over_records

        times = Times(run.headline_analysis.rounds, self.workload, level_of(run.study))
        source = over_records(run.swept.published, self.workload)
        pair = f"{self.store}/{self.baseline}"
        rows = []
        for operation in self.operations:
            for count in times.records:
                ratio = times.relative(self.baseline, self.store, count, operation)
                if ratio is not None:
                    rows.append([operation, MEASURED, count, ratio.value, ratio.low, ratio.high])
            for (store, of, metric, count), (value, _unit) in sorted(source.items()):
                key = (store, of, metric)
                if key == (pair, operation, "relative_performance") and not pd.isna(value):
                    rows.append([operation, PUBLISHED, count, value, None, None])
        return pd.DataFrame(rows, columns=RATIOS).astype({"low": float, "high": float})

    # Without measurements all of them are published.
    published_rows = rows

    def nothing(self, table: pd.DataFrame) -> str:
        return "" if table["ratio"].notna().any() else _("nothing was measured")

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        rows = table.dropna(subset="ratio")
        names = map(_line_name, rows["operation"], rows["origin"])
        title = f"{looks.titles[self.baseline]}:{looks.titles[self.store]} = 1:…"
        words = _("Line chart of the relative performance, {}, over records.").format(title)
        return [Panel(title, rows.assign(name=list(names)), words)]

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        """The lines: published values are hollow points on dashed lines."""
        (panel,) = self.panels(table, looks)
        lines = [
            Style(
                _line_name(operation, origin), color, marker=marker, line=line, hollow=line != "-"
            )
            for operation, (color, marker) in zip(self.operations, LOOKS, strict=False)
            for origin, line in STYLES.items()
        ]
        return [look for look in lines if look.title in set(panel.rows["name"])]

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        if not table["low"].notna().any():
            return ""
        open_ended = ((table["low"] <= 0) | (table["high"] == math.inf)).any()
        text = _("The bar through a point is its 95 % interval.")
        return text + " " + _("Arrow: unbounded.") if open_ended else text

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        """A line per operation, with an interval at each point."""
        drawing, ax = plt.subplots(figsize=(draw.TEXT_WIDTH, 2.8), layout="constrained")
        ax.set(xscale="log", yscale="log")
        ax.axhline(1, color="0.4", linewidth=0.6)
        (panel,) = self.panels(table, looks)
        low, high = _ratio_ends(table)
        for number, (look, rows) in enumerate(draw.by_style(panel.rows, self.legend(table, looks))):
            style = look.style(markersize=4, linewidth=0.8 if look.hollow else 1.2)
            ax.plot(rows["records"], rows["ratio"], **style)
            known = rows.dropna(subset=["low", "high"])
            # Beside each other, where two are at the same place.
            at = known["records"] * (1 + 0.06 * number)
            ends = known["low"].clip(low), known["high"].clip(upper=high)
            ax.vlines(at, *ends, color=look.color, linewidth=1.2, alpha=0.6)
            for beyond, place, arrow in (
                (known["low"] < low, low, "v"),
                (known["high"] > high, high, "^"),
            ):
                ax.plot(at[beyond], [place] * beyond.sum(), arrow, color=look.color, markersize=4)
        ax.set_ylim(low, high)
        ax.set_xlabel(_("Records"))
        ax.set_ylabel(panel.title)
        draw.number_axis(ax.xaxis, form=".0f")
        draw.number_axis(ax.yaxis, written=decimal)
        ax.set_yticks(draw.round_numbers(low, high))
        ax.grid(axis="x", visible=False)
        ax.tick_params(which="minor", length=0)
        ax.tick_params(axis="x", length=3)
        draw.legend(drawing, ax.get_legend_handles_labels()[0])
        return drawing

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        interval = ""
        if math.isfinite(row["low"]):
            end = significant(row["high"]) if math.isfinite(row["high"]) else _("unbounded")
            interval = between(significant(row["low"]), end)
        return {
            "store": self.store,
            "other": self.baseline,
            "title": f"{row['name']}, {amount('records', row['records'])}",
            "exact": f"1:{significant(row['ratio'])}",
            "interval": interval,
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        low, high = _ratio_ends(rows)
        # No records have no place on a logarithmic axis.
        values = sorted(rows["records"].clip(lower=1).unique().tolist())
        legend = self.legend(table, looks)
        x = chart.sizes("records", _("Records"), values, "log")
        y = chart.log_side("1:…", low, high, clamp=True)
        lines = alt.Chart().encode(x=x, y=alt.Y("ratio:Q", **y), **chart.by_legend(legend, "color"))
        points = lines.encode(**chart.by_legend(legend, "shape"), **chart.texts(self.texts))
        dashes = chart.by_legend(legend, "strokeDash")
        return [
            chart.line_at(y=alt.YDatum(1, **y)),
            lines.transform_filter("isValid(datum.low)")
            .transform_calculate(
                lower=f"max(datum.low, {low})",
                upper=f"isValid(datum.high) ? min(datum.high, {high}) : {high}",
            )
            .mark_rule(opacity=0.5, strokeWidth=2, aria=False, clip=True)
            .encode(y=alt.Y("lower:Q", **y), y2="upper:Q"),
            lines.mark_line(strokeWidth=1.6, aria=False).encode(**dashes),
            *(
                points.transform_filter(f"datum.origin === '{origin}'").mark_point(
                    filled=origin == MEASURED, size=45, opacity=1
                )
                for origin in (MEASURED, PUBLISHED)
            ),
        ]


class BreakEvenPlot(Caching, DrawnFigure):
    """Cost of a write and its reads with and without a cache."""

    in_template = True
    cells = "every size"
    texts = COST_TEXTS
    fields = ("reads", "cost", "name")

    kind: Literal["break-even"] = Field(
        description="Cost of a write and its reads, with and without a cache."
    )
    records: Annotated[int, Field(gt=0)] = Field(
        description="The number of records of the times, or the next smaller measured one."
    )

    def rows(self, run: draw.Run) -> pd.DataFrame:
        """One row per panel (published, measured) and number of reads after one write.

        ``without`` and ``cached`` are the costs of the write and the reads in us. The crossing
        (reads per write) with its 95 % interval low to high is the same in all rows of a panel;
        NaN where there is none, or where it is not known.
        """
        from kvstudy.analyse.findings.rounds import Times, costs_of, printed, published_costs
        from kvstudy.analyse.findings.spread import level_of

        times = Times(run.headline_analysis.rounds, self.workload, level_of(run.study))
        source = run.swept.published
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
        return pd.DataFrame(rows, columns=COSTS).astype(dict.fromkeys(COSTS[3:], float))

    # Without measurements all of them are published.
    published_rows = rows

    def nothing(self, table: pd.DataFrame) -> str:
        return _("the necessary times were not measured") if table.empty else ""

    def panels(self, table: pd.DataFrame, looks: StyleSheet) -> list[Panel]:
        """Published and measured ones, with a row for each ``cost``, of the line ``name``."""
        names = dict(zip(SIDES, (look.title for look in self.legend(table, looks)), strict=True))
        ours = _("Imported") if looks.study.imported else _("Measured")
        whose = {MEASURED: ours, PUBLISHED: looks.published}
        words = _("Line chart of the cost of a write and its reads. {}.")
        panels = []
        for (panel, records), rows in table.groupby(["panel", "records"], sort=False):
            of = ngettext("{}: {} record", "{}: {} records", records)
            title = of.format(whose[panel], grouped(str(records)))
            keys = rows.columns.drop(SIDES)
            rows = rows.melt(keys, SIDES, "side", "cost").sort_values("reads", kind="stable")
            rows = rows.assign(name=rows["side"].map(names))
            panels.append(Panel(title, rows, words.format(title)))
        return panels

    def legend(self, table: pd.DataFrame, looks: StyleSheet) -> list[Style]:
        database, cache = looks.titles[self.database], looks.titles[self.cache]
        with_cache = _("{} with a cache of {}").format(database, cache)
        return [
            Style(_("{} alone").format(database), "#e69f00", line="--"),
            Style(with_cache, "#0072b2", line="-"),
        ]

    def note(self, table: pd.DataFrame, looks: StyleSheet) -> str:
        if table["low"].notna().any():
            return _("The dotted line is where the cache pays off, the band its 95 % interval.")
        crossed = table["crossing"].notna().any()
        return _("The dotted line is where the cache pays off.") if crossed else ""

    def draw(self, table: pd.DataFrame, looks: StyleSheet) -> plt.Figure:
        panels, legend = self.panels(table, looks), self.legend(table, looks)
        drawing, axes = draw.grid(len(panels), len(panels), 2.7, 0)
        for ax, panel in zip(axes.flat, panels, strict=False):
            ax.set_title(panel.title, loc="left", pad=5, fontsize=7.5)
            _cost_panel(ax, panel.rows, legend, *_axis_unit(table))
        drawing.supxlabel(_("Reads after each write"), fontsize=8)
        draw.legend(drawing, axes[0, 0].get_legend_handles_labels()[0])
        return drawing

    def mark(self, row: dict, looks: StyleSheet) -> dict:
        crossing = ""
        if math.isfinite(row["crossing"]):
            crossing = _("{} reads per write").format(significant(row["crossing"]))
            if math.isfinite(row["low"]) and math.isfinite(row["high"]):
                crossing += f" ({between(significant(row['low']), significant(row['high']))})"
        return {
            "store": self.database if row["side"] == "without" else self.cache,
            "title": _("{}, {} reads after the write").format(row["name"], row["reads"]),
            "exact": chart.exact("latency", row["cost"], "us"),
            "crossing_text": crossing,
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: StyleSheet) -> list[alt.Chart]:
        scale, unit = _axis_unit(table)
        legend, first, high = self.legend(table, looks), rows.iloc[0], int(rows["reads"].max())
        x = {"grid": False, "tickMinStep": 1, "format": "d"}
        x = chart.linear(_("Reads after each write"), 1 - EDGE, high + EDGE, **x)
        y = alt.Y("shown:Q", title=_("Cost in {}").format(unit), scale=alt.Scale(zero=False))
        base = alt.Chart().transform_calculate(shown=f"datum.cost * {scale}")
        base = base.encode(x=alt.X("reads:Q", **x), y=y, **chart.by_legend(legend, "color"))
        layers, dashes = [], chart.by_legend(legend, "strokeDash")
        if math.isfinite(first["low"]):
            layers.append(chart.band(first["low"], min(first["high"], high), x, clip=True))
        if math.isfinite(first["crossing"]):
            at = alt.Chart().encode(x=alt.XDatum(first["crossing"], **x))
            layers.append(at.mark_rule(style="kv-ink", strokeDash=[2, 3], clip=True))
            words = at.mark_text(style="kv-text", align="left", dx=4, dy=-6, aria=False)
            value = alt.value(significant(first["crossing"]))
            layers.append(words.encode(y=alt.YValue("height"), text=value))
        points = base.mark_point(filled=True, opacity=1 if high < FEW else 0, size=36)
        return [
            *layers,
            base.mark_line(strokeWidth=1.6, aria=False).encode(**dashes),
            points.encode(**chart.texts(self.texts)),
        ]


def _line_name(operation: str, origin: str) -> str:
    return f"{sentence(operation)}, {_(ORIGINS[origin])}"


def _ratio_ends(table: pd.DataFrame) -> tuple[float, float]:
    """The ends of the axis of ratios."""
    values, ratios = table[["ratio", "low", "high"]].stack(), table["ratio"]
    values = values[(values > 0) & (values < math.inf)]
    # A single round that was disturbed must not make all others a flat line.
    low = min(1, max(values.min(), ratios.min() / 4))
    high = max(1, min(values.max(), ratios.max() * 4))
    return low / 1.2, high * 1.2


def _axis_unit(table: pd.DataFrame) -> tuple[float, str]:
    """The factor from us to what the axes of all panels are given in, and its sign."""
    return (1e-3, "ms") if table[[*SIDES]].max(axis=None) > 2_000 else (1, "µs")


def _cost_panel(
    ax: plt.Axes, rows: pd.DataFrame, legend: list[Style], scale: float, unit: str
) -> None:
    """Costs in the unit, and the crossing with its interval as a band."""
    first, high = rows.iloc[0], rows["reads"].max()
    style = {"marker": "o" if high < FEW else None, "markersize": 3, "linewidth": 1.2}
    for look, line in draw.by_style(rows, legend):
        ax.plot(line["reads"], line["cost"] * scale, **look.style(**style))
    if math.isfinite(first["crossing"]):
        if math.isfinite(first["low"]):
            ax.axvspan(first["low"], min(first["high"], high), color="0.85", linewidth=0, zorder=0)
        ax.axvline(first["crossing"], color=draw.DARK, linewidth=0.8, linestyle=":")
        words, place = significant(first["crossing"]), (first["crossing"], 0.03)
        sides = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        ax.annotate(words, place, (3, 0), **sides)
    ax.set_xlim(1 - EDGE, high + EDGE)
    ax.set_ylabel(_("Cost in {}").format(unit))
