"""What an operation costs: CPU time of client and server, stacked."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from kvstudy.analyse.tidy.numbers import significant
from kvstudy.analyse.tidy.results import Results
from kvstudy.language.current import N_, _
from kvstudy.language.recorded import recorded
from kvstudy.present.figures.draw import DARK, GROUP_WIDTH, TEXT_WIDTH, Look, store_patch
from kvstudy.study.model import Study

COLUMNS = ["workload", "parameters", "store", "client", "server", "unit", "n", "note"]
# How much of its colour a store keeps where the client is meant.
LIGHT = 0.35
# Three digits and a point at 8 points; values of narrower bars are turned.
LABEL_WIDTH = 25


def cpu_table(study: Study, results: Results, intervals: pd.DataFrame) -> pd.DataFrame:
    """One row per bar: microseconds of CPU of client and server for one operation.

    From ``analysis.intervals`` (geometric means over ``n`` runs). The server's is NaN
    where its processes are not on this machine; ``note`` says why a value is missing.
    """
    overall = intervals[intervals["operation"] == "overall"]
    rows = []
    for use in study.workloads:
        mine = overall[overall["workload"] == use.name]
        for parameters in list(mine["parameters"].unique()) or [""]:
            for store in study.store_names:
                chosen = mine[(mine["parameters"] == parameters) & (mine["store"] == store)]
                found = chosen.set_index("metric")
                values = {side: found["value"].get(f"{side}_cpu") for side in ("client", "server")}
                note = ""
                if values["client"] is None:
                    note = results.state(store, use.name).label or N_("not recorded")
                elif values["server"] is None:
                    note = N_("the server's is not known")
                rows.append(
                    {"workload": use.name, "parameters": parameters, "store": store}
                    | values
                    | {"unit": "us", "n": found["n"].get("client_cpu"), "note": note}
                )
    table = pd.DataFrame(rows, columns=COLUMNS)
    return table.astype({"client": float, "server": float, "n": float})


def draw_cpu(table: pd.DataFrame, study: Study, stores: dict[str, Look]) -> Figure:
    """Groups of bars by workload; the server's part below, the client's, lighter, on it."""
    figure, ax = plt.subplots(figsize=(TEXT_WIDTH, 2.6), layout="constrained")
    groups = list(table.groupby(["workload", "parameters"], sort=False))
    several = table.groupby("workload")["parameters"].nunique().max() > 1
    width = GROUP_WIDTH / len(stores)
    total = table["client"].fillna(0) + table["server"].fillna(0)
    highest = total.max() or 1
    upright = TEXT_WIDTH * 72 * width / len(groups) > LABEL_WIDTH
    for place, (_key, rows) in enumerate(groups):
        for row in rows.itertuples():
            index = list(stores).index(row.store)
            x = place - GROUP_WIDTH / 2 + width * (index + 0.5)
            _bar(ax, x, 0.86 * width, row, stores[row.store], upright)
    ax.set_xlim(-0.5, len(groups) - 0.5)
    ax.set_ylim(0, (1.16 if upright else 1.3) * highest)
    names = [
        study.workload(workload).short + (f"\n{parameters}" if several else "")
        for (workload, parameters), _rows in groups
    ]
    ax.set_xticks(range(len(groups)), names)
    sns.despine(figure)
    ax.set_ylabel(_("CPU time of an operation (µs)"))
    handles = [store_patch(look) for look in stores.values()]
    handles.append(Patch(facecolor="0.4", linewidth=0, label=_("server (below)")))
    handles.append(Patch(facecolor="0.8", linewidth=0, label=_("client (above)")))
    figure.legend(
        handles=handles,
        loc="outside upper center",
        ncols=min(len(handles), 5),
        frameon=False,
        columnspacing=1.4,
    )
    return figure


def _bar(ax: Axes, x: float, width: float, row, look: Look, upright: bool) -> None:
    if pd.isna(row.client):
        _write(ax, x, 0, recorded(row.note), upright=False, color="0.35")
        return
    server = 0.0 if pd.isna(row.server) else row.server
    light = [1 - LIGHT * (1 - part) for part in to_rgb(look.color)]
    ax.bar(x, server, width, facecolor=look.color, edgecolor="white", hatch=look.hatch, linewidth=0)
    ax.bar(
        x,
        row.client,
        width,
        bottom=server,
        facecolor=light,
        edgecolor=look.color,
        hatch=look.hatch,
        linewidth=0,
    )
    label = significant(server + row.client)
    if pd.isna(row.server):
        label += ("\n" if upright else " ") + _("client only")
    _write(ax, x, server + row.client, label, upright, DARK)


def _write(ax: Axes, x: float, y: float, text: str, upright: bool, color: str) -> None:
    lift = ScaledTranslation(0, 2 / 72, ax.figure.dpi_scale_trans)
    ax.text(
        x,
        y,
        text,
        transform=ax.transData + lift,
        ha="center",
        va="bottom",
        rotation=0 if upright else 90,
        color=color,
    )
