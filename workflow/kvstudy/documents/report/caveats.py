"""The caveats of a report, by what they can change."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from itertools import combinations

from kvstudy.documents.report.facts import RunFacts


class Change(IntEnum):
    """The effect of a caveat, worst first."""

    ORDER = 0
    RATIO = 1
    RATES = 2


@dataclass(frozen=True)
class Caveat:
    """``name`` is that of its text in the template; ``share`` (0 to 1) is what it concerns."""

    name: str
    change: Change
    share: float


def caveats(facts: RunFacts) -> list[str]:
    """Names of the caveats that apply, by what each can change and by how much of the run."""
    caveats_of_run = [*_of_runs(facts), *_of_stores(facts), *_of_values(facts)]
    concerned = [caveat for caveat in caveats_of_run if caveat.share > 0]
    return [each.name for each in sorted(concerned, key=lambda each: (each.change, -each.share))]


def _of_runs(facts: RunFacts) -> list[Caveat]:
    """Return the caveats on the course of the runs."""
    course, background, busy = facts.course, facts.machine["background"], facts.busy
    unsteady = (course.unsteady + course.short) / max(course.runs, 1)
    others = background["above"] / background["cells"] if background else 0
    # An answer at the top of the page names its own short runs; a trial run has no answers.
    answers = facts.answers.answers if facts.data.scale == 1 else []
    answered = {comparison.workload for answer in answers for comparison in answer.of}
    short = [workload for workload in facts.workloads if workload.short]
    unsaid = any(workload.use.short not in answered for workload in short)
    brief = sum(len(workload.short) for workload in short) if unsaid else 0
    bound = sum(map(len, facts.client_bound.values())) / max(busy.of, 1)
    # Where both share cores that are all in use, what one takes the other lacks; where some are
    # free, only the rates are those of the machine.
    shared = facts.one_machine and busy.number > 0
    return [
        Caveat("unsteady", Change.ORDER, unsteady),
        Caveat("together", Change.ORDER if shared else Change.RATES, 1),
        Caveat("mixed", Change.ORDER, float(bool(facts.machine["mixed"]))),
        Caveat("background", Change.ORDER, others),
        Caveat("brief", Change.ORDER, min(brief / max(busy.of, 1), 1)),
        Caveat("client", Change.RATIO, min(bound, 1)),
        Caveat("stalls", Change.RATIO, len(course.stalled) / max(course.runs, 1)),
    ]


def _of_stores(facts: RunFacts) -> list[Caveat]:
    """Return the caveats on differences between stores."""
    kinds = [store.definition.kind for store in facts.measured_stores]
    servers = [kind for kind in kinds if kind != "embedded"]
    pairs = list(combinations(servers, 2))
    unlike = sum(one != other for one, other in pairs)
    embedded = len(kinds) - len(servers)
    changed = len(facts.operations.lighter + facts.operations.heavier)
    return [
        Caveat("storage", Change.ORDER, unlike / max(len(pairs), 1)),
        Caveat("embedded", Change.ORDER, embedded / len(kinds) if servers else 0),
        Caveat("updates", Change.ORDER, changed / max(len(kinds), 1)),
    ]


def _of_values(facts: RunFacts) -> list[Caveat]:
    """Return the caveats on unknown and missing values."""
    planned = max(len(facts.cells), 1)
    once = facts.data.study.repetitions == 1
    chance = Caveat("chance", Change.RATIO, min((facts.floor or 1) - 1, 1))
    if once:
        chance = Caveat("chance", Change.ORDER, 1)
    elif facts.floor is None and not facts.imports:
        chance = Caveat("chance", Change.RATIO, 1)
    return [
        chance,
        Caveat("invalid", Change.RATES, facts.validity.invalid / planned),
        # A store without values has no place at all.
        Caveat(
            "missing",
            Change.ORDER if facts.absent_stores else Change.RATES,
            facts.without_value / planned,
        ),
    ]
