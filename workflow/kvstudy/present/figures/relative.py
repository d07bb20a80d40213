"""Relative performance of two stores over the number of records."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import between, grouped, significant
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, pd, plt, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.chart import Chart, Panel, by_legend, is_number, line_entry
from kvstudy.present.drawing.draw import TEXT_WIDTH, DrawnFigure, Looks
from kvstudy.study.base import MEASURED, PUBLISHED
from kvstudy.study.kinds import OfRound, TwoStores
from kvstudy.study.model import Study

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = ["operation", "origin", "records", "ratio", "low", "high"]
ORIGINS = {MEASURED: N_("measured"), PUBLISHED: N_("published")}
# Colour and marker of each line; apart from those of the stores.
LOOKS = [("#0072b2", "o"), ("#d55e00", "s"), ("0.35", "^")]
RATIO = {"exact": N_("Ratio"), "interval": N_("95 % interval")}


class RelativePlot(TwoStores, DrawnFigure):
    """Relative performance over the number of records."""

    cells = "every size"

    kind: Literal["relative"] = Field(description="Relative performance over the records.")
    operations: Annotated[list[OfRound], Field(min_length=1)] = Field(
        description="The operations of the rounds, a line for each."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        return relative_table(self, run.headline_analysis.rounds, run.swept.published)

    def published_rows(self, study: Study, values: pd.DataFrame) -> pd.DataFrame | None:
        from kvstudy.analyse.findings.rounds import ROUNDS

        rows = relative_table(self, ROUNDS.frame(), values)
        return rows if len(rows) else None

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """Draw ``relative_table``: a line per operation with its interval as a band.

        Published values are hollow points on dashed lines.
        """
        drawing, ax = plt.subplots(figsize=(TEXT_WIDTH, 2.8), layout="constrained")
        ax.set(xscale="log", yscale="log")
        ax.axhline(1, color="0.4", linewidth=0.6)
        for operation, (tint, marker) in zip(self.operations, LOOKS, strict=False):
            for origin in (MEASURED, PUBLISHED):
                rows = table[(table["operation"] == operation) & (table["origin"] == origin)]
                if not len(rows):
                    continue
                style = {"linewidth": 1.2, "linestyle": "-", "markerfacecolor": tint}
                if origin == PUBLISHED:
                    style = {"linewidth": 0.8, "linestyle": "--", "markerfacecolor": "white"}
                style |= {"color": tint, "marker": marker, "markersize": 4}
                label = line_name(operation, origin)
                ax.plot(rows["records"], rows["ratio"], label=label, **style)
                # Of an interval without an upper end, as much as the figure has.
                known = rows.dropna(subset=["low", "high"])
                if len(known):
                    ends = known["low"].clip(1e-3), known["high"].clip(upper=1e6)
                    ax.fill_between(known["records"], *ends, color=tint, alpha=0.2, linewidth=0)
        if table["ratio"].notna().any():
            ax.set_ylim(*_ends(table))
        else:
            draw.say(ax, _("nothing was measured"))
        ax.set_xlabel(_("Records"))
        ax.set_ylabel(f"{looks.titles[self.baseline]}:{looks.titles[self.store]} = 1:…")
        ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: grouped(f"{value:.0f}")))
        draw.number_axis(ax.yaxis, written=decimal)
        low, high = ax.get_ylim()
        ticks = [base * 10**power for power in range(-2, 5) for base in (1, 2, 5)]
        ax.set_yticks([tick for tick in ticks if low <= tick <= high], minor=False)
        ax.grid(axis="x", visible=False)
        ax.tick_params(which="minor", length=0)
        ax.tick_params(axis="x", length=3)
        if len(table):
            drawing.legend(loc="outside upper center", ncols=4)
        return drawing

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        known = table.dropna(subset="ratio")
        if known.empty:
            return Chart([], [], note=_("nothing was measured"))
        rows = [_ratio(row, self) for row in known.to_dict("records")]
        there = {row["name"] for row in rows}
        legend = [
            line_entry(name, chart.color(tint), style, marker, hollow=origin == PUBLISHED)
            for operation, (tint, marker) in zip(self.operations, LOOKS, strict=False)
            for origin, style in ((MEASURED, "-"), (PUBLISHED, "--"))
            if (name := line_name(operation, origin)) in there
        ]
        name = f"{looks.titles[self.baseline]}:{looks.titles[self.store]} = 1:…"
        words = _("Line chart of the relative performance, {}, over records.").format(name)
        note = _("The band is the 95 % interval.") if any(row["low"] for row in rows) else ""
        return Chart(rows, [Panel(_ratios(known, legend), name, words)], legend, 1, note)


def relative_table(
    figure: RelativePlot, found: pd.DataFrame, published: pd.DataFrame | None
) -> pd.DataFrame:
    """One row per operation, origin (measured, published) and number of records.

    ``ratio`` is the baseline's time by the store's, ``low`` to ``high`` its 95 % interval (NaN
    where it is not known).
    """
    from kvstudy.analyse.findings.rounds import Times
    from kvstudy.analyse.tidy.results import over_records

    times = Times(found, figure.workload)
    source = over_records(published, figure.workload)
    pair = f"{figure.store}/{figure.baseline}"
    rows = []
    for operation in figure.operations:
        for count in times.records:
            ratio = times.relative(figure.baseline, figure.store, count, operation)
            if ratio is not None:
                rows.append([operation, MEASURED, count, ratio.value, ratio.low, ratio.high])
        for (store, of, metric, count), (value, _unit) in sorted(source.items()):
            wanted = (store, of, metric) == (pair, operation, "relative_performance")
            if wanted and not pd.isna(value):
                rows.append([operation, PUBLISHED, count, value, None, None])
    return pd.DataFrame(rows, columns=COLUMNS).astype({"low": float, "high": float})


def line_name(operation: str, origin: str) -> str:
    """What a line is of."""
    return f"{sentence(operation)}, {_(ORIGINS[origin])}"


def _ends(table: pd.DataFrame) -> tuple[float, float]:
    """The ends of the axis of ratios."""
    values, ratios = table[["ratio", "low", "high"]].stack(), table["ratio"]
    values = values[(values > 0) & (values < math.inf)]
    # A single round that was disturbed must not make all others a flat line.
    low = min(1, max(values.min(), ratios.min() / 4))
    high = max(1, min(values.max(), ratios.max() * 4))
    return low / 1.2, high * 1.2


def _ratio(row: dict, figure: RelativePlot) -> dict:
    name = line_name(row["operation"], row["origin"])
    interval = ""
    if is_number(row["low"]):
        end = significant(row["high"]) if is_number(row["high"]) else _("no upper end")
        interval = between(significant(row["low"]), end)
    return chart.plain(row, ["origin", "records", "ratio", "low", "high"]) | {
        "panel": 0,
        "store": figure.store,
        "other": figure.baseline,
        "workload": figure.workload,
        "name": name,
        "title": f"{name}, {chart.size_words('records', row['records'])}",
        "exact": f"1:{significant(row['ratio'])}",
        "interval": interval,
    }


def _ratios(table: pd.DataFrame, legend: list[dict]) -> list[alt.Chart]:
    low, high = _ends(table)
    values = sorted(table["records"].unique().tolist())
    ends = [max(values[0], 1) / 1.15, values[-1] * 1.15]
    logs = alt.Scale(type="log", nice=False, domain=ends)
    axis = alt.Axis(values=values, format=",", labelOverlap="greedy", grid=False)
    x = alt.X("records:Q", title=_("Records"), scale=logs, axis=axis)
    y = chart.log_side("1:…", low, high, clamp=True)
    base = alt.Chart().encode(x=x)
    ratio = base.encode(y=alt.Y("ratio:Q", **y))
    points = ratio.encode(**by_legend(legend, "color", "shape"), **chart.texts(RATIO))
    return [
        alt.Chart().mark_rule(style="kv-line", aria=False).encode(y=alt.YDatum(1, **y)),
        base.transform_filter("isValid(datum.low)")
        .transform_calculate(upper=f"isValid(datum.high) ? datum.high : {high}")
        .mark_area(opacity=0.2, aria=False, clip=True)
        .encode(y=alt.Y("low:Q", **y), y2="upper:Q", **by_legend(legend, "color")),
        ratio.mark_line(strokeWidth=1.6, aria=False).encode(**by_legend(legend, "color", "dash")),
        *(
            points.transform_filter(f"datum.origin === '{origin}'").mark_point(
                filled=origin == MEASURED, size=45, opacity=1
            )
            for origin in (MEASURED, PUBLISHED)
        ),
    ]
