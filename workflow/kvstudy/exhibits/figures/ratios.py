"""Every two stores compared, here and in the source: a dot plot per workload."""

from __future__ import annotations

import math
from itertools import combinations
from textwrap import fill
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.pairs import fastest_first, floor_of, ratio_of
from kvstudy.exhibits.figure import DrawnFigure
from kvstudy.exhibits.table import margin_words, throughput_of
from kvstudy.exhibits.texts import mark_entries, mark_notes
from kvstudy.language.current import N_, _
from kvstudy.layout import plot
from kvstudy.layout.looks import DARK, INK, SOLID, Style, StyleSheet
from kvstudy.layout.numbers import MARK, OTHER_SIZE, between, significant
from kvstudy.libraries import np, pd
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [
    *["workload", "parameters", "one", "other", "ratio", "low", "high"],
    *["decision", "in_floor", "floor", "published", "inconsistent", "other_size", "made_of"],
]
NUMBERS = ["ratio", "low", "high", "floor", "published"]
# Of a pair, in one line; of the title of a panel.
LETTERS, TITLE_LETTERS = 32, 20
# How far the marks of here and there are above and below the middle of their line.
APART = 0.16
TEXTS = {"ratio_text": N_("Throughput ratio"), "interval": N_("95 % interval")}
TEXTS |= {"verdict": N_("Verdict"), "published_text": N_("Published")}
TEXTS |= {"floor_text": N_("Noise floor"), "cells": N_("Sizes")}
NOTE = N_("Right of 1, the first store is faster. Square: equal within {}.")
FLOOR_NOTE = N_("Faint: within the noise floor, the grey band.")
VERDICTS = {
    "faster": N_("a difference"),
    "equal": N_("equal within {}"),
    "undecided": N_("undecided"),
}


class RatioPlot(DrawnFigure):
    """Throughput ratios of every two stores, here and in the source; a part of every report."""

    in_template = True
    compares = True
    texts = TEXTS
    own_caption = N_("Pairwise throughput ratios")

    kind: Literal["ratios"] = Field(description="Throughput ratios of all pairs of stores.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload and pair of stores, the fastest first: throughput one/other.

        ``low`` and ``high`` are the 95 % interval, ``decision`` and ``in_floor`` as in
        ``analysis.pairs``, ``floor`` the noise floor where it is above 1, ``published`` the ratio
        of the source's values and ``inconsistent`` whether its audit finds one of them
        inconsistent, ``other_size`` whether one of the stores has its own number of records or
        operations; ``made_of`` is ``Statistic.text``; NaN where unknown. Rates do not compare
        between machines, so there are ratios alone.
        """
        floor = floor_of(run.analysis.floor) or 1.0
        pairs = run.headline_analysis.pairs
        of_pair = {(row.workload, row.faster, row.slower): row for row in pairs.itertuples()}
        rows = []
        for workload in [*run.study.workload_names, MEAN]:
            for one, other in combinations(fastest_first(pairs, run.study.store_names), 2):
                published, inconsistent = run.results.published_ratio(one, other, workload)
                masks = {
                    of
                    for of in run.other_sizes
                    if of[0] in (one, other) and workload in (of[1], MEAN)
                }
                source = [published, *("yes" if is_so else "no" for is_so in (inconsistent, masks))]
                settings = run.headline.items()
                if workload != MEAN:
                    settings = [(workload, run.headline[workload])]
                made_of = throughput_of(one, settings, other).text
                row = of_pair.get((workload, one, other), of_pair.get((workload, other, one)))
                if row is not None:
                    verdict = [row.decision, row.in_floor, floor if floor > 1 else math.nan]
                    ratio = [row.parameters, one, other, *ratio_of(row, one), *verdict]
                    rows.append([workload, *ratio, *source, made_of])
                elif pd.notna(published) and len(pairs):
                    gap = [math.nan] * 3
                    rows.append([workload, "", one, other, *gap, "", "", math.nan, *source, ""])
        return pd.DataFrame(rows, columns=COLUMNS)

    def nothing(self, table: pd.DataFrame) -> str:
        return _("no pair of stores has a common repetition") if table.empty else ""

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> plot.Plot:
        """A panel per workload, a line per pair, one axis for all; the floor is a grey band.

        Filled marks with intervals were measured, squares are equal and faint ones not above the
        noise floor; hollow diamonds were published.
        """
        one, other = (table[name].map(styles.titles) for name in ("one", "other"))
        published = table["published"].notna()
        shift = APART if published.any() else 0
        table = table.assign(
            # Long names have several lines, or nothing would be left for the marks.
            pair=(one + " / " + other).map(lambda pair: fill(pair, LETTERS)),
            store=table["one"],
            faint=table["in_floor"] == "yes",
            equal=table["decision"] == "equal",
            round=table["decision"] != "equal",
            above=-shift,
            below=shift,
            mark=np.where((table["inconsistent"] == "yes") & published, MARK, ""),
            size=np.where((table["other_size"] == "yes") & table["ratio"].notna(), OTHER_SIZE, ""),
        )
        diamond = Style(_("published"), "0.35", marker="D", hollow=True)
        label = {"size": 7, "dx": 3, "dy": -1, "align": "left"}
        form = {"faint": "faint", "shift": "above", "look": INK}
        low, high = _ends(table)
        x = plot.axis("ratio", _("Throughput ratio"), low, high, log=True)
        y = plot.Bands("pair", "", (*table["pair"].unique(),))
        layers = [
            plot.Rule(1, "x"),
            plot.Whisker("low", "high", "x", **form),
            plot.Points(marker="o", where="round", hover=True, **form),
            plot.Points(marker="s", where="equal", hover=True, **form),
            plot.Points(x="published", look=diamond, shift="below", hover=True),
            plot.Label("size", shift="above", **label),
            plot.Label("mark", x="published", shift="below", **label),
        ]
        most, lines = max(pair.count("\n") for pair in y.texts), len(y.texts)
        words, panels = _("Throughput ratios of all pairs of stores with 95 % intervals. {}."), []
        for workload, rows in table.groupby("workload", sort=False):
            floor, title = rows["floor"].max(), _title(workload, styles)
            behind = [plot.Band(1 / floor, floor)] if math.isfinite(floor) else []
            sides, said = (x, y, [*behind, *layers], []), words.format(title)
            panels.append(plot.Panel(title, rows, *sides, said, 34 + 24 * lines))
        keys = [diamond] if published.any() else []
        if table["low"].notna().any():
            measured = _("measured, with its 95 % interval")
            keys.insert(0, Style(measured, DARK, marker="o", line=SOLID))
        elif keys:
            keys.insert(0, Style(_("measured"), DARK, marker="o"))
        note = [_(NOTE).format(margin_words(styles.study))]
        note += [_(FLOOR_NOTE)] if table["floor"].notna().any() else []
        note += [_("Hollow diamonds: published.")] if published.any() else []
        return plot.Plot(
            panels,
            note=" ".join([*note, *mark_notes(table)]),
            keys=keys + mark_entries(table),
            across=3,
            columns=5,
            first=0.35,
            each=0.55 + (0.25 + 0.15 * most) * lines,
        )

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        limits = [
            significant(row[name]) if math.isfinite(row[name]) else "" for name in ("low", "high")
        ]
        verdict = _(VERDICTS[row["decision"]]) if row["decision"] else _("not measured")
        verdict = verdict.format(margin_words(styles.study))
        if row["decision"] == "undecided" and row["in_floor"] == "yes":
            verdict = _("undecided, within the noise floor")
        elif row["decision"] == "undecided" and (row["low"] > 1 or row["high"] < 1):
            verdict = _("undecided after correction for the number of pairs")
        pair = " / ".join(styles.titles[row[name]] for name in ("one", "other"))
        return {
            "title": f"{pair}, {_title(row['workload'], styles)}",
            "ratio_text": _exact(row["ratio"]),
            "interval": between(*limits) if all(limits) else "",
            "verdict": verdict,
            "floor_text": _exact(row["floor"]),
            "published_text": _exact(row["published"]) + row["mark"],
            "cells": row["parameters"],
        }


def _title(workload: str, looks: StyleSheet) -> str:
    use = looks.study.workload(workload)
    # "Workload Update, large: 100 000 records" ran into the title of the next panel.
    return use.title if len(use.title) <= TITLE_LETTERS else use.short


def _ends(table: pd.DataFrame) -> tuple[float, float]:
    """The ends of the axis of all panels, with room around the values."""
    values = table[NUMBERS].stack()
    values = pd.concat([values, 1 / table["floor"].dropna()])
    # With room for the mark next to the last value.
    return float(min(values.min(), 0.9) / 1.3), float(max(values.max(), 1.1) * 1.6)


def _exact(value: float) -> str:
    return significant(value, 4) if math.isfinite(value) else ""
