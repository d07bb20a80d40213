"""The table of the audit: what was checked of the source's numbers, and what does not fit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.audit.check import MISFITS, Fits, Kind
from kvstudy.analyse.audit.files import gravest_first
from kvstudy.analyse.tidy.numbers import grouped, significant, sized
from kvstudy.errors import KvstudyError
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, Rich, grey, stacked
from kvstudy.present.typeset.latex import lines as below
from kvstudy.present.typeset.table import Grid, Line, Paper, Section, Table
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
        sections = []
        for fits, of in gravest_first(rows).groupby("fits", sort=False):
            lines = []
            for misfit in (Misfit.of(row, run.study, run.titles) for row in of.itertuples()):
                note = [grey(misfit.note)] if misfit.note else []
                label = below(Rich.escape(misfit.place), *note) if note else misfit.place
                lines.append(Line(label, [misfit.given, misfit.expected, misfit.off]))
            title = _(fits)
            sections.append(Section(title[:1].upper() + title[1:], lines))
        heads = [pgettext("check", "printed"), _("should be"), stacked(_("off by"), _("at least"))]
        misfits = Grid(heads, sections, corner=_("Failed checks"), paper=Paper(label=0.6))
        kinds = Grid(columns, [Section("", counts)], paper=Paper(label=0.42))
        return [kinds, *([misfits] if sections else [])]


def checks_of(run: Run) -> pd.DataFrame:
    """The checks of the source; KvstudyError where they are missing."""
    if run.audit is None:
        raise KvstudyError(
            f"{STUDIES / run.study.name / 'study.yaml'}: tables: the study's source is audited, "
            "but --audit is missing; make the file with `kvstudy audit`"
        )
    return run.audit


@dataclass(frozen=True)
class Misfit:
    """A check that does not fit, in words and numbers as they are printed.

    ``place`` is where and what the source gives, ``off`` by how much at least it is wrong.
    """

    place: str
    given: str
    expected: str
    off: str
    note: str

    @classmethod
    def of(cls, row, study: Study, titles: dict[str, str]) -> Misfit:
        """That of a ``row`` of ``audit.csv``."""
        given, expected = number(row.given), number(row.expected)
        if row.kind in BOUNDED or (row.kind == Kind.RUNTIME and row.given > row.high):
            given = significant(row.given) if row.kind in BOUNDED else given
            expected = _("at most {}").format(grouped(significant(row.high)))
        # Counts say in words of what they are.
        unit = "" if row.unit in ("", "operations", "records", "runs", "reads") else f" {row.unit}"
        note = row.note and sentence(row.note).rstrip(".") + "."
        if unit == " %":
            expected += unit
        return cls(_place(row, study, titles), given + unit, expected, off(row), note)


def _place(row, study: Study, titles: dict[str, str]) -> str:
    places = [row.place] if row.kind == Kind.TEXT else row.place.split(", ")
    place = ", ".join(map(sentence, places))
    parts = [place[:1].upper() + place[1:]]
    if row.store:
        parts.append(titles.get(row.store, row.store))
    if row.workload:
        known = row.workload in study.workload_names or row.workload == MEAN
        parts.append(study.workload(row.workload).title if known else row.workload)
    parts.append(sizes(row))
    return f"{', '.join(part for part in parts if part)}: {sentence(row.what)}"


def sizes(row) -> str:
    """``10 000 records, 4 threads``; "" where none is given."""
    return ", ".join(
        sized(name, int(number)).format(grouped(f"{number:.0f}"))
        for name in SIZES
        if not math.isnan(number := getattr(row, name))
    )


def off(row) -> str:
    """By how much, in %, the given value is beyond what fits (``Check.off``)."""
    if math.isinf(row.off):
        return DASH
    share = abs(row.off) * 100
    if share < 0.01:
        return f"<{decimal('0.01')} %"
    return f"{MINUS if row.off < 0 else '+'}{significant(share, 2)} %"


def number(value: float) -> str:
    """With as many digits as one needs to see a difference."""
    text = f"{value:.0f}" if abs(value) >= 1e5 else f"{value:.6g}"
    return grouped(text).replace("-", MINUS)
