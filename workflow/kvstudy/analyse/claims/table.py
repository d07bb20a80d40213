"""The answers as a table with one row per statement (``claims.csv``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from kvstudy.analyse.audit.check import Fits
from kvstudy.analyse.claims.evaluate import (
    CLIENT_BOUND,
    UNEQUAL,
    Answer,
    ClaimAnswer,
    StatementAnswer,
    evaluate,
)
from kvstudy.analyse.claims.file import load_claims
from kvstudy.analyse.claims.quantities import Quantity
from kvstudy.analyse.claims.selection import grid_of
from kvstudy.analyse.claims.values import Values, published_values
from kvstudy.analyse.claims.words import Names, label, sides
from kvstudy.analyse.tidy.files import read_csv
from kvstudy.analyse.tidy.numbers import grouped, significant
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence, several
from kvstudy.libraries import np, pd
from kvstudy.study.model import Study

NUMBERS = ["statement", "parts", "what_published", "value", "low", "high", "n", "published"]
COLUMNS = [
    *["id", "claim", "short", "place", "said", "note", "source", "verdict"],
    *["statement", "kind", "statement_source", "statement_verdict", "parts", "verdicts"],
    *["what", "what_published", "value", "low", "high", "unit", "n", "reason", "marks"],
    *["published_what", "published", "published_unit", "rests_on", "misfit"],
]
# Of this kind are statements that only the source's own data can be asked about.
VALUE = "value"


def table(answers: list[ClaimAnswer], names: Names, *, verdicts: bool = True) -> pd.DataFrame:
    """One row per statement and workload, with its weakest part.

    Columns: id to note (of the claim), source and verdict (of the whole claim), the
    row's number in the claim, kind, source and verdict, how many parts it has and their verdicts,
    what the weakest part that was measured is of, its value in the source, its value here with
    the interval low to high, unit ("" for a ratio) and n, or the reason why there is none, marks
    (client-bound, noise floor), the value of the source that fits worst, with what it is of,
    values of the source behind the statement that its audit rejects, and the number of its text
    that does not fit. Without ``verdicts`` those columns are empty: a trial run has none, and
    published values alone.
    """
    rows, here = [], replace(names, measured=True)
    for claim in answers:
        own = claim.claim
        for index, answer in enumerate(claim.statements, start=1):
            shown, quantity = answer.shown, answer.shown.measured
            counts = (f"{count} {verdict}" for verdict, count in answer.counts.items())
            rows.append(
                [
                    *[own.id, own.claim, own.short or own.claim, own.place, own.said, own.note],
                    *[claim.support.value, claim.verdict.value],
                    *[index, answer.statement.kind, answer.support.value, answer.verdict.value],
                    *[len(answer.answers), ", ".join(counts)],
                    label(shown.part, quantity, here),
                    shown.published.value if shown.published else None,
                    *_numbers(quantity, shown.published),
                    *[shown.reason, several(_marks(answer))],
                    *_published(answer.of_source, names),
                    "; ".join(sides([operand], [], names) for operand in answer.rests_on),
                    _misfit(answer.misfit),
                ]
            )
    made = pd.DataFrame(rows, columns=COLUMNS)
    return made if verdicts else made.assign(verdict="", statement_verdict="", verdicts="")


def read_claims(path: Path) -> pd.DataFrame:
    """``claims.csv``; KvstudyError when it is missing or something else."""
    return read_csv(path, COLUMNS, NUMBERS, "written by `kvstudy claims`")


def _numbers(quantity: Quantity | None, published: Quantity | None) -> list[object]:
    if quantity is None:
        return [None, None, None, published.unit if published else "", None]
    return [quantity.value, quantity.low, quantity.high, quantity.unit, quantity.n]


def _marks(answer: StatementAnswer) -> list[str]:
    """Those of the part that is shown; that a client was the limit, or updates differ, of any."""
    marks = list(answer.shown.marks)
    for mark in (CLIENT_BOUND, UNEQUAL):
        if any(mark in each.marks for each in answer.answers) and mark not in marks:
            marks.append(f"some-{mark}")
    return marks


def _misfit(row: Mapping[str, object] | None) -> str:
    """``4.5.2: printed 28.4 %, should be 38.5 %``; "" where only digits change."""
    if row is None or row["fits"] == Fits.DIGITS:
        return ""
    unit = f" {row['unit']}" if row["unit"] else ""
    numbers = (decimal(f"{row['given']:.15g}"), significant(row["expected"]))
    texts = (grouped(text).replace("-", "\N{MINUS SIGN}") + unit for text in numbers)
    return _("{}: printed {}, should be {}").format(sentence(row["place"]), *texts)


def _published(answer: Answer | None, names: Names) -> list[object]:
    if answer is None:
        return ["", None, ""]
    quantity = answer.published
    return [label(answer.part, quantity, names), quantity.value, quantity.unit]


NOT_PUBLISHED = N_("not published")


def judge_source(
    path: Path,
    study: Study,
    published: pd.DataFrame,
    checks: pd.DataFrame | None,
    titles: dict[str, str],
) -> pd.DataFrame:
    """The claims in the file ``path`` as ``claims.table`` gives them; nothing is measured.

    ``published`` is as ``audit.files.judged_values`` gives it with ``checks``, ``titles``
    what each store is called.
    """
    grid = grid_of(study, 1.0)
    answers = evaluate(
        load_claims(path, study),
        grid,
        study.store_names,
        Values({}),
        published_values(published, grid, study.workload_names, checks),
    )
    rows = table(answers, Names.of(study, titles, grid), verdicts=False)
    return rows.assign(reason=np.where(rows["published"].notna(), "", NOT_PUBLISHED))
