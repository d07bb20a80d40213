"""All claims of a study, asked of what was measured and of what the source published.

Their answers, and these as a table with one row per statement (``claims.csv``).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from kvstudy.analyse.audit.check import Fits
from kvstudy.analyse.claims.file import Claim, load_claims
from kvstudy.analyse.claims.judge import WEAKEST_FIRST, Support, audited, support_of, weakest
from kvstudy.analyse.claims.quantities import Quantity
from kvstudy.analyse.claims.selection import Grid, Operand, grid_of
from kvstudy.analyse.claims.statements import Part, Statement
from kvstudy.analyse.claims.values import UnknownValue, Values, published_values
from kvstudy.analyse.claims.words import Names, label, sides
from kvstudy.analyse.tidy.files import read_csv
from kvstudy.analyse.tidy.numbers import grouped, significant
from kvstudy.language.current import N_, _
from kvstudy.language.locale import decimal
from kvstudy.language.reasons import sentence, several
from kvstudy.libraries import np, pd
from kvstudy.stats.ratios import Verdict
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

# Codes of language.reasons.
IN_FLOOR, CLIENT_BOUND, UNEQUAL = "in-floor", "client-bound", "unequal-updates"
ELSEWHERE = "source-machine"


@dataclass(frozen=True)
class Answer:
    """What a part comes to. ``measured`` and ``published`` are None where ``reason`` is given,
    or the source has no data. ``rests_on`` are values of the source that its audit rejects."""

    part: Part
    verdict: Verdict
    measured: Quantity | None
    reason: str
    marks: tuple[str, ...]
    support: Support
    published: Quantity | None
    rests_on: tuple[Operand, ...]


@dataclass(frozen=True)
class StatementAnswer:
    """The answer of a statement under one workload: its weakest verdict, and those of its parts.

    A ratio of two workloads is under both. ``misfit`` is the row of audit.csv of a number in
    which the source's text makes the statement, where it does not fit.
    """

    statement: Statement
    verdict: Verdict
    support: Support
    answers: tuple[Answer, ...]
    misfit: Mapping[str, object] | None

    @property
    def rests_on(self) -> list[Operand]:
        """The values of the source behind it that its audit rejects."""
        return list(dict.fromkeys(each for answer in self.answers for each in answer.rests_on))

    @property
    def shown(self) -> Answer:
        """The weakest part that was measured, and of several the one that fits worst."""

        def strength(answer: Answer) -> tuple[int, float]:
            fit = answer.part.judge.rank(answer.measured.value) if answer.measured else 0
            return WEAKEST_FIRST.index(answer.verdict), fit

        return min([each for each in self.answers if each.measured] or self.answers, key=strength)

    @property
    def of_source(self) -> Answer | None:
        """The part whose published value fits worst; None without any."""
        known = (answer for answer in self.answers if answer.published)
        return min(known, key=lambda one: one.part.judge.rank(one.published.value), default=None)

    @property
    def counts(self) -> dict[str, int]:
        """How many parts have which verdict, the weakest first."""
        verdicts = Counter(answer.verdict for answer in self.answers)
        return {one.value: verdicts[one] for one in WEAKEST_FIRST if one in verdicts}


@dataclass(frozen=True)
class ClaimAnswer:
    """The answer of a claim: the weakest of its statements'."""

    claim: Claim
    verdict: Verdict
    support: Support
    statements: tuple[StatementAnswer, ...]


def evaluate(
    claims: list[Claim], grid: Grid, stores: list[str], measured: Values, published: Values | None
) -> list[ClaimAnswer]:
    """The answers, in the order of the claims. ``stores`` are the study's.

    Each claim was made before the measurement, so the intervals are not adjusted for
    how many claims there are.
    """
    answered = []
    for claim in claims:
        answers = tuple(
            _statement(statement, parts, measured, published, f"{claim.id}/{number}")
            for number, statement in enumerate(claim.statements, start=1)
            for parts in _by_workload(statement.parts(grid, stores))
        )
        # A rate of the source's machine is asked of the source only.
        asked = [each for each in answers if any(one.part.judge.verdict for one in each.answers)]
        verdict = weakest(answer.verdict for answer in asked or answers)
        support = support_of(answer.support for answer in answers)
        answered.append(ClaimAnswer(claim, verdict, support, answers))
    return answered


def _by_workload(parts: list[Part]) -> Iterable[list[Part]]:
    groups: dict[tuple[str, ...], list[Part]] = defaultdict(list)
    for part in parts:
        groups[tuple(dict.fromkeys(operand.workload for operand in part.of))].append(part)
    return groups.values()


def _statement(
    statement: Statement, parts: list[Part], measured: Values, published: Values | None, name: str
) -> StatementAnswer:
    """``name`` is that of the statement in quotes.yaml (J4/1)."""
    answers = tuple(_answer(part, measured, published) for part in parts)
    support = support_of(answer.support for answer in answers)
    workloads = {operand.workload for part in parts for operand in part.of}
    misfit = published.misfit(name, workloads) if published else None
    if misfit:
        support = audited(support, misfit["fits"])
    verdict = weakest(answer.verdict for answer in answers)
    return StatementAnswer(statement, verdict, support, answers, misfit)


def _answer(part: Part, measured: Values, published: Values | None) -> Answer:
    source = _source(part, published)
    if part.judge.verdict is None:
        return Answer(part, Verdict.NOT_MEASURED, None, ELSEWHERE, (), *source)
    try:
        quantity = part.find(measured)
    except UnknownValue as unknown:
        return Answer(part, unknown.verdict, None, unknown.reason, (), *source)
    verdict = part.judge.verdict(quantity)
    marks = []
    if floor := _floor(quantity, measured):
        # Chance alone makes as much of one store and itself.
        marks.append(IN_FLOOR)
        if quantity.low is not None and (verdict is Verdict.CONTRADICTED or part.judge.differs):
            # All of the noise floor is in the interval then.
            low, high = min(quantity.low, 1 / floor), max(quantity.high, floor)
            verdict = part.judge.verdict(replace(quantity, low=low, high=high))
    if measured.unequal(*part.of):
        # The source did the same work, so like is compared with like; whether the
        # comparison is fair to the stores is another question.
        marks.append(UNEQUAL)
    if any(measured.setting(operand) in measured.client_bound for operand in part.of):
        marks.append(CLIENT_BOUND)
    return Answer(part, verdict, quantity, "", tuple(marks), *source)


def _source(
    part: Part, published: Values | None
) -> tuple[Support, Quantity | None, tuple[Operand, ...]]:
    """Whether the source's own value fits, that value, and rejected values it rests on."""
    try:
        point = part.find(published) if published else None
    except UnknownValue:
        point = None
    if point is None:
        return Support.NO_DATA, None, ()
    support = Support.SUPPORTED if part.judge.fits(point.value) else Support.NOT
    return support, point, tuple(operand for operand in part.of if published.rejects(operand))


def _floor(ratio: Quantity, measured: Values) -> float | None:
    """The noise floor, where the ratio of two stores' throughput is not above it."""
    if not ratio.of:
        return None
    a, b = ratio.of
    whole = {(each.workload, each.operation, each.metric) for each in ratio.of}
    if a.store == b.store or whole != {(a.workload, "overall", "throughput")}:
        return None
    if measured.best(a) != measured.best(b):
        return None
    floor = measured.floors.get(measured.setting(a)[1:], 0)
    return floor if max(ratio.value, 1 / ratio.value) <= floor else None


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
            shown, source = answer.shown, answer.of_source
            quantity, published = shown.measured, shown.published
            unit = quantity.unit if quantity else published.unit if published else ""
            counts = (f"{count} {verdict}" for verdict, count in answer.counts.items())
            rows.append(
                [
                    *[own.id, own.claim, own.short or own.claim, own.place, own.said, own.note],
                    *[claim.support.value, claim.verdict.value],
                    *[index, answer.statement.kind, answer.support.value, answer.verdict.value],
                    *[len(answer.answers), ", ".join(counts)],
                    label(shown.part, quantity, here),
                    published.value if published else None,
                    *([quantity.value, quantity.low, quantity.high] if quantity else [None] * 3),
                    *[unit, quantity.n if quantity else None],
                    *[shown.reason, several(_marks(answer))],
                    label(source.part, source.published, names) if source else "",
                    *([source.published.value, source.published.unit] if source else [None, ""]),
                    "; ".join(sides([operand], [], names) for operand in answer.rests_on),
                    _misfit(answer.misfit),
                ]
            )
    made = pd.DataFrame(rows, columns=COLUMNS)
    return made if verdicts else made.assign(verdict="", statement_verdict="", verdicts="")


def read_claims(path: Path) -> pd.DataFrame:
    """``claims.csv``; KvstudyError when it is missing or something else."""
    return read_csv(path, COLUMNS, NUMBERS, "written by `kvstudy claims`")


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
