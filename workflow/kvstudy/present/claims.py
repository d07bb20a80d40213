"""The table of verdicts that the report opens with, and the same on a terminal."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from math import isnan
from pathlib import Path

import pandas as pd

from kvstudy.analyse.claims.judge import Support
from kvstudy.analyse.claims.quantities import Quantity
from kvstudy.analyse.claims.table import VALUE
from kvstudy.analyse.claims.words import number
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.reasons import sentence
from kvstudy.present.typeset.latex import fill, fill_html
from kvstudy.stats.ratios import Verdict

NAME = "claims"
# How a claim stands in its source.
SAID = [N_("quoted"), N_("derived")]
# How many parts of a statement have which verdict.
COUNTED = {
    Verdict.REPRODUCED: N_("{} reproduced"),
    Verdict.DIRECTION_ONLY: N_("{} direction only"),
    Verdict.UNDECIDED: N_("{} undecided"),
    Verdict.CONTRADICTED: N_("{} contradicted"),
    Verdict.NOT_MEASURED: N_("{} not measured"),
}
# So many rejected values of a claim are named.
MOST = 3


@dataclass(frozen=True)
class Line:
    """What one statement comes to. ``verdict`` is given where it is not the claim's."""

    what: str
    value: str
    notes: str
    verdict: str


@dataclass(frozen=True)
class Row:
    """One claim of the table: ``support`` and ``verdict`` are codes, ``source`` and
    ``verdict_words`` what they are called.
    """

    id: str
    claim: str
    place: str
    said: str
    note: str
    support: str
    source: str
    source_notes: list[str]
    verdict: str
    verdict_words: str
    lines: list[Line]


def write_claims(rows: pd.DataFrame, templates: Path, output: Path) -> None:
    """Write claims.csv and tables/claims.tex and .html into ``output``, the folder of a run.

    Rows of a trial run have no verdicts, and their table has no column of them.
    """
    (output / "tables").mkdir(parents=True, exist_ok=True)
    rows.to_csv(output / f"{NAME}.csv", index=False, lineterminator="\n")
    values = _values(content(rows), measured=True, judged=bool(rows["verdict"].ne("").any()))
    _write_texts(values, templates, output / "tables")


def write_source_claims(rows: pd.DataFrame, templates: Path, output: Path) -> Path:
    """Write claims.csv, .tex and .html of the source's own data into ``output``; the first."""
    path = output / f"{NAME}.csv"
    rows.to_csv(path, index=False, lineterminator="\n")
    values = _values(content(rows, measured=False), measured=False, judged=False)
    _write_texts(values, templates, output)
    return path


def _write_texts(values: dict[str, object], templates: Path, output: Path) -> None:
    tex = fill(templates / f"{NAME}.tex.j2", **values)
    html = fill_html(templates / f"{NAME}.html.j2", **values)
    for form, text in (("tex", tex), ("html", html)):
        (output / f"{NAME}.{form}").write_text(text, encoding="utf-8")


def _values(rows: list[Row], measured: bool, judged: bool) -> dict[str, object]:
    heads = [_("Claim"), _("Source's own data")]
    if judged:
        heads.append(_("Verdict here"))
    if measured:
        head = _("Measured, with 95 % interval")
        heads.append(head.replace(" %", "\N{NARROW NO-BREAK SPACE}%"))
    else:
        heads.append(_("The source's values"))
    caption = _("What holds of the source's claims.")
    return {
        "rows": rows,
        "measured": measured,
        "judged": judged,
        "heads": heads,
        "caption": caption,
    }


def content(rows: pd.DataFrame, measured: bool = True) -> list[Row]:
    """The table's rows, from ``claims.csv``; if nothing was ``measured``, of published values."""
    found = []
    for _id, of in rows.groupby("id", sort=False):
        first = of.iloc[0]
        texts = [_text(first[key]) for key in ("id", "claim", "place", "said", "note")]
        support, verdict = _text(first["source"]), first["verdict"]
        if measured:
            asked = of[of["kind"] != VALUE] if (of["kind"] != VALUE).any() else of
            each = [_line(row, verdict) for row in asked.to_dict("records")]
        else:
            asked = of if of["published_what"].ne("").any() else of.head(1)
            each = [_source_line(row, support) for row in asked.to_dict("records")]
        texts[3] = _(texts[3])
        notes = (_denied(of) if measured else []) + _audited(of)
        shown = (sentence(support), notes, verdict, sentence(verdict))
        found.append(Row(*texts, support, *shown, each))
    return found


def lines(rows: pd.DataFrame) -> list[str]:
    """The table for a terminal."""
    found = []
    for row in content(rows):
        source = _("source: {}").format(row.source)
        verdict = row.verdict_words.upper()
        found.append(" ".join(filter(None, [f"{row.id:4}", verdict, f"({source})"])))
        found += textwrap.wrap(row.claim, 88, initial_indent=" " * 5, subsequent_indent=" " * 5)
        for line in row.lines:
            parts = (f"{line.what}: {line.value}", line.notes, line.verdict)
            found.append(f"     - {'; '.join(filter(None, parts))}")
    return found


def _line(row: dict[str, object], verdict: str) -> Line:
    reason = _text(row["reason"])
    value = sentence(reason)
    if not value:
        value = number(_quantity(row, "value", "unit"))
        value += f", n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{row['n']:.0f}"
    notes = [sentence(_text(row["marks"]))]
    if row["parts"] > 1 and "," in row["verdicts"]:
        counts = (part.split(" ", 1) for part in row["verdicts"].split(", "))
        listed = ", ".join(_(COUNTED[Verdict(verdict)]).format(count) for count, verdict in counts)
        notes.append(_("of {}: {}").format(f"{row['parts']:.0f}", listed))
    own = _text(row["statement_verdict"])
    told = own in (verdict, reason)
    return Line(row["what"], value, "; ".join(filter(None, notes)), "" if told else sentence(own))


def _source_line(row: dict[str, object], support: str) -> Line:
    own = _text(row["statement_source"])
    if pd.isna(row["published"]):
        return Line(row["what"], sentence(_text(row["reason"])), "", "")
    value = number(_quantity(row, "published", "published_unit"))
    return Line(row["published_what"], value, "", "" if own == support else sentence(own))


def _audited(rows: pd.DataFrame) -> list[str]:
    """What the audit of the source has against the claim's values and text."""
    notes = [
        _("in the text, {}").format(_text(each)) for each in dict.fromkeys(rows["misfit"]) if each
    ]
    if rows["source"].iloc[0] == Support.NOT:
        return notes
    values = list(dict.fromkeys("; ".join(filter(None, rows["rests_on"])).split("; ")))
    if values == [""]:
        return notes
    shown = values if len(values) <= MOST + 1 else values[:MOST]
    text = "; ".join(_text(each) for each in shown)
    if rest := len(values) - len(shown):
        text = ngettext("{} and {} other value", "{} and {} other values", rest).format(text, rest)
    return [_("but rests on what the audit rejects: {}").format(text), *notes]


def _denied(rows: pd.DataFrame) -> list[str]:
    """The source's values that deny its claim."""
    denied = rows[(rows["statement_source"] == Support.NOT) & rows["published"].notna()]
    return [
        f"{row['published_what']}: {number(_quantity(row, 'published', 'published_unit'))}"
        for row in denied.to_dict("records")
    ]


def _quantity(row: dict[str, object], value: str, unit: str) -> Quantity:
    low, high = (row["low"], row["high"]) if value == "value" else (None, None)
    if low is None or isnan(low):
        low = high = None
    return Quantity(row[value], low, high, 0, _text(row[unit]))


def _text(value: object) -> str:
    """As text, "" for nothing; the digits of a number stay on one line."""
    if value is None or value != value:
        return ""
    return re.sub(r"(?<=\d) (?=\d{3}\b|%)", "\N{NARROW NO-BREAK SPACE}", str(value))
