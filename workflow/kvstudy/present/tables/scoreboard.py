"""The claims of the source at a glance: one line each with its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.claims.judge import WEAKEST_FIRST, Support
from kvstudy.analyse.claims.quantities import READS, Quantity
from kvstudy.analyse.claims.table import VALUE, read_claims
from kvstudy.analyse.claims.words import number
from kvstudy.language.current import N_, _, pgettext
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.present.typeset.latex import DASH, Rich, with_mark
from kvstudy.present.typeset.table import Grid, Line, Paper, Section, Table, interval_head
from kvstudy.stats.ratios import Verdict

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

SYMBOLS = {
    Verdict.REPRODUCED: "\N{BLACK CIRCLE}",
    Verdict.DIRECTION_ONLY: "\N{CIRCLE WITH LEFT HALF BLACK}",
    Verdict.UNDECIDED: "\N{WHITE CIRCLE}",
    Verdict.CONTRADICTED: "\N{MULTIPLICATION X}",
    Verdict.NOT_MEASURED: DASH,
}


class Scoreboard(Table):
    """The claims with their verdicts; a part of every report whose source makes claims."""

    cells = "every size"
    by_itself = True
    own_caption = N_("The claims of the source in one line each")

    kind: Literal["scoreboard"] = Field(description="The claims of the source and their verdicts.")

    def rows(self, run: Run) -> pd.DataFrame:
        """One row of ``claims.csv`` for each claim: of its weakest statement that was measured."""
        rows = read_claims(run.text / "claims.csv")
        asked = rows[rows["kind"] != VALUE]
        weakness = {verdict.value: place for place, verdict in enumerate(WEAKEST_FIRST)}
        order = {
            "unknown": asked["value"].isna() & asked["what_published"].isna(),
            "unmeasured": asked["value"].isna(),
            "weakness": asked["statement_verdict"].map(weakness).fillna(0),
        }
        weakest = asked.assign(**order).sort_values(list(order), kind="stable")
        shown = weakest.drop_duplicates("id").sort_index()[rows.columns]
        # A claim of values of the source's machine alone.
        alone = rows[~rows["id"].isin(shown["id"])].drop_duplicates("id")
        return pd.concat([shown, alone]).sort_index()

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per claim: symbol and claim, what of it is shown, published and measured."""
        judged = rows["verdict"].ne("").any()
        lines = [_line(row, judged) for row in rows.to_dict("records")]
        part = _("weakest part") if judged else _("part")
        here = ", ".join([pgettext("column", "here"), interval_head()])
        columns = [part, _("published"), here]
        counts = rows["verdict"].value_counts()
        words = {Verdict.NOT_MEASURED: _("not measured in full")}
        marks = [
            f"{symbol}\N{NO-BREAK SPACE}{words.get(verdict, sentence(verdict))} ({counts[verdict]})"
            for verdict, symbol in SYMBOLS.items()
            if counts.get(verdict)
        ]
        notes = [", ".join(marks) + "."] if judged else []
        paper = Paper(label=0.46, widths=(0.21, 0, 0))
        return [Grid(columns, [Section("", lines)], notes, corner=_("Claim"), paper=paper)]


def _line(row: dict[str, object], judged: bool) -> Line:
    claim = Rich("{} <b>{}</b> {}").format(
        SYMBOLS[row["verdict"]] if judged else "", row["id"], row["short"]
    )
    what = row["what"]
    if row["unit"] == READS:
        # The words are longer than the numbers.
        what, row = f"{what};{_(' reads per write')}", row | {"unit": ""}
    published = _number(row, row["what_published"])
    rejected = row["rests_on"] != "" and row["source"] != Support.NOT and published != DASH
    here = _number(row, row["value"], row["low"], row["high"])
    return Line(claim, [what, with_mark(published, rejected), here])


def _number(row: dict[str, object], value: float, *ends: float) -> str:
    if pd.isna(value):
        return DASH
    low, high = (None, None) if not ends or pd.isna(ends[0]) else ends
    return number(Quantity(value, low, high, 0, row["unit"]))
