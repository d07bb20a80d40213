"""The table of the audit: what was checked of the source's numbers, and what does not fit."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.audit.check import MISFITS, Fits, Kind
from kvstudy.analyse.audit.files import gravest_first
from kvstudy.analyse.tidy.numbers import grouped, significant
from kvstudy.errors import KvstudyError
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, grey, stacked
from kvstudy.present.typeset.latex import lines as below
from kvstudy.present.typeset.table import Grid, Line, Paper, Section, Table, amount
from kvstudy.study.base import SIZES
from kvstudy.study.load import STUDIES
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.model import Study

# Of these, a bound is expected, and no value.
BOUNDED = (Kind.LITTLE, Kind.MIXTURE, Kind.THREADS)
MINUS = "\N{MINUS SIGN}"


class AuditTable(Table):
    """The checks of the source, and what does not fit; a part of every report with a source."""

    cells = "none"
    own_caption = N_("Checks of the source")

    kind: Literal["audit"] = Field(
        description="Checks of the source's tables and text, and what does not fit."
    )

    def rows(self, run: Run) -> pd.DataFrame:
        return checks_of(run)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """The kinds of checks with their counts; below them what does not fit, gravest first."""
        counts = []
        for kind in Kind:
            fits = rows.loc[rows["kind"] == kind, "fits"].value_counts()
            if len(fits):
                cells = [fits.sum(), *(fits.get(each, DASH) for each in Fits)]
                counts.append(Line(_(kind.heading), list(map(str, cells))))
        columns = [
            *[_("Checks"), *(stacked(*_(title).split(" ", 1)) for title in MISFITS)],
            *[pgettext("check", "pass"), pgettext("check", "not judged")],
        ]
        kinds = Grid(columns, [Section("", counts)], paper=Paper(label=0.42))
        sections = []
        for fits, of in gravest_first(rows).groupby("fits", sort=False):
            lines = []
            for row in of.itertuples():
                wrong = misfit(row, run.study, run.titles)
                label = below(wrong.place, grey(wrong.note)) if wrong.note else wrong.place
                lines.append(Line(label, [wrong.given, wrong.expected, wrong.off]))
            sections.append(Section(_(fits)[:1].upper() + _(fits)[1:], lines))
        heads = [pgettext("check", "printed"), _("should be"), stacked(_("off by"), _("at least"))]
        misfits = Grid(heads, sections, corner=_("Failed checks"), paper=Paper(label=0.6))
        return [kinds, misfits] if sections else [kinds]


def checks_of(run: Run) -> pd.DataFrame:
    """The checks of the source; KvstudyError where there are none."""
    if run.audit is None:
        raise KvstudyError(
            f"{STUDIES / run.study.name / 'study.yaml'}: tables: nothing of the study's source can "
            "be checked; remove the table, or add published.csv or quotes.yaml"
        )
    return run.audit


def misfit(row, study: Study, titles: dict[str, str]) -> SimpleNamespace:
    """A ``row`` of ``audit.csv`` that does not fit, in words and numbers as they are printed.

    ``place`` is where and what the source gives, ``off`` by how much at least it is wrong.
    """
    # Counts say in words of what they are.
    unit = "" if row.unit in ("", "operations", "records", "runs", "reads") else f" {row.unit}"
    expected = number(row.expected)
    if row.kind in BOUNDED or (row.kind == Kind.RUNTIME and row.given > row.high):
        expected = _("at most {}").format(grouped(significant(row.high)))
    places = [row.place] if row.kind == Kind.TEXT else row.place.split(", ")
    place = ", ".join(map(sentence, places))
    workload = row.workload
    if workload in (*study.workload_names, MEAN):
        workload = study.workload(workload).title
    parts = [place[:1].upper() + place[1:], titles.get(row.store, row.store), workload, sizes(row)]
    return SimpleNamespace(
        place=f"{', '.join(filter(None, parts))}: {sentence(row.what)}",
        given=(significant if row.kind in BOUNDED else number)(row.given) + unit,
        expected=expected + (unit if unit == " %" else ""),
        off=_off(row.off),
        note=row.note and sentence(row.note).rstrip(".") + ".",
    )


def sizes(row) -> str:
    """``10 000 records, 4 threads``; "" where none is given."""
    numbers = ((name, getattr(row, name)) for name in SIZES)
    return ", ".join(amount(name, number) for name, number in numbers if not math.isnan(number))


def _off(share: float) -> str:
    """By how much, in %, the given value is beyond what fits (``Check.off``)."""
    if math.isinf(share):
        return DASH
    if abs(share) < 0.0001:
        return f"<{decimal('0.01')} %"
    return f"{MINUS if share < 0 else '+'}{significant(abs(share) * 100, 2)} %"


def number(value: float) -> str:
    """With as many digits as one needs to see a difference."""
    text = f"{value:.0f}" if abs(value) >= 1e5 else f"{value:.6g}"
    return grouped(text).replace("-", MINUS)
