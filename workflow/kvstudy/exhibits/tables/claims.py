"""The claims of the source in full: each with its verdict and the parts that it follows from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from kvstudy.analyse.claims.table import JUDGED, VALUE, deciding_rows, judge_run
from kvstudy.analyse.claims.verdicts import Support, Verdict
from kvstudy.exhibits.claim_words import ClaimNames, label, number
from kvstudy.exhibits.table import Table
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence, split_codes
from kvstudy.layout.grid import Grid, Paper, TableRow, TableSection
from kvstudy.layout.numbers import grouped, significant
from kvstudy.layout.rich_text import RichText, bold, grey, italic, lines, small
from kvstudy.libraries import pd

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

# How a claim is in its source.
SAID = [N_("quoted"), N_("derived")]
# How many parts of a statement have which verdict.
COUNTED = {
    Verdict.REPRODUCED: N_("{} reproduced"),
    Verdict.DIRECTION_ONLY: N_("{} direction only"),
    Verdict.PARTLY: N_("{} partly reproduced"),
    Verdict.UNDECIDED: N_("{} undecided"),
    Verdict.CONTRADICTED: N_("{} contradicted"),
    Verdict.NOT_MEASURED: N_("{} not measured"),
}
# The value of the source that fits worst.
PUBLISHED = ["published_what", "published", "published_unit"]
# So many inconsistent values of a claim are named.
MOST = 3
SPACE = "\N{NO-BREAK SPACE}"


class ClaimsTable(Table):
    """The claims with their parts; a part of every report whose source makes claims.

    Of a run of published values alone it has what those say of the claims.
    """

    in_template = compares = controls = probes = True
    cells = "every size"
    by_itself = True
    own_caption = N_("All claims of the source")
    caption_without_source = N_("All claims")

    kind: Literal["claims"] = Field(description="The claims of the source and their parts.")

    def rows(self, run: Run) -> pd.DataFrame:
        """The rows of ``claims.csv``."""
        return judge_run(run) if run.published_only else JUDGED.read(run.folder)

    def grids(self, rows: pd.DataFrame, run: Run) -> list[Grid]:
        """A line per claim; rows of a trial run have no verdicts."""
        names, measured = ClaimNames.of(run.study, run.titles), not run.published_only
        judged = measured and bool(rows["verdict"].ne("").any())
        claims = [
            claim_line(of, names, measured, judged) for _id, of in rows.groupby("id", sort=False)
        ]
        last = _("Measured [95 % interval]") if measured else _("The source's values")
        heads = [_("Verdict here") if judged else _("Source's own data"), _text(last)]
        label_width, width = (0.35, 0.46) if judged else (0.44, 0.37)
        paper = Paper(gap="3pt", label=label_width, widths=(0.15, width))
        section = TableSection("", claims)
        return [Grid(heads, [section], corner=_("Claim"), sortable=True, paper=paper)]


def claim_line(rows: pd.DataFrame, names: ClaimNames, measured: bool, judged: bool) -> TableRow:
    """A claim, its verdict, and what each of its statements comes to: its ``rows``.

    First those that the source says, then those ``derived`` from its tables; if nothing was
    ``measured``, the values of the source.
    """
    first = rows.iloc[0]
    claim, place, note = (_text(sentence(first[key])) for key in ("claim", "place", "note"))
    about = " ".join(filter(None, [f"{place}; {_(first['said'])}.", note]))
    support = sentence(first["source"])
    notes = [*(_denied(rows, names) if measured else ()), *_audited(rows, names)]
    if judged:
        notes.insert(0, _("Source's own data") + f": {support}")
    verdict = bold(sentence(first["verdict"])) if judged else support
    said = deciding_rows(rows)
    if measured:
        derived = rows[(rows["kind"] != VALUE) & ~rows.index.isin(said.index)]
        parts = [_part(row, names) for row in said.to_dict("records")]
        parts += [_part(row, names, derived=True) for row in derived.to_dict("records")]
    else:
        published = rows if rows["published_what"].ne("").any() else rows.head(1)
        parts = [_source_part(row, names) for row in published.to_dict("records")]
    return TableRow(
        lines(bold(first["id"]) + f" {claim}", small(grey(about))),
        [lines(verdict, *map(small, notes)), lines(*map(small, parts))],
    )


def _part(row: dict[str, object], names: ClaimNames, derived: bool = False) -> RichText:
    """``A: Redis / Memcached: 2.1 [2.0, 2.2], n = 5; reproduced``."""
    reason, what = row["reason"], label(row["what"], names)
    value = sentence(reason)
    if not value:
        value = number(row["value"], row["low"], row["high"], row["unit"])
        value += f", n{SPACE}={SPACE}{row['n']:.0f}"
    counts = ""
    if row["parts"] > 1 and "," in row["verdicts"]:
        verdicts = (part.split(" ", 1) for part in row["verdicts"].split(", "))
        texts = (_(COUNTED[Verdict(verdict)]).format(count) for count, verdict in verdicts)
        counts = _("of {}: {}").format(f"{row['parts']:.0f}", ", ".join(texts))
    what = _("derived, {}").format(what) if derived else what
    code = row["statement_verdict"]
    verdict = "" if code == reason else italic(sentence(code))
    return lines(
        *filter(None, (f"{what}: {value}", sentence(row["marks"]), counts, verdict)),
        separator="; ",
    )


def _source_part(row: dict[str, object], names: ClaimNames) -> RichText:
    if pd.isna(row["published"]):
        what, value, code = row["what"], sentence(row["reason"]), row["source"]
    else:
        what, code = row["published_what"], row["statement_source"]
        value = number(row["published"], unit=row["published_unit"])
    verdict = "" if code == row["source"] else italic(sentence(code))
    return lines(*filter(None, (f"{label(what, names)}: {value}", verdict)), separator="; ")


def _denied(rows: pd.DataFrame, names: ClaimNames) -> Iterator[str]:
    """The source's values that deny its claim."""
    denied = rows[(rows["statement_source"] == Support.NOT) & rows["published"].notna()]
    for what, value, unit in denied[PUBLISHED].itertuples(index=False):
        yield f"{label(what, names)}: {number(value, unit=unit)}"


def _audited(rows: pd.DataFrame, names: ClaimNames) -> list[str]:
    """Return the audit's objections to the claim's values and text."""
    misfits = filter(None, dict.fromkeys(rows["misfit"]))
    notes = [_("in the text, {}").format(_text(_misfit(code))) for code in misfits]
    values = list(dict.fromkeys("; ".join(filter(None, rows["rests_on"])).split("; ")))
    if rows["source"].iloc[0] == Support.NOT or values == [""]:
        return notes
    shown = values if len(values) <= MOST + 1 else values[:MOST]
    text = "; ".join(_text(label(each, names)) for each in shown)
    if rest := len(values) - len(shown):
        text = ngettext("{} and {} other value", "{} and {} other values", rest).format(text, rest)
    return [_("rests on inconsistent published values: {}").format(text), *notes]


def _misfit(text: str) -> str:
    """``4.5.2: printed 28.4 %, should be 38.5 %``."""
    ((_code, values),) = split_codes(text)
    unit = f" {values['unit']}" if values["unit"] else ""
    numbers = decimal(values["printed"]), significant(float(values["expected"]))
    texts = (grouped(number).replace("-", "\N{MINUS SIGN}") + unit for number in numbers)
    return _("{}: printed {}, should be {}").format(sentence(values["place"]), *texts)


def _text(text: str) -> str:
    """The digits of a number stay on one line."""
    return re.sub(r"(?<=\d) (?=\d{3}\b|%)", "\N{NARROW NO-BREAK SPACE}", text)
