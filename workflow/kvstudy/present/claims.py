"""The table of verdicts that the report opens with, and the same on a terminal."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pandas as pd

from kvstudy.analyse.claims.table import VALUE, deciding_rows
from kvstudy.analyse.claims.verdicts import Support, Verdict
from kvstudy.analyse.claims.words import ClaimNames, label, number
from kvstudy.analyse.tidy.numbers import grouped, significant
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence, split_codes
from kvstudy.present.typeset.html import fill_html
from kvstudy.present.typeset.latex import fill

NAME = "claims"
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


def write_claims(
    rows: pd.DataFrame, names: ClaimNames, templates: Path, tables: Path, measured: bool = True
) -> list[Path]:
    """Write claims.tex and .html from the ``rows`` of claims.csv into ``tables``; returns both.

    If nothing was ``measured``, they are of the source's own data. Rows of a trial run have no
    verdicts; the source's own data have their column then.
    """
    tables.mkdir(parents=True, exist_ok=True)
    judged = measured and bool(rows["verdict"].ne("").any())
    last = _("The source's values")
    if measured:
        last = _("Measured [95 % interval]").replace(" %", "\N{NARROW NO-BREAK SPACE}%")
    values = {
        "rows": content(rows, names, measured),
        "judged": judged,
        "heads": [_("Claim"), _("Verdict here") if judged else _("Source's own data"), last],
        "source_head": _("Source's own data"),
    }
    caption = _("Which of the source's claims were reproduced.")
    tex = fill(templates / f"{NAME}.tex.j2", **values, caption=caption)
    html = fill_html(templates / f"{NAME}.html.j2", **values)
    files = [tables / f"{NAME}.{form}" for form in ("tex", "html")]
    for path, text in zip(files, (tex, html), strict=True):
        path.write_text(text, encoding="utf-8")
    return files


def content(rows: pd.DataFrame, names: ClaimNames, measured: bool = True) -> list[SimpleNamespace]:
    """The table's rows, from ``claims.csv``; if nothing was ``measured``, of published values.

    ``lines`` are what each statement comes to, with its ``verdict``: first those that the source
    says, then those ``derived`` from its tables.
    """
    result = []
    for _id, of in rows.groupby("id", sort=False):
        first = of.iloc[0]
        support, verdict = first["source"], first["verdict"]
        notes = []
        if measured:
            # The source's values that deny its claim.
            denied = of[(of["statement_source"] == Support.NOT) & of["published"].notna()]
            notes = [
                f"{label(what, names)}: {number(value, unit=unit)}"
                for what, value, unit in denied[PUBLISHED].itertuples(index=False)
            ]
            said = deciding_rows(of)
            lines = [_line(row, names) for row in said.to_dict("records")]
            derived = of[(of["kind"] != VALUE) & ~of.index.isin(said.index)]
            lines += [_line(row, names, derived=True) for row in derived.to_dict("records")]
        else:
            published = of if of["published_what"].ne("").any() else of.head(1)
            lines = [_source_line(row, names, support) for row in published.to_dict("records")]
        result.append(
            SimpleNamespace(
                **{key: _text(sentence(first[key])) for key in ("id", "claim", "place", "note")},
                said=_(_text(first["said"])),
                source=sentence(support),
                source_notes=notes + _audited(of, names),
                verdict=verdict,
                verdict_words=sentence(verdict),
                lines=lines,
            )
        )
    return result


def lines(rows: pd.DataFrame, names: ClaimNames) -> list[str]:
    """The table for a terminal."""
    lines = []
    for row in content(rows, names):
        source = _("source: {}").format(row.source)
        verdict = row.verdict_words.upper()
        lines.append(" ".join(filter(None, [f"{row.id:4}", verdict, f"({source})"])))
        lines += textwrap.wrap(row.claim, 88, initial_indent=" " * 5, subsequent_indent=" " * 5)
        for line in row.lines:
            parts = (f"{line.what}: {line.value}", line.notes, line.verdict)
            lines.append(f"     - {'; '.join(filter(None, parts))}")
    return lines


def _line(row: dict[str, object], names: ClaimNames, derived: bool = False) -> SimpleNamespace:
    reason, what = row["reason"], label(row["what"], names)
    value = sentence(reason)
    if not value:
        value = number(row["value"], row["low"], row["high"], row["unit"])
        value += f", n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{row['n']:.0f}"
    notes = [sentence(row["marks"])]
    if row["parts"] > 1 and "," in row["verdicts"]:
        counts = (part.split(" ", 1) for part in row["verdicts"].split(", "))
        listed = ", ".join(_(COUNTED[Verdict(verdict)]).format(count) for count, verdict in counts)
        notes.append(_("of {}: {}").format(f"{row['parts']:.0f}", listed))
    statement_verdict = row["statement_verdict"]
    return SimpleNamespace(
        what=_("derived, {}").format(what) if derived else what,
        value=value,
        notes="; ".join(filter(None, notes)),
        verdict="" if statement_verdict == reason else sentence(statement_verdict),
    )


def _source_line(row: dict[str, object], names: ClaimNames, support: str) -> SimpleNamespace:
    if pd.isna(row["published"]):
        what, value, support_word = row["what"], sentence(row["reason"]), support
    else:
        what, support_word = row["published_what"], row["statement_source"]
        value = number(row["published"], unit=row["published_unit"])
    verdict = "" if support_word == support else sentence(support_word)
    return SimpleNamespace(what=label(what, names), value=value, notes="", verdict=verdict)


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
