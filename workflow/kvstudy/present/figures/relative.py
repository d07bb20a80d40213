"""Relative performance of two stores over the number of records."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import amount, between, significant
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, pd, plt
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.draw import DrawnFigure, Look, Looks, Panel
from kvstudy.study.base import MEASURED, PUBLISHED
from kvstudy.study.kinds import OfRound, TwoStores

COLUMNS = ["operation", "origin", "records", "ratio", "low", "high"]
ORIGINS = {MEASURED: N_("measured"), PUBLISHED: N_("published")}
STYLES = {MEASURED: "-", PUBLISHED: "--"}
# Colour and marker of each line; apart from those of the stores.
LOOKS = [("#0072b2", "o"), ("#d55e00", "s"), ("0.35", "^")]
RATIO = {"exact": N_("Ratio"), "interval": N_("95 % interval")}


class RelativePlot(TwoStores, DrawnFigure):
    """Relative performance over the number of records."""

    cells = "every size"
    texts = RATIO
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
        from kvstudy.analyse.tidy.results import over_records

        times = Times(run.headline_analysis.rounds, self.workload)
        source = over_records(run.swept.published, self.workload)
        pair = f"{self.store}/{self.baseline}"
        rows = []
        for operation in self.operations:
            for count in times.records:
                ratio = times.relative(self.baseline, self.store, count, operation)
                if ratio is not None:
                    rows.append([operation, MEASURED, count, ratio.value, ratio.low, ratio.high])
            for (store, of, metric, count), (value, _unit) in sorted(source.items()):
                wanted = (store, of, metric) == (pair, operation, "relative_performance")
                if wanted and not pd.isna(value):
                    rows.append([operation, PUBLISHED, count, value, None, None])
        return pd.DataFrame(rows, columns=COLUMNS).astype({"low": float, "high": float})

    # Without measurements all of them are published.
    published_rows = rows

    def nothing(self, table: pd.DataFrame) -> str:
        return "" if table["ratio"].notna().any() else _("nothing was measured")

    def panels(self, table: pd.DataFrame, looks: Looks) -> list[Panel]:
        rows = table.dropna(subset="ratio")
        names = map(_line_name, rows["operation"], rows["origin"])
        title = f"{looks.titles[self.baseline]}:{looks.titles[self.store]} = 1:…"
        words = _("Line chart of the relative performance, {}, over records.").format(title)
        return [Panel(title, rows.assign(name=list(names)), words)]

    def legend(self, table: pd.DataFrame, looks: Looks) -> list[Look]:
        """The lines: published values are hollow points on dashed lines."""
        (panel,) = self.panels(table, looks)
        lines = [
            Look(_line_name(operation, origin), color, marker=marker, line=line, hollow=line != "-")
            for operation, (color, marker) in zip(self.operations, LOOKS, strict=False)
            for origin, line in STYLES.items()
        ]
        return [look for look in lines if look.title in set(panel.rows["name"])]

    def note(self, table: pd.DataFrame, looks: Looks) -> str:
        return _("The band is the 95 % interval.") if table["low"].notna().any() else ""

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """A line per operation with its interval as a band."""
        drawing, ax = plt.subplots(figsize=(draw.TEXT_WIDTH, 2.8), layout="constrained")
        ax.set(xscale="log", yscale="log")
        ax.axhline(1, color="0.4", linewidth=0.6)
        (panel,) = self.panels(table, looks)
        for look, rows in draw.by_look(panel.rows, self.legend(table, looks)):
            style = look.style(markersize=4, linewidth=0.8 if look.hollow else 1.2)
            ax.plot(rows["records"], rows["ratio"], **style)
            # Of an interval without an upper end, as much as the figure has.
            known = rows.dropna(subset=["low", "high"])
            if len(known):
                ends = known["low"].clip(1e-3), known["high"].clip(upper=1e6)
                ax.fill_between(known["records"], *ends, color=look.color, alpha=0.2, linewidth=0)
        low, high = _ends(table)
        ax.set_ylim(low, high)
        ax.set_xlabel(_("Records"))
        ax.set_ylabel(panel.title)
        draw.number_axis(ax.xaxis, form=".0f")
        draw.number_axis(ax.yaxis, written=decimal)
        ax.set_yticks(draw.round_numbers(low, high))
        ax.grid(axis="x", visible=False)
        ax.tick_params(which="minor", length=0)
        ax.tick_params(axis="x", length=3)
        drawing.legend(loc="outside upper center", ncols=4)
        return drawing

    def mark(self, row: dict, looks: Looks) -> dict:
        interval = ""
        if math.isfinite(row["low"]):
            end = significant(row["high"]) if math.isfinite(row["high"]) else _("no upper end")
            interval = between(significant(row["low"]), end)
        return {
            "store": self.store,
            "other": self.baseline,
            "title": f"{row['name']}, {amount('records', row['records'])}",
            "exact": f"1:{significant(row['ratio'])}",
            "interval": interval,
        }

    def layers(self, rows: pd.DataFrame, table: pd.DataFrame, looks: Looks) -> list[alt.Chart]:
        low, high = _ends(rows)
        values, legend = sorted(rows["records"].unique().tolist()), self.legend(table, looks)
        ends = [max(values[0], 1) / 1.15, values[-1] * 1.15]
        logs = alt.Scale(type="log", nice=False, domain=ends)
        axis = alt.Axis(values=values, format=",", labelOverlap="greedy", grid=False)
        x = alt.X("records:Q", title=_("Records"), scale=logs, axis=axis)
        y = chart.log_side("1:…", low, high, clamp=True)
        lines = alt.Chart().encode(x=x, y=alt.Y("ratio:Q", **y), **chart.by_legend(legend, "color"))
        points = lines.encode(**chart.by_legend(legend, "shape"), **chart.texts(RATIO))
        dashes = chart.by_legend(legend, "strokeDash")
        return [
            chart.line_at(y=alt.YDatum(1, **y)),
            lines.transform_filter("isValid(datum.low)")
            .transform_calculate(upper=f"isValid(datum.high) ? datum.high : {high}")
            .mark_area(opacity=0.2, aria=False, clip=True)
            .encode(y=alt.Y("low:Q", **y), y2="upper:Q"),
            lines.mark_line(strokeWidth=1.6, aria=False).encode(**dashes),
            *(
                points.transform_filter(f"datum.origin === '{origin}'").mark_point(
                    filled=origin == MEASURED, size=45, opacity=1
                )
                for origin in (MEASURED, PUBLISHED)
            ),
        ]


def _line_name(operation: str, origin: str) -> str:
    return f"{sentence(operation)}, {_(ORIGINS[origin])}"


def _ends(table: pd.DataFrame) -> tuple[float, float]:
    """The ends of the axis of ratios."""
    values, ratios = table[["ratio", "low", "high"]].stack(), table["ratio"]
    values = values[(values > 0) & (values < math.inf)]
    # A single round that was disturbed must not make all others a flat line.
    low = min(1, max(values.min(), ratios.min() / 4))
    high = max(1, min(values.max(), ratios.max() * 4))
    return low / 1.2, high * 1.2
