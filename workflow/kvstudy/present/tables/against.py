"""Throughput by that of one store, published and measured: what machines have in common."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.findings.pairs import ratio_of
from kvstudy.analyse.tidy.numbers import between, significant
from kvstudy.language.current import N_, _
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, EQUAL, TIE, marked, rejected_note, with_mark
from kvstudy.present.typeset.table import Grid, Line, Section, Table
from kvstudy.stats.ratios import Decision
from kvstudy.study.base import Name
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

COLUMNS = [
    *["workload", "parameters", "store", "base", "published", "here", "low", "high", "decision"],
    *["here_by_published", "rejected"],
]
WHOLE = ("overall", "throughput")


class AgainstTable(Table):
    """Ratios to one store, published and here; a part of every report with both."""

    controls = "noise floor"
    own_caption = N_("Throughput by that of one store, published and here")

    kind: Literal["against"] = Field(
        description="Throughput by that of one store, published and measured."
    )
    base: Name | None = Field(
        default=None,
        description="The store that the others are divided by. Left out: the first that has "
        "values on both sides.",
    )

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per workload and store: its throughput by that of ``base``.

        ``published`` and ``here`` are these ratios, ``low`` and ``high`` the 95 % interval of
        the latter, ``decision`` as in ``findings.pairs``; NaN or "" where there is no value;
        ``rejected`` whether the audit of the source rejects one of the two rates. Rates
        themselves do not compare between machines.
        """
        results, stores = run.results, run.study.store_names
        listed = []
        for workload in [*run.study.workload_names, MEAN]:
            rates = {store: results.published(store, workload, *WHOLE) for store in stores}
            rates = {store: rate for store, rate in rates.items() if rate}
            measured = run.headline_analysis.pairs
            measured = measured[measured["workload"] == workload]
            base = self._base(list(rates), measured)
            if base is None or len(rates) < 2:
                continue
            for store in rates:
                if store == base:
                    continue
                here, ratio = _here(measured, store, base), rates[store] / rates[base]
                rejected = any(results.rejected(of, workload, *WHOLE) for of in (store, base))
                listed.append(
                    [workload, here["parameters"], store, base, ratio]
                    + [here[name] for name in ("ratio", "low", "high", "decision")]
                    + [here["ratio"] / ratio, rejected]
                )
        return pd.DataFrame(listed, columns=COLUMNS)

    def _base(self, published: list[str], measured: pd.DataFrame) -> str | None:
        """The named store, if it was published; else the first that was measured too."""
        if self.base:
            return self.base if self.base in published else None
        both = set(measured["faster"]) | set(measured["slower"])
        first = published[0] if published else None
        return next((store for store in published if store in both), first)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload, a line per store."""
        sections = []
        for workload, group in rows.groupby("workload", sort=False):
            base = run.titles[group["base"].iloc[0]]
            lines = [
                Line(f"{run.titles[row.store]} / {base}", _cells(row), f"{row.store} {row.base}")
                for row in group.itertuples()
            ]
            sections.append(Section(run.study.workload(workload).title, lines, workload=workload))
        single = rows["here"].notna().any() and not rows["low"].notna().any()
        notes = [
            _("Ratios of throughputs. Here: of the geometric means. One run each has no interval.")
            if single
            else _(
                "Ratios of throughputs. Here: of the geometric means. {}: undecided. {}: equal "
                "within ±10 %."
            ).format(TIE, EQUAL),
            *([rejected_note()] if rows["rejected"].any() else []),
        ]
        columns = [_("published"), _("here"), _("95 % interval"), _("here by published")]
        return [Grid(columns, sections, notes, sortable=True)]


def _here(measured: pd.DataFrame, store: str, base: str) -> dict[str, object]:
    for row in measured.itertuples():
        if {row.faster, row.slower} != {store, base}:
            continue
        ratio, low, high = ratio_of(row, store)
        words = {"parameters": row.parameters, "decision": row.decision}
        return words | {"ratio": ratio, "low": low, "high": high}
    nothing = dict.fromkeys(("ratio", "low", "high"), math.nan)
    return nothing | {"parameters": "", "decision": ""}


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
