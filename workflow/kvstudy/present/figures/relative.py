"""Relative performance of two stores over the number of records."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from kvstudy.analyse.findings.rounds import Times
from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.analyse.tidy.published import over_records
from kvstudy.analyse.tidy.swept import MEASURED, PUBLISHED
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.recorded import recorded
from kvstudy.present.figures.draw import TEXT_WIDTH
from kvstudy.study.relative import RelativePlot

COLUMNS = ["operation", "origin", "records", "ratio", "low", "high"]
ORIGINS = {MEASURED: N_("measured"), PUBLISHED: N_("published")}
# Colour and marker of each line; apart from those of the stores.
LOOKS = [("#0072b2", "o"), ("#d55e00", "s"), ("0.35", "^")]


def relative_table(
    figure: RelativePlot, found: pd.DataFrame, published: pd.DataFrame | None
) -> pd.DataFrame:
    """One row per operation, origin (measured, published) and number of records.

    ``ratio`` is the baseline's time by the store's, ``low`` to ``high`` its 95 % interval (NaN
    where it is not known).
    """
    times = Times(found, figure.workload)
    source = over_records(published, figure.workload)
    pair = f"{figure.store}/{figure.baseline}"
    rows = []
    for operation in figure.operations:
        for records in times.records:
            ratio = times.relative(figure.baseline, figure.store, records, operation)
            if ratio is not None:
                row = [operation, MEASURED, records, ratio.value, ratio.low, ratio.high]
                rows.append(row)
        for (store, of, metric, records), (value, _unit) in sorted(source.items()):
            wanted = (store, of, metric) == (pair, operation, "relative_performance")
            if wanted and not pd.isna(value):
                rows.append([operation, PUBLISHED, records, value, None, None])
    return pd.DataFrame(rows, columns=COLUMNS).astype({"low": float, "high": float})


def line_name(operation: str, origin: str) -> str:
    """What a line is of."""
    return f"{recorded(operation)}, {_(ORIGINS[origin])}"


def draw_relative(table: pd.DataFrame, figure: RelativePlot, titles: dict[str, str]) -> Figure:
    """Draw ``relative_table``: a line per operation with its interval as a band.

    Published values are hollow points on dashed lines.
    """
    drawing, ax = plt.subplots(figsize=(TEXT_WIDTH, 2.8), layout="constrained")
    ax.set(xscale="log", yscale="log")
    ax.axhline(1, color="0.4", linewidth=0.6)
    for operation, (color, marker) in zip(figure.operations, LOOKS, strict=False):
        for origin in (MEASURED, PUBLISHED):
            rows = table[(table["operation"] == operation) & (table["origin"] == origin)]
            if not len(rows):
                continue
            ours = origin == MEASURED
            ax.plot(
                *(rows["records"], rows["ratio"]),
                color=color,
                marker=marker,
                markersize=4,
                linewidth=1.2 if ours else 0.8,
                linestyle="-" if ours else "--",
                markerfacecolor=color if ours else "white",
                label=line_name(operation, origin),
            )
            # Of an interval without an upper end, as much as the figure has.
            known = rows.dropna(subset=["low", "high"])
            if len(known):
                ax.fill_between(
                    *(known["records"], known["low"].clip(1e-3), known["high"].clip(upper=1e6)),
                    color=color,
                    alpha=0.2,
                    linewidth=0,
                )
    values = table[["ratio", "low", "high"]].stack()
    values = values[(values > 0) & (values < float("inf"))]
    if len(values):
        # A single round that was disturbed must not make all others a flat line.
        ratios = table["ratio"]
        low = min(1, max(values.min(), ratios.min() / 4))
        high = max(1, min(values.max(), ratios.max() * 4))
        ax.set_ylim(low / 1.2, high * 1.2)
    else:
        ax.text(0.5, 0.5, _("nothing was measured"), transform=ax.transAxes, ha="center")
    ax.set_xlabel(_("Records"))
    ax.set_ylabel(f"{titles[figure.baseline]}:{titles[figure.store]} = 1:…")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(f"{value:.0f}")))
    plain = FuncFormatter(lambda value, _: decimal(f"{value:g}"))
    ax.yaxis.set_major_formatter(plain)
    ax.yaxis.set_minor_formatter(NullFormatter())
    low, high = ax.get_ylim()
    ticks = [base * 10**power for power in range(-2, 5) for base in (1, 2, 5)]
    ax.set_yticks([tick for tick in ticks if low <= tick <= high], minor=False)
    ax.grid(axis="x", visible=False)
    ax.tick_params(which="minor", length=0)
    ax.tick_params(axis="x", length=3)
    if len(table):
        drawing.legend(loc="outside upper center", ncols=4, frameon=False)
    return drawing
