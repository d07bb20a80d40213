"""Tables on the source: its claims, one line each, and the checks of its numbers."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.audit.check import MISFITS, Fits, Kind
from kvstudy.analyse.audit.files import gravest_first
from kvstudy.analyse.claims.quantities import READS
from kvstudy.analyse.claims.table import JUDGED, SHORT, UNLIKE, counts_of, deciding_rows
from kvstudy.analyse.claims.verdicts import HOLDING, WEAKEST_FIRST, Support, Verdict
from kvstudy.errors import InputError
from kvstudy.exhibits.claim_words import ClaimNames, label, number
from kvstudy.exhibits.table import Table, interval_head, values_head
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence
from kvstudy.layout.grid import Grid, Paper, TableRow, TableSection
from kvstudy.layout.numbers import amount, grouped, rate, significant
from kvstudy.layout.rich_text import DASH, bold, grey, with_mark
from kvstudy.layout.rich_text import lines as below
from kvstudy.libraries import pd
from kvstudy.study.base import SIZES
from kvstudy.study.cells import SHORTEST_SECONDS
from kvstudy.study.load import STUDIES
from kvstudy.study.parts import MEAN

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.study.model import Study

# Of these, a bound is expected, and no value.
BOUNDED = (Kind.LITTLE, Kind.MIXTURE, Kind.THREADS)
# Of these, what is judged follows from several printed values.
COMPUTED = (Kind.LITTLE, Kind.RUNTIME, Kind.MIXTURE, Kind.FAILURES, Kind.THREADS)
COMPUTED_MARK = "*"
MINUS = "\N{MINUS SIGN}"


class AuditTable(Table):
    """The checks of the source, and what does not fit; a part of every report with a source."""

    in_template = True
    cells = "none"
    own_caption = N_("Consistency checks of the source")

    kind: Literal["audit"] = Field(
        description="Consistency checks of the source's tables and text."
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
                counts.append(TableRow(_(kind.heading), list(map(str, cells))))
        columns = [
            *[_("Checks"), *(below(*_(title).split(" ", 1)) for title in MISFITS)],
            *[pgettext("check", "pass"), pgettext("check", "not judged")],
        ]
        kinds = Grid(columns, [TableSection("", counts)], paper=Paper(label=0.42))
        sections = []
        for fits, of in gravest_first(rows[rows["fits"] != Fits.DIGITS]).groupby(
            "fits", sort=False
        ):
            lines = []
            for row in of.itertuples():
                wrong = misfit(row, run.study, run.titles)
                label = below(wrong.place, grey(wrong.note)) if wrong.note else wrong.place
                given = wrong.given + (COMPUTED_MARK if wrong.computed else "")
                lines.append(TableRow(label, [given, wrong.expected, wrong.off]))
            sections.append(TableSection(_(fits)[:1].upper() + _(fits)[1:], lines))
        heads = [pgettext("check", "printed"), _("should be"), below(_("error"), _("at least"))]
        note = _("{}: computed from what is printed.").format(COMPUTED_MARK)
        notes = [note] if rows["kind"].isin(COMPUTED).any() else []
        misfits = Grid(heads, sections, notes, corner=_("Inconsistent"), paper=Paper(label=0.6))
        return [kinds, misfits] if sections else [kinds]


def checks_of(run: Run) -> pd.DataFrame:
    """The checks of the source; InputError where there are none."""
    if run.audit is None:
        raise InputError(
            f"{STUDIES / run.study.name / 'study.yaml'}: tables: nothing of the study's source can "
            "be checked; remove the table, or add published.csv or quotes.yaml"
        )
    return run.audit


def misfit(row, study: Study, titles: dict[str, str]) -> SimpleNamespace:
    """A ``row`` of ``audit.csv`` that does not fit, in words and numbers as they are printed.

    ``place`` is where and what the source gives, ``computed`` whether what is ``given`` was
    computed from what it prints, ``off`` by how much at least it is wrong.
    """
    # Counts say in words of what they are.
    unit = "" if row.unit in ("", "operations", "records", "runs", "reads") else f" {row.unit}"
    expected = exact(row.expected)
    if row.kind in BOUNDED or (row.kind == Kind.RUNTIME and row.given > row.high):
        expected = _("at most {}").format(rate(row.high))
    places = [row.place] if row.kind == Kind.TEXT else row.place.split(", ")
    place = ", ".join(map(sentence, places))
    workload = row.workload
    if workload in (*study.workload_names, MEAN):
        workload = study.workload(workload).title
    parts = [place[:1].upper() + place[1:], titles.get(row.store, row.store), workload, sizes(row)]
    return SimpleNamespace(
        place=f"{', '.join(filter(None, parts))}: {sentence(row.what)}",
        given=(significant if row.kind in BOUNDED else exact)(row.given) + unit,
        expected=expected + (unit if unit == " %" else ""),
        computed=row.kind in COMPUTED,
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


def exact(value: float) -> str:
    """With as many digits as one needs to see a difference."""
    text = f"{value:.0f}" if abs(value) >= 1e5 else f"{value:.6g}"
    return grouped(text).replace("-", MINUS)


SYMBOLS = {
    Verdict.REPRODUCED: "\N{BLACK CIRCLE}",
    Verdict.DIRECTION_ONLY: "\N{RIGHTWARDS ARROW}",
    Verdict.PARTLY: "\N{CIRCLE WITH LEFT HALF BLACK}",
    Verdict.UNDECIDED: "\N{WHITE CIRCLE}",
    Verdict.CONTRADICTED: "\N{MULTIPLICATION X}",
    Verdict.NOT_MEASURED: DASH,
}


# Marks of parts whose interval does not decide, as a pattern.
OVERRULED = f"{SHORT}|{UNLIKE}"


class Scoreboard(Table):
    """The claims with their verdicts; a part of every report whose source makes claims."""

    in_template = True
    cells = "every size"
    by_itself = True
    own_caption = N_("The source's claims at a glance")
    caption_without_source = N_("The claims at a glance")

    kind: Literal["scoreboard"] = Field(description="The claims of the source and their verdicts.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row of ``claims.csv`` for each claim: of its weakest statement that was measured.

        Of those that decide it; ``parts`` and ``verdicts`` are those of all of these.
        """
        rows = JUDGED.read(run.folder)
        claims = [deciding_rows(of) for _id, of in rows.groupby("id", sort=False)]
        if not claims:
            return rows
        said = pd.concat(claims)
        weakness = {verdict.value: place for place, verdict in enumerate(WEAKEST_FIRST)}
        # What denies a claim of which some part is contradicted.
        split = said["verdict"].isin([Verdict.PARTLY, Verdict.CONTRADICTED])
        order = {
            "held": split & ~said["verdicts"].str.contains(Verdict.CONTRADICTED),
            "unknown": said["value"].isna() & said["what_published"].isna(),
            "unmeasured": said["value"].isna(),
            "weakness": said["statement_verdict"].map(weakness).fillna(0),
        }
        weakest = said.assign(**order).sort_values(list(order), kind="stable")
        shown = weakest.drop_duplicates("id").sort_index()[rows.columns]
        parts = {name: of["parts"].sum() for name, of in said.groupby("id")}
        verdicts = {
            name: ", ".join(filter(None, of["verdicts"])) for name, of in said.groupby("id")
        }
        return shown.assign(parts=shown["id"].map(parts), verdicts=shown["id"].map(verdicts))

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per claim: symbol and claim, what of it is shown, published and measured."""
        judged = rows["verdict"].ne("").any()
        names = ClaimNames.of(run.study, run.titles)
        lines = [_claim_line(row, names, judged) for row in rows.to_dict("records")]
        part = _("weakest part") if judged else _("part")
        here = ", ".join([values_head(run.study), interval_head()])
        columns = [part, _("published"), here]
        counts = rows["verdict"].value_counts()
        marks = [
            f"{symbol}\N{NO-BREAK SPACE}{sentence(verdict)} ({counts[verdict]})"
            for verdict, symbol in SYMBOLS.items()
            if counts.get(verdict)
        ]
        notes = [", ".join(marks) + "."] if judged else []
        if judged and (rows["parts"] > 1).any():
            text = _(
                "A part of a claim holds if it is reproduced or direction only. Next to each "
                "claim, one of its weakest measured parts (weakest first: {}). The verdict on a "
                "claim is the first that fits: contradicted (more than half of the parts are), "
                "partly reproduced (some part is contradicted and some part holds), undecided "
                "(some part does not hold), direction only (some part is), reproduced."
            )
            unsaid = (Verdict.NOT_MEASURED, Verdict.PARTLY)
            order = [sentence(each) for each in WEAKEST_FIRST if each not in unsaid]
            notes.append(text.format(", ".join(order)))
        if (rows["verdict"].eq(Verdict.UNDECIDED) & rows["marks"].str.contains(OVERRULED)).any():
            text = _(
                "A part is undecided, whatever its interval, if it rests on cells shorter than {} "
                "s, or if it compares a minimum or maximum with a value of cells of another size."
            )
            notes.append(text.format(SHORTEST_SECONDS))
        paper = Paper(label=0.46, widths=(0.21, 0, 0))
        return [Grid(columns, [TableSection("", lines)], notes, corner=_("Claim"), paper=paper)]


def _claim_line(row: dict[str, object], names: ClaimNames, judged: bool) -> TableRow:
    text = sentence(row["short"])
    counts = counts_of(pd.DataFrame([row])) if judged else {}
    holding = sum(counts.get(verdict, 0) for verdict in HOLDING)
    # Of none "0 of 3" was read as refuted, and "3 of 3 hold" as reproduced in full.
    if 0 < holding < row["parts"]:
        text = _("{} ({} of {} hold)").format(text, holding, f"{row['parts']:.0f}")
    symbol = SYMBOLS[row["verdict"]] if judged else ""
    claim = f"{symbol} " + bold(row["id"]) + f" {text}"
    what = label(row["what"], names)
    if row["unit"] == READS:
        # The words are longer than the numbers.
        what, row = f"{what};{_(' reads per write')}", row | {"unit": ""}
    published = _number(row, row["what_published"])
    inconsistent = row["rests"] == "yes" and row["source"] != Support.NOT and published != DASH
    here = _number(row, row["value"], row["low"], row["high"])
    return TableRow(claim, [what, with_mark(published, inconsistent), here])


def _number(row: dict[str, object], value: float, *ends: float) -> str:
    return DASH if pd.isna(value) else number(value, *ends, unit=row["unit"])
