"""The table of validity: what became of the operations, and how fast the good ones came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.tidy.numbers import between, share, significant
from kvstudy.language.current import N_, _, ngettext, pgettext
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH
from kvstudy.present.typeset.table import (
    Grid,
    Paper,
    Table,
    interval_head,
    number_of,
    rate,
    store_grid,
    whole,
)

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run


class ValidityTable(Table):
    """How many operations did what was asked; a part of every report."""

    probes = True
    finding = "validity"
    own_caption = N_("Operations that did what was asked, and goodput")

    kind: Literal["validity"] = Field(
        description="Failed and missed operations, goodput, agreement with the servers' counters."
    )

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A section per workload and its parameters."""
        groups = [
            *[(_("Operations"), 4), (_("Not good (%)"), 2), (_("Mean (ops/s)"), 2)],
            (pgettext("counters", "Server's"), 1),
        ]
        columns = [
            (_("all"), number_of("operations", whole)),
            (_("good"), number_of("good", whole)),
            (_("failed"), number_of("failed", whole)),
            (_("missed"), number_of("missed", whole)),
            (pgettext("of operations", "share"), number_of("share", _percent)),
            (interval_head(), lambda row: between(_percent(row.low), _percent(row.high))),
            (_("throughput"), number_of("throughput", rate)),
            (_("goodput"), number_of("goodput", rate)),
            (_("counters"), _agreement),
        ]
        note = _(
            "Sums over all measured cells, invalid ones too; throughput and goodput are their "
            "plain means. Not good: share of failed and missed operations, with Wilson's interval "
            "(rather too narrow, since operations of one cell often fail together). Server's "
            "counters: largest deviation from YCSB's counts; {}: not checked."
        ).format(DASH)
        own = rows[rows["store"].isin(run.study.store_names)].dropna(subset="n")
        paper = Paper(label=0.15, head=16)
        return [store_grid(own, run, columns, [note], _below, groups=groups, paper=paper)]


def _below(row) -> list[str]:
    """What failed, and how many cells are invalid."""
    # In the file: update: 12 ERROR; ...
    parts = (part.split(": ", 1) for part in row.kinds.split("; ") if part)
    kinds = "; ".join(": ".join([_(operation), *counts]) for operation, *counts in parts)
    notes = [kinds] if kinds else []
    if row.invalid:
        text = ngettext("{} of {} cells are invalid", "{} of {} cells are invalid", int(row.n))
        notes.append(text.format(whole(row.invalid), whole(row.n)))
    return notes


def _agreement(row) -> str:
    if not row.checked:
        return DASH
    sign = "\N{MINUS SIGN}" if row.deviation < 0 else "+"
    return f"{sign}{share(abs(row.deviation))}" if row.deviation else "0 %"


def _percent(value: float) -> str:
    """A share in per cent, without the sign."""
    return significant(value * 100)
