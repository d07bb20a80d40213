"""The table of validity: what became of the operations, and how fast the good ones came."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from kvstudy.analyse.tidy.numbers import between, grouped, share, significant
from kvstudy.language.current import _, ngettext, pgettext
from kvstudy.present.tables.checks import DASH, by_workload, interval_head
from kvstudy.present.tables.markup import marked
from kvstudy.study.model import Study


@dataclass
class Line:
    """One store; ``notes`` are what stands below its values."""

    label: str
    cells: list[str]
    notes: list[str]
    store: str


@dataclass
class Section:
    title: str
    lines: list[Line]
    workload: str


def content(found: pd.DataFrame, study: Study, titles: dict[str, str]) -> dict[str, object]:
    """What the templates need: ``sections``, one per workload and its parameters, and heads.

    ``found`` is the validity of the run's analysis.
    """
    sections = []
    for title, rows in by_workload(found[found["store"].isin(study.store_names)], study):
        ordered = rows.set_index("store").reindex(study.store_names).dropna(subset="n")
        lines = [_line(titles[row.Index], row) for row in ordered.itertuples()]
        sections.append(Section(title, lines, rows["workload"].iloc[0]))
    return {
        "heads": {
            "operations": _("Operations"),
            "not_good": _("Not good (%)"),
            "mean": _("Mean (ops/s)"),
            "server": pgettext("counters", "Server's"),
        },
        "columns": [
            *[_("all"), _("good"), _("failed"), _("missed"), pgettext("of operations", "share")],
            *[interval_head(), _("throughput"), _("goodput"), _("counters")],
        ],
        "sections": sections,
        "notes": [
            _(
                "Sums over all measured cells, void ones too; throughput and goodput are plain "
                "means of these cells. Not good: failed and missed operations by all operations, "
                "with Wilson's interval; if there were none, it ends at 3 divided by the number "
                "of operations. Operations of one cell often fail together, so the interval is "
                "rather too narrow. Server's counters: the largest deviation from YCSB's counts; "
                "{} where it could not be checked."
            ).format(DASH)
        ],
    }


def _line(label: str, row) -> Line:
    cells = [
        *(_count(each) for each in (row.operations, row.good, row.failed, row.missed)),
        _percent(row.share),
        between(_percent(row.low), _percent(row.high)),
        *(marked(grouped(significant(each)), each) for each in (row.throughput, row.goodput)),
        _agreement(row),
    ]
    notes = [_kinds(row.kinds)] if row.kinds else []
    if row.void:
        text = ngettext("{} of {} cells are void", "{} of {} cells are void", int(row.n))
        notes.append(text.format(_count(row.void), _count(row.n)))
    return Line(label, cells, notes, row.Index)


def _kinds(kinds: str) -> str:
    """``update: 12 ERROR; ...`` with the operations as people read them."""
    parts = (part.split(": ", 1) for part in kinds.split("; "))
    return "; ".join(": ".join([_(operation), *counts]) for operation, *counts in parts)


def _count(value: float) -> str:
    return DASH if math.isnan(value) else marked(grouped(f"{value:.0f}"), value)


def _percent(value: float) -> str:
    """A share in per cent, without the sign."""
    return marked(significant(value * 100), value)


def _agreement(row) -> str:
    """The largest deviation of the server's counters from YCSB's counts."""
    if not row.checked:
        return DASH
    if row.deviation == 0:
        return "0 %"
    sign = "\N{MINUS SIGN}" if row.deviation < 0 else "+"
    return f"{sign}{share(abs(row.deviation))}"
