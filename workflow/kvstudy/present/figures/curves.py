"""Throughput and latencies over one size: threads, records or operations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from kvstudy.analyse.tidy.numbers import MARK, converted, marked_values, sign
from kvstudy.language.current import N_, ORIGINAL, _, using
from kvstudy.language.reasons import sentence
from kvstudy.libraries import alt, lines, pd, plt, sns, ticker
from kvstudy.present.drawing import chart, draw
from kvstudy.present.drawing.chart import Chart, Panel, by_legend, size_words
from kvstudy.present.drawing.draw import DARK, LINES, MARKERS, DrawnFigure, Look, Looks
from kvstudy.study import combinations
from kvstudy.study.base import ALL, MEASURED, PUBLISHED, SIZE_TITLES, Metric, Name, Size, Sizes
from kvstudy.study.combinations import Line, check_lines
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.swept import Swept

# What an axis is given in.
UNITS = {"ops/s": "kops/s", "ms": "s", "us": "ms"}
PALETTE = "colorblind"
# Values of a size that differ by more are drawn at equal steps of their logarithm.
WIDE = 20
RING = {"linestyle": "none", "marker": "o", "markersize": 9}
RING |= {"markerfacecolor": "none", "markeredgecolor": DARK, "markeredgewidth": 0.8}
TEXTS = {"exact": N_("Value"), "size": N_("Size"), "range": N_("Range")}
TEXTS |= {"runs": N_("Mean of"), "saturation": N_("Saturation"), "note": N_("Note")}


class Curves(DrawnFigure):
    """Lines over a size: a panel for each metric, and one for published throughput."""

    cells = "every size"

    kind: Literal["curves"] = Field(
        description="Throughput and latencies over threads, records or operations."
    )
    over: Size = Field(description="The size on the x axis.")
    workloads: list[Name] = Field(min_length=1, description="A line for each.")
    stores: list[Name] = Field(default=[], description="Left out: all of the study.")
    where: Sizes = Field(
        default=Sizes(),
        description="The other sizes; a list makes a line for each. Left out: those shown.",
    )
    metrics: list[Metric] = Field(
        default=["throughput"],
        min_length=1,
        description="throughput, runtime, and latencies of single operations.",
    )
    operations: Literal["each", "together"] = Field(
        default="each",
        description="Of latencies. each: a panel for each kind of operation. together: one of the "
        "mean over all single operations, whatever their kind.",
    )
    saturation: bool = Field(
        default=False,
        description="Mark from how many threads on throughput is within 5 % of its largest.",
    )

    @model_validator(mode="after")
    def _fits(self) -> Curves:
        latencies = [metric for metric in self.metrics if metric.startswith("latency")]
        if self.operations == "together" and latencies != ["latency_mean"]:
            raise ValueError(
                "operations: together needs latency_mean among the metrics and no other latency, "
                "whose value for all operations together is not recorded"
            )
        return self

    def check(self, study: Study, path: Path, key: str) -> None:
        """KvstudyError for names that the study does not have, or a line without cells."""

        super().check(study, path, key)
        check_lines(self, study, path, key)

    def rows(self, run: Run) -> pd.DataFrame:
        return curves_table(self, run.study, run.swept)

    def published_rows(self, study: Study, values: pd.DataFrame) -> pd.DataFrame | None:
        from kvstudy.analyse.tidy.files import CELLS, SUMMARY
        from kvstudy.analyse.tidy.swept import Swept

        swept = Swept(
            study=study, scale=1.0, summary=SUMMARY.frame(), cells=CELLS.frame(), published=values
        )
        rows = curves_table(self, study, swept)
        rows = rows[rows["side"] == PUBLISHED].reset_index(drop=True)
        return rows if len(rows) else None

    def draw(self, table: pd.DataFrame, looks: Looks) -> plt.Figure:
        """A panel for each metric and side; lines with the range of their runs."""
        panels = panels_of(table, self)
        drawing, axes = draw.grid(len(panels), 2, 0.5, 1.75)
        styles = line_looks(self, looks.study, looks.stores)
        for ax, panel in zip(axes.flat, panels, strict=False):
            mine = table[table["panel"] == panel].dropna(subset="value")
            if mine.empty:
                draw.say(ax, _("nothing was measured"))
                ax.set_axis_off()
                continue
            _panel(ax, mine, self.over, styles)
            ax.set_title(title_of(mine), loc="left", pad=5)
        sns.despine(drawing)
        used = set(table.dropna(subset="value")["line"])
        handles = [
            lines.Line2D([], [], color=color, ls=style, marker=marker, markersize=3.5, label=label)
            for index, (color, style, marker, label) in styles.items()
            if index in used
        ]
        if (table["saturated"] == "yes").any():
            handles.append(lines.Line2D([], [], label=_("saturated from here"), **RING))
        handles += draw.rejected_handles(table)
        if handles:
            columns = draw.legend_columns(handles)
            drawing.legend(handles=handles, loc="outside upper center", ncols=columns)
        return drawing

    def chart(self, table: pd.DataFrame, looks: Looks) -> Chart:
        looks = line_looks(self, looks.study, looks.stores)
        known = table.dropna(subset="value")
        if known.empty:
            return Chart([], [], note=_("nothing was measured"))
        names = panels_of(table, self)
        rows = [
            _row(row, self, looks) | {"panel": names.index(row["panel"])}
            for row in known.to_dict("records")
        ]
        legend = []
        for index in sorted(known["line"].unique()):
            of_color, style, marker, label = looks[index]
            store = known.loc[known["line"] == index, "store"].iloc[0]
            legend.append(chart.line_entry(label, chart.color(of_color), style, marker, store))
        panels = []
        for name in names:
            mine = known[known["panel"] == name]
            title, unit = title_of(mine), sign(mine["unit"].iloc[0])
            words = _("Line chart. {}, in {}, over {}.").format(title, unit, sentence(self.over))
            panels.append(Panel(_layers(mine, self, legend), title, words))
        rings = (known["saturated"] == "yes").any()
        notes = [_("A ring: from here on throughput is saturated.") if rings else ""]
        notes.append(chart.rejected_note(known))
        return Chart(rows, panels, legend, min(len(panels), 2), " ".join(filter(None, notes)))


def curves_table(figure: Curves, study: Study, swept: Swept) -> pd.DataFrame:
    """One row per point and panel: the columns of ``Swept.along``, panel, line, saturated.

    Values are in the unit of the axis. ``line`` numbers the lines from 0. ``saturated``
    is yes at the point from which on throughput is within 5 % of the line's largest
    (``stats.laws.saturation``), else no.
    """
    from kvstudy.analyse.tidy.swept import COLUMNS as KEYS

    frames = []
    for index, line in enumerate(_lines(figure, study)):
        for metric in figure.metrics:
            for operation in _operations(figure, metric, line.workload, swept):
                rows = swept.along(line, operation, metric)
                rows["line"] = index
                with using(ORIGINAL):
                    rows["panel"] = [panel_title(side, metric, operation) for side in rows["side"]]
                rows["saturated"] = "no"
                if figure.saturation and metric == "throughput":
                    _mark(rows, figure.over)
                frames.append(_in_axis_unit(rows))
    columns = [*KEYS, "line", "panel", "saturated"]
    return pd.concat(frames, ignore_index=True)[columns]


def _lines(figure: Curves, study: Study) -> list[Line]:
    stores = figure.stores or study.store_names
    return combinations.lines(study, figure.over, figure.where, figure.workloads, stores)


def panels_of(table: pd.DataFrame, figure: Curves) -> list[str]:
    """The panels that have values: metric by metric, the published ones behind the measured."""
    found = table.dropna(subset="value").drop_duplicates("panel")
    places = found.assign(metric=found["metric"].map(figure.metrics.index))
    return places.sort_values(["metric", "side"], kind="stable")["panel"].tolist() or [""]


def _operations(figure: Curves, metric: str, workload: str, swept: Swept) -> list[str]:
    if not metric.startswith("latency"):
        return ["overall"]
    return [ALL] if figure.operations == "together" else swept.operations(workload)


def title_of(rows: pd.DataFrame) -> str:
    """What stands above the panel of ``rows``; their ``panel`` is the same in English."""
    first = rows.iloc[0]
    return panel_title(first["side"], first["metric"], first["operation"])


def panel_title(side: str, metric: str, operation: str) -> str:
    """What stands above a panel of curves."""
    name = _(METRICS[metric].short)
    if metric.startswith("latency"):
        of = _("all operations") if operation == ALL else sentence(operation)
        name = _("Latency of {}, {}").format(of, name.lower())
    # Whose it is stands in the caption: half the width of a page has no room for it.
    if side == PUBLISHED:
        return _("{}, published").format(name)
    # Latencies are rarely published; where they are, the other title says so.
    return name if metric.startswith("latency") else _("{}, measured here").format(name)


def _mark(rows: pd.DataFrame, over: str) -> None:
    from kvstudy.stats.laws import saturation

    for side in (MEASURED, PUBLISHED):
        mine = rows[rows["side"] == side].dropna(subset="value")
        if mine[over].nunique() < 2:
            continue
        point = saturation(mine[over].tolist(), mine["value"].tolist())
        rows.loc[mine.index[mine[over] == point], "saturated"] = "yes"


def _in_axis_unit(rows: pd.DataFrame) -> pd.DataFrame:
    for index, unit in rows.loc[rows["unit"] != "", "unit"].items():
        wanted = UNITS.get(unit, unit)
        for name in ("value", "low", "high"):
            rows.loc[index, name] = converted(rows.loc[index, name], unit, wanted)
        rows.loc[index, "unit"] = wanted
    return rows


def _is_wide(sizes: list[int]) -> bool:
    return sizes[0] > 0 and sizes[-1] / sizes[0] > WIDE


def line_looks(
    figure: Curves, study: Study, stores: dict[str, Look]
) -> dict[int, tuple[str, object, str, str]]:
    """Colour, line style, marker and label of each line.

    The colour is the store's; where there is one store, the workload's. What else tells
    lines apart is their style.
    """
    found = _lines(figure, study)
    one_store = len({line.store for line in found}) == 1
    palette = sns.color_palette(PALETTE, len(figure.workloads)).as_hex()
    styles: dict[object, int] = {}
    looks = {}
    for index, line in enumerate(found):
        workload = figure.workloads.index(line.workload)
        color = palette[workload] if one_store else stores[line.store].color
        kind = line.fixed if one_store else (line.fixed, line.workload)
        style = styles.setdefault(kind, len(styles))
        marker = MARKERS[workload % len(MARKERS)] if one_store else stores[line.store].marker
        label = _label(line, found, study, stores)
        looks[index] = (color, LINES[style % len(LINES)], marker, label)
    return looks


def _label(line: Line, all_lines: list[Line], study: Study, stores: dict[str, Look]) -> str:
    parts = []
    if len({each.store for each in all_lines}) > 1 or len(all_lines) == 1:
        parts.append(stores[line.store].title)
    if len({each.workload for each in all_lines}) > 1:
        parts.append(study.workload(line.workload).short)
    for place, (size, number) in enumerate(line.fixed):
        same_workload = [each for each in all_lines if each.workload == line.workload]
        if len({each.fixed[place] for each in same_workload}) > 1:
            parts.append(size_words(size, number))
    return ", ".join(parts)


def _panel(ax: plt.Axes, table: pd.DataFrame, over: str, looks: dict) -> None:
    for index, rows in table.groupby("line", sort=True):
        color, style, marker, _label = looks[index]
        rows = rows.sort_values(over)
        if (rows["n"] > 1).any():
            ends = (rows["low"], rows["high"])
            ax.fill_between(rows[over], *ends, color=color, alpha=0.15, linewidth=0)
        form = {"marker": marker, "markersize": 3.5, "linewidth": 1.1}
        ax.plot(rows[over], rows["value"], color=color, linestyle=style, **form)
        at = rows[rows["saturated"] == "yes"]
        ax.plot(at[over], at["value"], **RING)
        for row in rows[rows["rejected"] == "yes"].itertuples():
            place = (getattr(row, over), row.value)
            ax.annotate(MARK, place, (4, 1), textcoords="offset points", color=DARK, fontsize=8)
    values = sorted(table[over].unique())
    if _is_wide(values):
        ax.set_xscale("log")
    draw.number_axis(ax.xaxis, ticker.FixedLocator(values), ".0f")
    ax.minorticks_off()
    ax.set_ylim(0, None)
    draw.number_axis(ax.yaxis)
    ax.set(xlabel=_(SIZE_TITLES[over]), ylabel=sign(table["unit"].iloc[0]))


def _row(row: dict, figure: Curves, looks: dict) -> dict:
    sizes = [size_words(size, row[size]) for size in ("records", "operations", "threads")]
    names = ["store", "workload", figure.over, "value", "low", "high", "n", "saturated"]
    label, rejected = looks[row["line"]][3], row["rejected"] == "yes"
    return chart.plain(row, names) | {
        "name": label,
        "title": f"{label}, {size_words(figure.over, row[figure.over])}",
        "size": ", ".join(sizes),
        **chart.value_texts(row, row["metric"], row["unit"]),
        "runs": chart.runs(row["n"]) if row["side"] == MEASURED else "",
        "saturation": _("from here on") if row["saturated"] == "yes" else "",
        "mark": MARK if rejected else "",
        "note": marked_values() if rejected else "",
    }


def _layers(table: pd.DataFrame, figure: Curves, legend: list[dict]) -> list[alt.Chart]:
    values = sorted(table[figure.over].unique().tolist())
    wide = _is_wide(values)
    kind = "log" if wide else "linear"
    axis = alt.Axis(values=values, format=",", labelOverlap="greedy", grid=False)
    room = (values[-1] / values[0]) ** 0.03 if wide else 0.03 * (values[-1] - values[0]) or 1
    ends = [values[0] / room, values[-1] * room] if wide else [values[0] - room, values[-1] + room]
    scale = alt.Scale(type=kind, nice=False, zero=False, domain=[float(end) for end in ends])
    x = alt.X(f"{figure.over}:Q", title=_(SIZE_TITLES[figure.over]), scale=scale, axis=axis)
    top = 1.05 * float(table[["value", "high"]].max(axis=None)) or 1
    y = {"title": sign(table["unit"].iloc[0]), "scale": alt.Scale(domain=[0, top])}
    tint = by_legend(legend, "color")
    base = alt.Chart().encode(x=x, **chart.texts(TEXTS))
    return [
        alt.Chart()
        .transform_filter("datum.n > 1")
        .mark_area(opacity=0.15, aria=False)
        .encode(x=x, y=alt.Y("low:Q", **y), y2="high:Q", **tint),
        alt.Chart()
        .mark_line(strokeWidth=1.6, aria=False)
        .encode(x=x, y=alt.Y("value:Q", **y), **by_legend(legend, "color", "dash")),
        base.transform_filter("datum.saturated === 'yes'")
        .mark_point(filled=False, size=200, style="kv-ink", aria=False)
        .encode(y=alt.Y("value:Q", **y)),
        base.mark_point(filled=True, opacity=1, size=40).encode(
            y=alt.Y("value:Q", **y), **by_legend(legend, "color", "shape")
        ),
        base.transform_filter("datum.mark !== ''")
        .mark_text(style="kv-text", aria=False, dx=6, dy=-6)
        .encode(y=alt.Y("value:Q", **y), text="mark:N"),
    ]
