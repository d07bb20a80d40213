"""The places of the stores, as published and as measured: one slope per store."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import MARK
from kvstudy.language.current import N_, _
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, pd, plt
from kvstudy.present.drawing.chart import (
    Chart,
    Panel,
    by_legend,
    exact,
    plain,
    point_legend,
    rejected_note,
    texts,
)
from kvstudy.present.drawing.draw import (
    DARK,
    DrawnFigure,
    Look,
    Looks,
    any_rejected,
    grid,
    rejected_handle,
)
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [
    *["workload", "parameters", "store", "published", "published_place", "measured", "place"],
    *["undecided_with", "basis", "same", "opposite", "pairs", "rejected"],
]
# What the places here rest on.
INTERVALS, SINGLE = N_("intervals"), N_("single runs")
ACROSS = 2
MARKERS = ["o", "s", "^", "D", "v", "P", "X", "*"]
# How far stores of one place stand apart, for their names; a place is 1 high.
APART = 0.62
TEXTS = {
    "exact": N_("Throughput"),
    "place_text": N_("Place"),
    "undecided": N_("Undecided against"),
    "basis_text": N_("Rests on"),
}


class Slopes(DrawnFigure):
    """Places of the stores, published and here; a part of every report with both."""

    controls = "noise floor"
    own_caption = N_("Places of the stores by throughput, published and here")

    kind: Literal["slope"] = Field(description="Places of the stores, published and measured.")

    @classmethod
    def automatic(cls, study: Study) -> list[Slopes]:
        """The one of a report whose source has throughputs."""
        (slopes_,) = super().automatic(study)
        return [slopes_.model_copy(update={"name": "places"})]

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload and store with a throughput on both sides, by published place.

        ``published`` and ``measured`` are ops/s, the latter a mean over the runs. Places: 1 is
        best; stores of which none is decided to be faster (``analysis.pairs``) do not
        count against each other, ``undecided_with`` names those that are not equal either. With one
        run (``basis``) there are no intervals, and places are by the bare values. ``same`` and
        ``opposite`` count pairs of stores by their order here against the published one, out of
        ``pairs``; the rest is neither.
        """
        from kvstudy.analyse.findings.pairs import order_of
        from kvstudy.stats.ranks import agreement, places
        from kvstudy.stats.ratios import Decision

        rows, names, results = [], run.study.store_names, run.results
        pairs = run.headline_analysis.pairs.groupby(["workload", "parameters"], sort=False)
        for (workload, parameters), group in pairs:
            key = (workload, "overall", "throughput")
            there = {store: results.published(store, *key) for store in names}
            mine = group[group["faster"].map(there).gt(0) & group["slower"].map(there).gt(0)]
            ends = {*mine["faster"], *mine["slower"]}
            stores = [store for store in names if store in ends]
            # Stores without a repetition in common cannot be placed against each other.
            if len(stores) < 2 or len(mine) < math.comb(len(stores), 2):
                continue
            single = mine["low"].isna().all()
            if single:
                mine = mine.assign(decision=Decision.FASTER)
            order = order_of(mine, stores)
            here = places(order, larger_is_better=True)
            agreed = agreement({store: there[store] for store in stores}, order)
            ordered = sorted(stores, key=lambda store: -there[store])
            open_pairs = mine.loc[mine["decision"] == Decision.UNDECIDED, ["faster", "slower"]]
            for store in ordered:
                beside = open_pairs[open_pairs.eq(store).any(axis=1)].to_numpy().ravel()
                undecided = [other for other in stores if other in beside and other != store]
                mean = results.measured(store, *key)
                place = 1 + sum(there[other] > there[store] for other in stores)
                rows.append(
                    [
                        *(workload, parameters, store, there[store], place),
                        *(mean.mean if mean else math.nan, here[store], " ".join(undecided)),
                        *(SINGLE if single else INTERVALS, agreed.concordant, agreed.discordant),
                        *(agreed.total, "yes" if results.rejected(store, *key) else "no"),
                    ]
                )
        workloads = [*run.study.workload_names, MEAN]
        rows.sort(key=lambda row: workloads.index(row[0]))
        return pd.DataFrame(rows, columns=COLUMNS)

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """A panel per workload, published places left, places here right.

        Stores of one place stand close together, by their values. Lines of single runs are dashed.
        """
        panels = list(table.groupby(["workload", "parameters"], sort=False))
        most = max((len(rows) for _, rows in panels), default=1)
        figure, axes = grid(len(panels), ACROSS, 0, 0.65 + 0.26 * most)
        for ax in axes.flat:
            ax.set_axis_off()
        if not panels:
            axes[0, 0].text(0.5, 0.5, _("no two stores have values on both sides"), ha="center")
        for ax, ((workload, _parameters), rows) in zip(axes.flat, panels, strict=False):
            _panel(ax, rows, looks.stores, most)
            ax.set_title(
                f"{looks.study.workload(workload).title}\n{agreed_words(rows.iloc[0])}", fontsize=8
            )
        if any_rejected(table):
            figure.legend(handles=[rejected_handle()], loc="outside lower center")
        return figure

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        """A panel per workload."""
        if table.empty:
            return Chart([], [], note=_("no two stores have values on both sides"))
        shown = set(table["store"])
        legend = [e for e in point_legend(looks.stores, MARKERS) if e["store"] in shown]
        rows, panels = [], []
        groups = list(table.groupby(["workload", "parameters"], sort=False))
        most = max(len(mine) for _key, mine in groups)
        for number, ((workload, _parameters), mine) in enumerate(groups):
            left, right = heights(mine, "published_place"), heights(mine, "place")
            for row in mine.to_dict("records"):
                for side, at in ((0, left), (1, right)):
                    place = {"panel": number, "at": float(at[row["store"]])}
                    rows.append(_row(row, side, looks.stores) | place)
            title = f"{looks.study.workload(workload).title}\n{agreed_words(mine.iloc[0])}"
            words = _("Places of the stores, published and here. {}").format(title)
            layers = _layers(legend, most, dashed=mine["basis"].iloc[0] == SINGLE)
            panels.append(Panel(layers, title, words.replace("\n", ". "), 30 + 32 * most))
        notes = [_("~: undecided against another store."), rejected_note(table)]
        return Chart(rows, panels, legend, 2, " ".join(filter(None, notes)))


def sides() -> list[str]:
    """What stands above the places: published ones left, those here right."""
    return [_("published"), _("here")]


def published_place(row) -> str:
    """The place with a mark where the audit of the source rejects the value."""
    return f"{row.published_place}{MARK if row.rejected == 'yes' else ''}"


def agreed_words(row) -> str:
    words = [
        _("same order: {}/{} pairs").format(row["same"], row["pairs"]),
        _("opposite: {}").format(row["opposite"]),
    ]
    rest = row["pairs"] - row["same"] - row["opposite"]
    return ", ".join([*words, _("neither: {}").format(rest)] if rest else words)


def _panel(ax: plt.Axes, rows: pd.DataFrame, stores: dict[str, Look], most: int) -> None:
    left = heights(rows, "published_place")
    right = heights(rows, "place")
    dashed = rows["basis"].iloc[0] == SINGLE
    for row in rows.itertuples():
        look = stores[row.store]
        marker = MARKERS[list(stores).index(row.store) % len(MARKERS)]
        ends = [left[row.store], right[row.store]]
        ax.plot(
            [0, 1],
            ends,
            color=look.color,
            marker=marker,
            markersize=5,
            linewidth=1.6,
            linestyle="--" if dashed else "-",
            gid=f"slope-{row.store}",
        )
        tie = " ~" if row.undecided_with else ""
        words = {"fontsize": 7.5, "color": DARK, "va": "center"}
        ax.text(-0.1, ends[0], f"{look.title} {published_place(row)}", ha="right", **words)
        ax.text(1.1, ends[1], f"{row.place} {look.title}{tie}", ha="left", **words)
    ax.set_xlim(-1.15, 2.3)
    ax.set_ylim(most + 0.5, 0.2)
    for x, name in enumerate(sides()):
        ax.text(x, 0.45, name, ha="center", va="bottom", fontsize=7.5, color="0.35")


def heights(rows: pd.DataFrame, column: str) -> dict[str, float]:
    """Where each store stands: its place, and stores of one place side by side around it."""
    found: dict[str, float] = {}
    last = -math.inf
    values = rows.sort_values("measured" if column == "place" else "published", ascending=False)
    for place, group in values.groupby(column):
        # Below them their places are free.
        first = place + (len(group) - 1) / 2 * (1 - APART)
        for index, store in enumerate(group["store"]):
            last = max(first + index * APART, last + APART)
            found[store] = last
    return found


def _row(row: dict, side: int, stores: dict[str, Look]) -> dict:
    look = stores[row["store"]]
    place = row[("published_place", "place")[side]]
    mark = MARK if row["rejected"] == "yes" else ""
    undecided = [stores[name].title for name in row["undecided_with"].split()] if side else []
    tilde = " ~" if undecided else ""
    label = f"{place} {look.title}{tilde}" if side else f"{look.title} {place}{mark}"
    value = row[("published", "measured")[side]]
    return plain(row, ["workload", "store"]) | {
        "side": sides()[side],
        "value": None if pd.isna(value) else float(value),
        "place": int(place),
        "name": look.title,
        "label": label,
        "title": f"{look.title}, {sides()[side]}",
        "exact": exact("throughput", value, "ops/s"),
        "place_text": str(place),
        "undecided": ", ".join(undecided),
        "basis_text": sentence(row["basis"]) if side else "",
    }


def _layers(legend: list[dict], most: int, dashed: bool) -> list[alt.Chart]:
    axis = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False, grid=False)
    published, here = sides()
    x = alt.X("side:N", sort=[published, here], title=None, axis=axis)
    x = x.scale(type="point", padding=1.1)
    scale = alt.Scale(domain=[most + 0.5, 0.5], nice=False)
    y = alt.Y("at:Q", axis=None, scale=scale)
    tint = by_legend(legend, "color", shown=False)
    base = alt.Chart().encode(x=x, y=y, **texts(TEXTS))
    words = {"style": "kv-text", "aria": False, "limit": 120}
    return [
        alt.Chart()
        .mark_line(strokeWidth=2, strokeDash=[5, 3] if dashed else [], aria=False)
        .encode(x=x, y=y, **tint),
        base.mark_point(filled=True, size=70, opacity=1).encode(
            **tint, **by_legend(legend, "shape")
        ),
        base.transform_filter(f"datum.side === '{published}'")
        .mark_text(align="right", dx=-9, **words)
        .encode(text="label:N"),
        base.transform_filter(f"datum.side === '{here}'")
        .mark_text(align="left", dx=9, **words)
        .encode(text="label:N"),
    ]
