"""All claims of a study, asked of what was measured and of what the source published."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from kvstudy.analyse.claims.file import Claim
from kvstudy.analyse.claims.judge import WEAKEST_FIRST, Support, audited, support_of, weakest
from kvstudy.analyse.claims.quantities import Quantity
from kvstudy.analyse.claims.selection import Grid, Operand
from kvstudy.analyse.claims.statements import Part, Statement
from kvstudy.analyse.claims.values import UnknownValue, Values
from kvstudy.stats.ratios import Verdict

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
        measured = [answer for answer in self.answers if answer.measured]
        if not measured:
            return next(answer for answer in self.answers if answer.verdict == self.verdict)
        worst = weakest(answer.verdict for answer in measured)
        of_worst = (answer for answer in measured if answer.verdict == worst)
        return min(of_worst, key=lambda answer: answer.part.judge.rank(answer.measured.value))

    @property
    def of_source(self) -> Answer | None:
        """The part whose published value fits worst; None without any."""
        published = (answer for answer in self.answers if answer.published)
        return min(
            published, key=lambda each: each.part.judge.rank(each.published.value), default=None
        )

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
    """Whether the source's own value fits, and which rejected values it rests on.

    No value for a part that the source has none of.
    """
    if published is None:
        return Support.NO_DATA, None, ()
    try:
        point = part.find(published)
    except UnknownValue:
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
