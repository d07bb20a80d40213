"""Throughput by that of one store, published and measured: what machines have in common."""

from __future__ import annotations

import math

import pandas as pd

from kvstudy.analyse.tidy.numbers import between, significant
from kvstudy.analyse.tidy.results import Results
from kvstudy.language.current import _
from kvstudy.present.tables.checks import DASH, EQUAL, TIE, Grid, Line, Section
from kvstudy.present.tables.markup import marked
from kvstudy.present.tables.rejected import rejected_note, with_mark
from kvstudy.stats.ratios import Decision
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.source_parts import AgainstTable

COLUMNS = [
    *["workload", "parameters", "store", "base", "published", "here", "low", "high", "decision"],
    *["here_by_published", "rejected"],
]


def rows(table: AgainstTable, study: Study, found: Results, pairs: pd.DataFrame) -> pd.DataFrame:
    """One row per workload and store: its throughput by that of ``base``.

    ``published`` and ``here`` are these ratios, ``low`` and ``high`` the 95 % interval of the
    latter, ``decision`` as in ``analysis.pairs``; NaN or "" where there is no value; ``rejected``
    whether the audit of the source rejects one of the two rates. Rates themselves do not
    compare between machines.
    """
    listed = []
    for workload in [*study.workload_names, MEAN]:
        there = {
            store: found.published(store, workload, "overall", "throughput")
            for store in study.store_names
        }
        known = [store for store, value in there.items() if value]
        measured = pairs[pairs["workload"] == workload]
        base = _base(table, known, measured)
        if base is None or len(known) < 2:
            continue
        for store in known:
            if store == base:
                continue
            here = _here(measured, store, base)
            ratio = there[store] / there[base]
            listed.append(
                [workload, here["parameters"], store, base, ratio]
                + [here[name] for name in ("ratio", "low", "high", "decision")]
                + [here["ratio"] / ratio]
                + [
                    any(
                        found.rejected(of, workload, "overall", "throughput")
                        for of in (store, base)
                    )
                ]
            )
    return pd.DataFrame(listed, columns=COLUMNS)


def _base(table: AgainstTable, known: list[str], measured: pd.DataFrame) -> str | None:
    """The named store, if it was published; else the first that was measured too."""
    if table.base:
        return table.base if table.base in known else None
    both = set(measured["faster"]) | set(measured["slower"])
    return next((store for store in known if store in both), known[0] if known else None)


def _here(measured: pd.DataFrame, store: str, base: str) -> dict[str, object]:
    for row in measured.itertuples():
        if {row.faster, row.slower} != {store, base}:
            continue
        ratio, low, high = row.ratio, row.low, row.high
        if row.faster == base:
            ratio, low, high = 1 / ratio, 1 / high, 1 / low
        words = {"parameters": row.parameters, "decision": row.decision}
        return words | {"ratio": ratio, "low": low, "high": high}
    nothing = dict.fromkeys(("ratio", "low", "high"), math.nan)
    return nothing | {"parameters": "", "decision": ""}


def content(frame: pd.DataFrame, study: Study, titles: dict[str, str]) -> Grid:
    """What the template of checks needs of ``rows``."""
    sections = []
    for workload, group in frame.groupby("workload", sort=False):
        base = titles[group["base"].iloc[0]]
        lines = [
            Line(f"{titles[row.store]} / {base}", _cells(row), f"{row.store} {row.base}")
            for row in group.itertuples()
        ]
        sections.append(Section(study.workload(workload).title, lines, workload=workload))
    single = frame["here"].notna().any() and not frame["low"].notna().any()
    return {
        "columns": [_("published"), _("here"), _("95 % interval"), _("here by published")],
        "sections": sections,
        "sortable": True,
        "notes": [
            _("Ratios of throughputs. Here: of the geometric means. One run each has no interval.")
            if single
            else _(
                "Ratios of throughputs. Here: of the geometric means. {}: undecided. {}: equal "
                "within ±10 %."
            ).format(TIE, EQUAL),
            *([rejected_note()] if frame["rejected"].any() else []),
        ],
    }


def _cells(row) -> list[str]:
    interval = DASH
    if not math.isnan(row.low):
        interval = between(significant(row.low), significant(row.high))
    mark = {Decision.UNDECIDED: f" {TIE}", Decision.EQUAL: f" {EQUAL}"}.get(row.decision, "")
    return [
        with_mark(_ratio(row.published), row.rejected),
        _ratio(row.here, mark),
        interval,
        with_mark(_ratio(row.here_by_published), row.rejected and not math.isnan(row.here)),
    ]


def _ratio(value: float, mark: str = "") -> str:
    return DASH + mark if math.isnan(value) else marked(significant(value) + mark, value)
