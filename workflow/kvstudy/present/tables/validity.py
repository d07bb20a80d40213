"""The table of validity: what became of the operations, and how fast the good ones came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import between, grouped, share, significant
from kvstudy.language.current import N_, _, ngettext, pgettext
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, marked, number_cell
from kvstudy.present.typeset.table import Grid, Line, Paper, Table, interval_head, sections_of

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


class ValidityTable(Table):
    """How many operations did what was asked; a part of every report."""

    probes = True
    own_caption = N_("Operations that did what was asked, and goodput")

    kind: Literal["validity"] = Field(
        description="Failed and missed operations, goodput, agreement with the servers' counters."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        return run.headline_analysis.validity

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and its parameters."""

        def line(store: str, of: pd.DataFrame) -> Line:
            row = next(of.itertuples())
            # In the file: update: 12 ERROR; ...
            parts = (part.split(": ", 1) for part in row.kinds.split("; ") if part)
            kinds = "; ".join(": ".join([_(operation), *counts]) for operation, *counts in parts)
            notes = [kinds] if kinds else []
            if row.invalid:
                invalid, cells = int(row.invalid), int(row.n)
                text = ngettext("{} of {} cells are invalid", "{} of {} cells are invalid", cells)
                notes.append(text.format(_whole(invalid), _whole(cells)))
            return Line(run.titles[store], _cells(row), store, notes=notes)

        groups = [
            *[(_("Operations"), 4), (_("Not good (%)"), 2), (_("Mean (ops/s)"), 2)],
            (pgettext("counters", "Server's"), 1),
        ]
        columns = [
            *[_("all"), _("good"), _("failed"), _("missed"), pgettext("of operations", "share")],
            *[interval_head(), _("throughput"), _("goodput"), _("counters")],
        ]
        note = _(
            "Sums over all measured cells, invalid ones too; throughput and goodput are their "
            "plain means. Not good: share of failed and missed operations, with Wilson's interval "
            "(rather too narrow, since operations of one cell often fail together). Server's "
            "counters: largest deviation from YCSB's counts; {}: not checked."
        ).format(DASH)
        own = rows[rows["store"].isin(run.study.store_names)].dropna(subset="n")
        sections = sections_of(own, run.study, line)
        return [Grid(columns, sections, [note], groups=groups, paper=Paper(label=0.15, head=16))]


def _cells(row) -> list[str]:
    agreement = DASH
    if row.checked:
        sign = "\N{MINUS SIGN}" if row.deviation < 0 else "+"
        agreement = f"{sign}{share(abs(row.deviation))}" if row.deviation else "0 %"
    return [
        *(number_cell(n, _whole) for n in (row.operations, row.good, row.failed, row.missed)),
        _percent(row.share),
        between(_percent(row.low), _percent(row.high)),
        *(marked(grouped(significant(rate)), rate) for rate in (row.throughput, row.goodput)),
        agreement,
    ]


def _whole(value: float) -> str:
    return grouped(f"{value:.0f}")


def _percent(value: float) -> str:
    """A share in per cent, without the sign."""
    return marked(significant(value * 100), value)
