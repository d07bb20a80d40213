"""What an operation costs: CPU time of client and server, stacked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import significant
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, colors, patches, pd, plt, sns
from kvstudy.present.drawing.chart import (
    Chart,
    Panel,
    bar_legend,
    by_store,
    exact,
    plain,
    runs,
    texts,
    turned_where,
)
from kvstudy.present.drawing.draw import (
    GROUP_WIDTH,
    TEXT_WIDTH,
    DrawnFigure,
    Look,
    Looks,
    store_patch,
    write,
)
from kvstudy.study.model import Study

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = ["workload", "parameters", "store", "client", "server", "unit", "n", "note"]
# How much of its colour a store keeps where the client is meant.
LIGHT = 0.35
# Three digits and a point at 8 points; values of narrower bars are turned.
LABEL_WIDTH = 25
TEXTS = {
    "server_text": N_("Server"),
    "client_text": N_("Client"),
    "total_text": N_("Together"),
    "runs": N_("Geometric mean of"),
    "note": N_("Note"),
}
UPRIGHT = 38


class CpuBars(DrawnFigure):
    """CPU time of client and server for one operation; a part of every report."""

    own_caption = N_("CPU time of client and server for one operation")

    kind: Literal["cpu"] = Field(description="CPU time of client and server per operation.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per bar: microseconds of CPU of client and server for one operation.

        From ``analysis.intervals`` (geometric means over ``n`` runs). The server's is NaN
        where its processes are not on this machine; ``note`` says why a value is missing.
        """
        overall = run.headline_analysis.intervals.query("operation == 'overall'")
        rows = []
        for use in run.study.workloads:
            mine = overall[overall["workload"] == use.name]
            for parameters in list(mine["parameters"].unique()) or [""]:
                for store in run.study.store_names:
                    chosen = mine[(mine["parameters"] == parameters) & (mine["store"] == store)]
                    found = chosen.set_index("metric")
                    values = {
                        side: found["value"].get(f"{side}_cpu") for side in ("client", "server")
                    }
                    note = ""
                    if values["client"] is None:
                        note = run.results.state(store, use.name).label or N_("not recorded")
                    elif values["server"] is None:
                        note = N_("the server's is not known")
                    rows.append(
                        {"workload": use.name, "parameters": parameters, "store": store}
                        | values
                        | {"unit": "us", "n": found["n"].get("client_cpu"), "note": note}
                    )
        table = pd.DataFrame(rows, columns=COLUMNS)
        return table.astype({"client": float, "server": float, "n": float})

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """Groups of bars by workload; the server's part below, the client's, lighter, on it."""
        figure, ax = plt.subplots(figsize=(TEXT_WIDTH, 2.6), layout="constrained")
        groups = list(table.groupby(["workload", "parameters"], sort=False))
        several = table.groupby("workload")["parameters"].nunique().max() > 1
        width = GROUP_WIDTH / len(looks.stores)
        total = table["client"].fillna(0) + table["server"].fillna(0)
        highest = total.max() or 1
        upright = TEXT_WIDTH * 72 * width / len(groups) > LABEL_WIDTH
        for place, (_key, rows) in enumerate(groups):
            for row in rows.itertuples():
                index = list(looks.stores).index(row.store)
                x = place - GROUP_WIDTH / 2 + width * (index + 0.5)
                _bar(ax, x, 0.86 * width, row, looks.stores[row.store], upright)
        ax.set_xlim(-0.5, len(groups) - 0.5)
        ax.set_ylim(0, (1.16 if upright else 1.3) * highest)
        names = [
            looks.study.workload(workload).short + (f"\n{parameters}" if several else "")
            for (workload, parameters), _rows in groups
        ]
        ax.set_xticks(range(len(groups)), names)
        sns.despine(figure)
        ax.set_ylabel(_("CPU time of an operation (µs)"))
        handles = [store_patch(look) for look in looks.stores.values()]
        handles.append(patches.Patch(facecolor="0.4", linewidth=0, label=_("server (below)")))
        handles.append(patches.Patch(facecolor="0.8", linewidth=0, label=_("client (above)")))
        figure.legend(
            handles=handles,
            loc="outside upper center",
            ncols=min(len(handles), 5),
            columnspacing=1.4,
        )
        return figure

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        several = table.groupby("workload")["parameters"].nunique().max() > 1
        rows = [_row(row, several, looks.study, looks.stores) for row in table.to_dict("records")]
        legend = bar_legend(looks.stores)
        grey = {"mark": "bar", "color": "#808080", "hatch": 0}
        legend.append(grey | {"label": _("server (below)")})
        legend.append(grey | {"label": _("client (above)"), "opacity": LIGHT})
        words = _("Stacked bar chart of the CPU time of an operation, server and client, in µs.")
        panel = Panel(_layers(rows, looks.stores), description=words, height=240)
        return Chart(rows, [panel], legend)


def _bar(ax: plt.Axes, x: float, width: float, row, look: Look, upright: bool) -> None:
    if pd.isna(row.client):
        write(ax, x, 0, sentence(row.note), turned=True, color="0.35")
        return
    server = 0.0 if pd.isna(row.server) else row.server
    light = [1 - LIGHT * (1 - part) for part in colors.to_rgb(look.color)]
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
    write(ax, x, server + row.client, label, turned=not upright)


def _row(row: dict, several: bool, study: Study, stores: dict[str, Look]) -> dict:
    group = study.workload(row["workload"]).short
    if several:
        group += f" {row['parameters']}"
    parts = [row[side] for side in ("server", "client") if not pd.isna(row[side])]
    total = sum(parts) if parts else None
    label = ""
    if total is not None:
        label = significant(total) + (" " + _("client only") if pd.isna(row["server"]) else "")
    look = stores[row["store"]]
    return plain(row, ["workload", "store", "client", "server", "n", "note"]) | {
        "panel": 0,
        "group": group,
        "name": look.title,
        "title": f"{look.title}, {group}",
        "server_text": exact("latency", row["server"], row["unit"]),
        "client_text": exact("latency", row["client"], row["unit"]),
        "total_text": exact("latency", total, row["unit"]) if len(parts) == 2 else "",
        "runs": runs(row["n"]),
        "label": label,
    }


def _layers(rows: list[dict], stores: dict[str, Look]) -> list[alt.Chart]:
    groups = list(dict.fromkeys(row["group"] for row in rows))
    titles = [look.title for look in stores.values()]
    scale = alt.Scale(paddingInner=0.12, paddingOuter=0.06)
    base = (
        alt.Chart()
        .transform_calculate(
            bottom="isValid(datum.server) ? datum.server : 0",
            top="isValid(datum.client) ? datum.bottom + datum.client : 0",
        )
        .encode(
            x=alt.X("group:N", sort=groups, scale=scale)
            .title(None)
            .axis(labelAngle=0, labelExpr="split(datum.label, ' ')", ticks=False),
            xOffset=alt.XOffset("name:N", scale=alt.Scale(domain=titles, paddingInner=0.06)),
            **texts(TEXTS),
        )
    )
    highest = max(((row["server"] or 0) + (row["client"] or 0) for row in rows), default=0) or 1
    y = {"scale": alt.Scale(domain=[0, 1.25 * highest], nice=False)}
    y["title"] = _("CPU time of an operation (µs)")
    color = by_store(stores)
    known = base.transform_filter("isValid(datum.client)")
    turned = f"width / {max(len(groups) * len(stores), 1)} < {UPRIGHT}"
    return [
        known.mark_bar().encode(y=alt.Y("bottom:Q", **y), y2=alt.datum(0), color=color),
        known.mark_bar(fillOpacity=LIGHT, aria=False).encode(
            y=alt.Y("bottom:Q", **y), y2="top:Q", color=color
        ),
        known.mark_text(style="kv-text", aria=False, **turned_where(turned)).encode(
            y=alt.Y("top:Q", **y), text="label:N"
        ),
        base.transform_filter("!isValid(datum.client)")
        .mark_text(style="kv-note", angle=270, align="left", baseline="middle", dx=4)
        .encode(y=alt.YDatum(0, **y), text="note:N"),
    ]
