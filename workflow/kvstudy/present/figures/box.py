"""Latencies of single operations: a box for each kind of operation and store."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from kvstudy.analyse.tidy.numbers import converted, grouped, sign
from kvstudy.analyse.tidy.results import Results
from kvstudy.language.current import _
from kvstudy.language.locale import decimal
from kvstudy.language.recorded import recorded
from kvstudy.present.figures.draw import DARK, GROUP_WIDTH, TEXT_WIDTH, Look, store_patch
from kvstudy.study.grids import Box
from kvstudy.study.model import Study
from kvstudy.study.workload import operations_of, properties_of

SHARES = ["p1", "p5", "p25", "p50", "p75", "p95", "p99", "largest"]
COLUMNS = ["operation", "store", "parameters", *SHARES, "unit", "operations", "n", "note"]
# Boxes narrower than that (inches) have no number of operations below them.
NARROW = 0.3


def box_table(figure: Box, study: Study, results: Results, boxes: pd.DataFrame) -> pd.DataFrame:
    """One row per box, in the order of drawing; ``note`` says why there is none.

    ``boxes`` is that of the analysis with the parameters that are shown. Latencies are
    in ``unit``; ``operations`` are those of all ``n`` runs.
    """
    use = study.workload(figure.workload)
    kinds = figure.operations or operations_of(properties_of(study, use))
    mine = boxes[boxes["workload"] == figure.workload].set_index(["operation", "store"])
    rows = []
    for operation in kinds:
        for store in study.store_names:
            row = {"operation": operation, "store": store, "unit": figure.unit}
            if (operation, store) in mine.index:
                found = mine.loc[(operation, store)]
                row |= {share: converted(found[share], "us", figure.unit) for share in SHARES}
                row |= {name: found[name] for name in ("parameters", "operations", "n")}
                row["note"] = ""
            else:
                label = results.state(store, figure.workload).label
                row["note"] = label or f"no {operation} was timed"
            rows.append(row)
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype(dict.fromkeys([*SHARES, "operations", "n"], float))


def draw_box(table: pd.DataFrame, stores: dict[str, Look]) -> Figure:
    """Draw ``box_table`` over a logarithmic axis; below each box how many operations it is of."""
    drawing, ax = plt.subplots(figsize=(TEXT_WIDTH, 2.9), layout="constrained")
    groups = list(dict.fromkeys(table["operation"]))
    width = GROUP_WIDTH / len(stores)
    unit = table["unit"].iloc[0]
    # A latency of 0 has no place on a logarithmic axis; YCSB counts whole microseconds.
    least = converted(1, "us", unit)
    for row in table.itertuples():
        x = groups.index(row.operation) - GROUP_WIDTH / 2 + width * (_place(stores, row) + 0.5)
        if pd.isna(row.p50):
            _write(ax, x, recorded(row.note), "0.35", turned=True)
            continue
        _box(ax, x, 0.7 * width, row, stores[row.store], least)
        if TEXT_WIDTH * width / len(groups) > NARROW:
            _write(ax, x, _short(row.operations), "0.35", turned=False)
    ax.set_yscale("log")
    if table["p50"].notna().any():
        low, high = table["p1"].clip(lower=least).min(), table["p99"].clip(lower=least).max()
        # Room below for the numbers.
        decades = max(math.log10(high / low), 0.5)
        ax.set_ylim(low / 10 ** (0.16 * decades), high * 10 ** (0.06 * decades))
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.set_xticks(range(len(groups)), map(recorded, groups))
    narrow = ax.get_ylim()[1] / ax.get_ylim()[0] < 300
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if narrow else (1,)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: grouped(f"{value:g}")))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_ylabel(_("Latency of an operation ({})").format(sign(unit)))
    sns.despine(drawing)
    drawing.legend(
        handles=[store_patch(look) for look in stores.values()],
        loc="outside upper center",
        ncols=min(len(stores), 5),
        frameon=False,
    )
    return drawing


def _place(stores: dict[str, Look], row) -> int:
    return list(stores).index(row.store)


def _box(ax: Axes, x: float, width: float, row, look: Look, least: float) -> None:
    p1, p5, p25, p50, p75, p95, p99 = (max(getattr(row, name), least) for name in SHARES[:-1])
    ax.vlines(x, p5, p95, color=DARK, linewidth=0.8, zorder=2)
    ax.hlines([p5, p95], x - width / 4, x + width / 4, color=DARK, linewidth=0.8, zorder=2)
    ax.bar(
        x,
        p75 - p25,
        width,
        bottom=p25,
        facecolor=look.color,
        hatch=look.hatch,
        edgecolor="white",
        linewidth=0,
        zorder=3,
    )
    # The outline apart: the edge's colour is that of the hatch. Quartiles may be equal.
    ax.plot(
        [x - width / 2, x + width / 2, x + width / 2, x - width / 2, x - width / 2],
        [p25, p25, p75, p75, p25],
        color=DARK,
        linewidth=0.6,
        zorder=4,
    )
    ax.hlines(p50, x - width / 2, x + width / 2, color="white", linewidth=3.2, zorder=5)
    ax.hlines(p50, x - width / 2, x + width / 2, color=DARK, linewidth=1.6, zorder=6)
    ax.plot([x, x], [p1, p99], "o", color=DARK, markersize=2, zorder=3)


def _write(ax: Axes, x: float, text: str, color: str, turned: bool) -> None:
    """Write ``text`` at the lower end of the axis."""
    lift = ScaledTranslation(0, 3 / 72, ax.figure.dpi_scale_trans)
    ax.text(
        x,
        0,
        text,
        transform=ax.get_xaxis_transform() + lift,
        ha="center",
        va="bottom",
        rotation=90 if turned else 0,
        fontsize=8 if turned else 6.5,
        color=color,
    )


def _short(count: float) -> str:
    """A number of operations with few characters: 12 k, 3.4 M."""
    for factor, letter in ((1e6, "M"), (1e3, "k")):
        if count >= factor:
            value = count / factor
            number = f"{value:.0f}" if value >= 10 else decimal(f"{value:.1f}")
            return f"{number}\N{NARROW NO-BREAK SPACE}{letter}"
    return f"{count:.0f}"
