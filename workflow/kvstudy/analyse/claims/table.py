"""All claims of a study, asked of what was measured and of what the source published.

The answers are a table with one row per statement (``claims.csv``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from kvstudy.analyse.audit.check import Fits
from kvstudy.analyse.claims.file import Claim, load_claims
from kvstudy.analyse.claims.quantities import Proposition, Quantity
from kvstudy.analyse.claims.selection import Operand, ParameterGrid, grid_of
from kvstudy.analyse.claims.subjects import subject_of, value_code
from kvstudy.analyse.claims.values import UnknownValue, Values, measured_values, published_values
from kvstudy.analyse.claims.verdicts import (
    WEAKEST_FIRST,
    Support,
    Verdict,
    audited,
    combined_verdict,
    support_of,
)
from kvstudy.analyse.tidy.files import CsvTable
from kvstudy.analyse.tidy.results import read_published
from kvstudy.language.current import N_
from kvstudy.language.reasons import reason, several
from kvstudy.libraries import np, pd
from kvstudy.study.published import CLAIMS

NUMBERS = ["statement", "parts", "what_published", "value", "low", "high", "n", "published"]
COLUMNS = [
    *["id", "claim", "short", "place", "said", "note", "source", "verdict"],
    *["statement", "kind", "derived", "statement_source", "statement_verdict", "parts", "verdicts"],
    *["what", "what_published", "value", "low", "high", "unit", "n", "reason", "marks"],
    *["published_what", "published", "published_unit", "rests_on", "rests", "misfit"],
]
JUDGED = CsvTable("claims", COLUMNS, NUMBERS, "claims")
# Of this kind are statements that only the source's own data can be asked about.
VALUE = "value"

# Codes of language.reasons.
IN_FLOOR, CLIENT_BOUND, UNEQUAL = "in-floor", "client-bound", "unequal-updates"
SHORT, UNLIKE = "short-cells", "unlike-extremes"
ELSEWHERE = "source-machine"


@dataclass
class Answer:
    """The verdict on a part. ``measured`` is None where ``reason`` is given, ``published`` where
    the source has no data. ``rests_on`` are values of the source that its audit finds
    inconsistent."""

    part: Proposition
    verdict: Verdict = Verdict.NOT_MEASURED
    measured: Quantity | None = None
    reason: str = ""
    marks: list[str] = field(default_factory=list)
    support: Support = Support.NO_DATA
    published: Quantity | None = None
    rests_on: list[Operand] = field(default_factory=list)


def judge_claims(
    claims: list[Claim],
    grid: ParameterGrid,
    stores: list[str],
    measured: Values,
    published: Values,
    *,
    verdicts: bool = True,
) -> pd.DataFrame:
    """One row per statement and workload, with its weakest part, in the order of the claims.

    Columns: id to note (of the claim), source and verdict (of the whole claim), the row's number
    in the claim, kind, source and verdict, how many parts it has and their verdicts, what the
    weakest part that was measured is of, its value in the source, its value here with the interval
    low to high, unit ("" for a ratio) and n, or the reason why there is none, marks (client-bound,
    noise floor), the value of the source that fits worst, with what it is of, values of the source
    behind the statement that its audit finds inconsistent, and the number of its text that does
    not fit. A ratio of two workloads is of both. What values are of are codes (see
    ``claims.subjects``), so the table is one for all languages. Without ``verdicts``
    those columns are empty: a trial run has none, and published values alone.

    ``stores`` are the study's. Each claim was made before the measurement, so the intervals are
    not adjusted for how many claims there are.
    """
    rows = []
    for claim in claims:
        of_claim = {key: getattr(claim, key) for key in ("id", "claim", "place", "said", "note")}
        of_claim["short"] = claim.short or claim.claim
        for number, statement in enumerate(claim.statements, start=1):
            by_workload: dict[tuple[str, ...], list[Answer]] = defaultdict(list)
            for part in statement.parts(grid, stores):
                workloads = tuple(dict.fromkeys(operand.workload for operand in part.of))
                by_workload[workloads].append(answer_of(part, measured, published))
            for workloads, answers in by_workload.items():
                misfit = published.misfit(f"{claim.id}/{number}", set(workloads))
                derived = "yes" if statement.derived else "no"
                of_kind = of_claim | {"kind": statement.kind, "derived": derived}
                rows.append(of_kind | _row(answers, misfit, grid))
    table = JUDGED.frame(rows)
    table["statement"] = table.groupby("id").cumcount() + 1
    claimed = dict(list(table.groupby("id")))
    support = {name: support_of(rows["statement_source"]) for name, rows in claimed.items()}
    verdict = {
        name: combined_verdict(counts_of(deciding_rows(rows))).value
        for name, rows in claimed.items()
    }
    table["source"], table["verdict"] = table["id"].map(support), table["id"].map(verdict)
    if verdicts:
        return table
    return table.assign(verdict="", statement_verdict="", verdicts="")


def deciding_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that decide a claim: what the source says of its stores.

    A rate of its machine does not, next to others, nor does what is derived from its tables.
    """
    of_both = rows[rows["kind"] != VALUE]
    said = of_both[of_both["derived"] != "yes"]
    return next((some for some in (said, of_both) if len(some)), rows)


def counts_of(rows: pd.DataFrame) -> Counter[Verdict]:
    """Count the verdicts of the parts in the ``rows`` of claims.csv."""
    counts = Counter()
    for text in filter(None, rows["verdicts"]):
        for part in text.split(", "):
            number, verdict = part.split(" ", 1)
            counts[Verdict(verdict)] += int(number)
    return counts


def _row(
    answers: list[Answer], misfit: Mapping[str, object] | None, grid: ParameterGrid
) -> dict[str, object]:
    """Return the row of a statement from the answers of its parts.

    ``misfit`` is the row of audit.csv of a number in which the source's text makes the statement,
    where it does not fit.
    """
    # The weakest part that was measured, and of several the one that fits worst.
    shown = min([each for each in answers if each.measured] or answers, key=_strength)
    known = (answer for answer in answers if answer.published)
    source = min(known, key=lambda one: one.part.judge.rank(one.published.value), default=None)
    support = support_of(answer.support for answer in answers)
    if misfit:
        support = audited(support, misfit["fits"])
    counts = Counter(answer.verdict for answer in answers)
    marks = list(shown.marks)
    for mark in (CLIENT_BOUND, UNEQUAL, SHORT, UNLIKE):
        if any(mark in each.marks for each in answers) and mark not in marks:
            marks.append(f"some-{mark}")
    quantity, published = shown.measured, shown.published
    row = {
        "statement_source": support.value,
        "statement_verdict": combined_verdict(counts).value,
        "parts": len(answers),
        "verdicts": ", ".join(f"{counts[one]} {one}" for one in WEAKEST_FIRST if one in counts),
        "what": subject_of(shown.part, quantity, grid, measured=True),
        "unit": quantity.unit if quantity else published.unit if published else "",
        "reason": shown.reason,
        "marks": several(marks),
        "what_published": published.value if published else None,
        "published_what": "",
        "published_unit": "",
        "rests": "yes" if shown.rests_on else "no",
        "misfit": _misfit(misfit),
    }
    if quantity:
        row |= {name: getattr(quantity, name) for name in ("value", "low", "high", "n")}
    if source:
        row["published_what"] = subject_of(source.part, source.published, grid)
        row |= {"published": source.published.value, "published_unit": source.published.unit}
    rests_on = dict.fromkeys(operand for answer in answers for operand in answer.rests_on)
    return row | {"rests_on": several(value_code(operand, grid) for operand in rests_on)}


def _strength(answer: Answer) -> tuple[int, float]:
    fit = answer.part.judge.rank(answer.measured.value) if answer.measured else 0
    return WEAKEST_FIRST.index(answer.verdict), fit


def answer_of(part: Proposition, measured: Values, published: Values) -> Answer:
    """Judge the part by the measured and by the published values."""
    answer = Answer(part)
    with suppress(UnknownValue):
        answer.published = part.find(published)
        fits = part.judge.fits(answer.published.value)
        answer.support = Support.SUPPORTED if fits else Support.NOT
        answer.rests_on = [operand for operand in part.of if published.doubts(operand)]
    if not part.judge.bounds:
        answer.reason = ELSEWHERE
        return answer
    try:
        quantity = answer.measured = part.find(measured)
    except UnknownValue as unknown:
        answer.verdict, answer.reason = unknown.verdict, unknown.reason
        return answer
    answer.verdict = part.judge.verdict(quantity)
    if floor := _floor(quantity, measured):
        # One store differs from itself by as much.
        answer.marks.append(IN_FLOOR)
        contradicted = answer.verdict is Verdict.CONTRADICTED
        if quantity.low is not None and (contradicted or part.judge.differs):
            # All of the noise floor is in the interval then.
            low, high = min(quantity.low, 1 / floor), max(quantity.high, floor)
            answer.verdict = part.judge.verdict(replace(quantity, low=low, high=high))
    if any(measured.setting(operand) in measured.short for operand in part.of):
        # Start-up weighs as much as the store.
        answer.verdict = Verdict.UNDECIDED
        answer.marks.append(SHORT)
    if measured.unlike_extremes(*part.of):
        # The smallest of few values is larger than that of many, and the largest is smaller.
        answer.verdict = Verdict.UNDECIDED
        answer.marks.append(UNLIKE)
    if measured.unequal(*(quantity.of or part.of)):
        # The source did the same work, so like is compared with like; whether the
        # comparison is fair to the stores is another question.
        answer.marks.append(UNEQUAL)
    if any(measured.setting(operand) in measured.client_bound for operand in part.of):
        answer.marks.append(CLIENT_BOUND)
    return answer


def _floor(ratio: Quantity, measured: Values) -> float | None:
    """The noise floor, where the interval of two stores' throughput ratio is not above it."""
    if not ratio.of:
        return None
    a, b = ratio.of
    quantities = {(each.workload, each.operation, each.metric) for each in ratio.of}
    if a.store == b.store or quantities != {(a.workload, "overall", "throughput")}:
        return None
    if measured.best(a) != measured.best(b):
        return None
    floor, low, high = measured.floor or 1.0, ratio.low or 1.0, ratio.high or 1.0
    above = low > floor or high < 1 / floor
    return floor if floor > 1 and not above else None


def _misfit(row: Mapping[str, object] | None) -> str:
    """Return the code of a number of the text that does not fit; "" where only digits change."""
    if row is None or row["fits"] == Fits.DIGITS:
        return ""
    numbers = {"printed": f"{row['given']:.15g}", "expected": row["expected"]}
    return reason("misfit", place=row["place"], **numbers, unit=row["unit"])


NOT_PUBLISHED = N_("not published")


def judge_run(run) -> pd.DataFrame:
    """The claims of a ``Run``'s study, asked of what was measured and of what was published.

    A trial run has no verdicts, and one of published values has nothing that was measured.
    """
    study, grid = run.study, grid_of(run.study, run.scale)
    values = read_published(None) if run.published is None else run.published
    published = published_values(values, grid, study.workload_names, run.audit)
    measured = Values({}) if run.published_only else measured_values(run)
    rows = judge_claims(
        load_claims(run.study_file.with_name(CLAIMS), study),
        *(grid, study.store_names, measured, published),
        verdicts=run.scale == 1 and not run.published_only,
    )
    if run.published_only:
        rows["reason"] = np.where(rows["published"].notna(), "", NOT_PUBLISHED)
    return rows
