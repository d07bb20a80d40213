"""Figures of workloads with rounds: relative performance, and the break-even point of a cache."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.texts import exact
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.reasons import sentence
from kvstudy.layout import plot
from kvstudy.layout.looks import DARK, DASHED, DOTTED, INK, SOLID, Style, StyleSheet
from kvstudy.layout.numbers import amount, between, grouped, significant
from kvstudy.libraries import pd
from kvstudy.study.base import MEASURED, PUBLISHED
from kvstudy.study.exhibits import Caching, OfRound, TwoStores

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

RATIOS = ["operation", "origin", "records", "ratio", "low", "high"]
ORIGINS = {MEASURED: N_("measured"), PUBLISHED: N_("published")}
STYLES = {MEASURED: SOLID, PUBLISHED: DASHED}
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

    kind: Literal["relative"] = Field(description="Relative performance over the records.")
    operations: Annotated[list[OfRound], Field(min_length=1)] = Field(
        description="The operations of the rounds, a line for each."
    )

    def rows(self, run: Run) -> pd.DataFrame:
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

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """A line per operation and origin with intervals; published points are hollow."""
        rows = table.dropna(subset="ratio")
        low, high = _ratio_ends(rows)
        rows = rows.assign(
            name=[*map(_line_name, rows["operation"], rows["origin"])],
            store=self.store,
            other=self.baseline,
            # No records have no place on a logarithmic axis.
            records=rows["records"].clip(lower=1),
            lower=rows["low"].clip(low),
            upper=rows["high"].clip(upper=high),
            below=rows["low"] < low,
            above=rows["high"] > high,
        )
        looks = [
            Style(
                _line_name(operation, origin), color, marker=marker, line=line, hollow=line != SOLID
            )
            for operation, (color, marker) in zip(self.operations, LOOKS, strict=False)
            for origin, line in STYLES.items()
        ]
        legend = [look for look in looks if look.title in set(rows["name"])]
        layers = [
            plot.Rule(1),
            plot.Whisker("lower", "upper"),
            plot.Points("lower", marker="v", where="below"),
            plot.Points("upper", marker="^", where="above"),
            plot.Line(),
            plot.Points(hover=True),
        ]
        title = f"{styles.titles[self.baseline]}:{styles.titles[self.store]} = 1:…"
        words = _("Line chart of the relative performance, {}, over records.").format(title)
        x = plot.size_axis("records", _("Records"), rows["records"], log=True)
        y = plot.axis("ratio", "1:…", low, high, log=True)
        known = rows["low"].notna().any()
        note = _("The bar through a point is its 95 % interval.") if known else ""
        if known and (rows["below"] | rows["above"]).any():
            note += " " + _("Arrow: unbounded.")
        panel = plot.Panel(title, rows, x, y, layers, legend, words)
        return plot.Plot([panel], legend, note, each=2.3)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        interval = ""
        if math.isfinite(row["low"]):
            end = significant(row["high"]) if math.isfinite(row["high"]) else _("unbounded")
            interval = between(significant(row["low"]), end)
        return {
            "title": f"{row['name']}, {amount('records', row['records'])}",
            "exact": f"1:{significant(row['ratio'])}",
            "interval": interval,
        }


class BreakEvenPlot(Caching, DrawnFigure):
    """Cost of a write and its reads with and without a cache."""

    in_template = True
    cells = "every size"
    texts = COST_TEXTS

    kind: Literal["break-even"] = Field(
        description="Cost of a write and its reads, with and without a cache."
    )
    records: Annotated[int, Field(gt=0)] = Field(
        description="The number of records of the times, or the next smaller measured one."
    )

    def rows(self, run: Run) -> pd.DataFrame:
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

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """A panel for published and for measured costs; the crossing with its interval."""
        database, cache = styles.titles[self.database], styles.titles[self.cache]
        with_cache = _("{} with a cache of {}").format(database, cache)
        legend = [
            Style(_("{} alone").format(database), "#e69f00", marker="o", line=DASHED),
            Style(with_cache, "#0072b2", marker="o", line=SOLID),
        ]
        names = dict(zip(SIDES, (look.title for look in legend), strict=True))
        stores = dict(zip(SIDES, (self.database, self.cache), strict=True))
        ours = _("Imported") if styles.study.imported else _("Measured")
        whose = {MEASURED: ours, PUBLISHED: styles.published}
        words, panels = _("Line chart of the cost of a write and its reads. {}."), []
        for (panel, records), rows in table.groupby(["panel", "records"], sort=False):
            title = ngettext("{}: {} record", "{}: {} records", records)
            title = title.format(whose[panel], grouped(str(records)))
            rows = rows.melt(rows.columns.drop(SIDES), SIDES, "side", "cost")
            rows = rows.assign(name=rows["side"].map(names), store=rows["side"].map(stores))
            sides = _cost_axes(rows, in_ms=table[[*SIDES]].max(axis=None) > 2_000)
            points = plot.Points(size=3, hover=True, seen=rows["reads"].max() < FEW)
            layers = [*_crossing(rows, *sides), plot.Line(), points]
            panels.append(plot.Panel(title, rows, *sides, layers, legend, words.format(title)))
        note = ""
        if table["low"].notna().any():
            note = _("The dotted line is where the cache pays off, the band its 95 % interval.")
        elif table["crossing"].notna().any():
            note = _("The dotted line is where the cache pays off.")
        return plot.Plot(panels, legend, note, columns=len(panels), first=0.6, each=2.1)

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        crossing = ""
        if math.isfinite(row["crossing"]):
            crossing = _("{} reads per write").format(significant(row["crossing"]))
            if math.isfinite(row["low"]) and math.isfinite(row["high"]):
                crossing += f" ({between(significant(row['low']), significant(row['high']))})"
        return {
            "title": _("{}, {} reads after the write").format(row["name"], row["reads"]),
            "exact": exact("latency", row["cost"], "us"),
            "crossing_text": crossing,
        }


def _cost_axes(rows: pd.DataFrame, in_ms: bool) -> tuple[plot.Axis, plot.Axis]:
    last, low, high = rows["reads"].max(), rows["cost"].min(), rows["cost"].max()
    ticks = [tick for tick in plot.linear_ticks(1, last) if tick == int(tick)]
    room = 0.05 * (high - low)
    title = _("Reads after each write")
    x = plot.axis("reads", title, 1 - EDGE, last + EDGE, ticks=ticks, grid=False)
    title = _("Cost in {}").format("ms" if in_ms else "µs")
    written = plot.thousandths if in_ms else plot.number
    return x, plot.axis("cost", title, low - room, high + room, written=written)


def _crossing(rows: pd.DataFrame, x: plot.Axis, y: plot.Axis) -> list[plot.Layer]:
    """The place where the cache pays off, with its interval as a band."""
    first, layers = rows.iloc[0], []
    if math.isfinite(first["low"]):
        layers.append(plot.Band(first["low"], min(first["high"], x.high)))
    if math.isfinite(first["crossing"]):
        place = {"reads": first["crossing"], "cost": y.low, "text": significant(first["crossing"])}
        layers.append(plot.Rule(first["crossing"], "x", look=Style("", DARK, line=DOTTED)))
        text = pd.DataFrame([place])
        layers.append(plot.Label("text", rows=text, look=INK, dx=3, dy=3, align="left"))
    return layers


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
