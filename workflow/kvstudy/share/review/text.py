"""A review in words: what the archive claims, what is measured, what came out."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from itertools import pairwise
from math import comb

from kvstudy.analyse.tidy.reviews import ReviewOutcome
from kvstudy.language.reasons import sentence
from kvstudy.layout.numbers import significant
from kvstudy.measure.planning.progress import duration
from kvstudy.share.review.judgement import Judgement, ReviewedPair
from kvstudy.share.review.measurement import ReviewRun
from kvstudy.share.review.original import ArchivedPair, Original
from kvstudy.share.review.selection import FEWEST, ReviewSelection
from kvstudy.stats.latency_models import Difference, LatencyModel
from kvstudy.stats.ratios import Decision

WIDTH = 96
SIGNS = {Decision.FASTER: ">", Decision.EQUAL: "=", Decision.UNDECIDED: "~"}
# Of the machine, what tells two of them apart.
SHOWN = ("OS", "CPU", "Memory", "Disk", "Java")


def wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def claim_lines(original: Original) -> Iterator[str]:
    """Yield what the archive claims and what that rests on."""
    study = original.study
    undecided = sum(pair.decision is Decision.UNDECIDED for pair in original.pairs)
    yield wrapped(f"{original.run.name}: {study.title}")
    yield wrapped(
        f"{len(study.stores)} stores, {len(study.workloads)} workloads, {study.repetitions} "
        f"repetitions; {len(original.pairs) - undecided} of {len(original.pairs)} comparisons of "
        "two stores are decided. By throughput (with the ratio to the next one; = equal, ~ "
        "undecided):"
    )
    for workload in dict.fromkeys(pair.workload for pair in original.pairs):
        yield wrapped(f"- {workload}: {_ranking(original, workload)}", "  ")
    if original.claims:
        yield "Claims of its source, with the archive's verdicts:"
        for claim in original.claims:
            yield wrapped(f"- {claim.id}: {claim.short}: {claim.verdict or 'no verdict'}", "  ")


def _ranking(original: Original, workload: str) -> str:
    """Return ``Aerospike > Redis (1.11) > Riak KV (35.4)``, by the archive's means."""
    of = {pair.stores: pair for pair in original.pairs if pair.workload == workload}
    stores = {store for pair in of for store in pair}
    if len(of) < comb(len(stores), 2):
        # Stores on different paths are not compared.
        decided = [pair for pair in of.values() if pair.decision is not Decision.UNDECIDED]
        words = [
            f"{original.titles[pair.faster]} {SIGNS[pair.decision]} "
            f"{original.titles[pair.slower]} ({significant(pair.ratio)})"
            for pair in decided
        ]
        return "; ".join(words) or "nothing is decided"
    wins = {store: sum(pair.faster == store for pair in of.values()) for store in stores}
    ranked = sorted(stores, key=lambda store: (-wins[store], store))
    parts = [original.titles[ranked[0]]]
    for one, other in pairwise(ranked):
        pair = of.get(frozenset((one, other)))
        sign = SIGNS[pair.decision if pair else Decision.UNDECIDED]
        ratio = f" ({significant(pair.ratio)})" if pair else ""
        parts.append(f"{sign} {original.titles[other]}{ratio}")
    return " ".join(parts)


def pair_words(original: Original, pair: ArchivedPair) -> str:
    """Return ``a: Aerospike is faster than Redis (ratio 1.11, 95 % interval ..., n = 3)``."""
    titles = original.titles
    one, other = titles[pair.faster], titles[pair.slower]
    numbers = f"{significant(pair.ratio)}{_interval(pair.low, pair.high)}, n = {pair.n}"
    if pair.decision is Decision.EQUAL:
        return f"{pair.workload}: {one} and {other} are equal (ratio {numbers})"
    return f"{pair.workload}: {one} is faster than {other} (ratio {numbers})"


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None else f", 95 % interval {significant(low)} to {significant(high)}"


def machine_lines(original: Original, here: list[dict[str, str]]) -> Iterator[str]:
    """Yield how this machine differs from the archive's."""
    archived = {row["component"]: _component(row) for row in original.machine}
    ours = {row["component"]: _component(row) for row in here}
    different = [name for name in SHOWN if archived.get(name) != ours.get(name)]
    if not different:
        yield wrapped("This machine looks like the archive's: the same " + ", ".join(SHOWN) + ".")
        return
    yield "This machine differs from the archive's:"
    for name in different:
        text = f"{name}: {ours.get(name, 'unknown')}; there {archived.get(name, 'unknown')}"
        yield wrapped(f"- {text}", "  ")


def _component(row: dict[str, str]) -> str:
    return " ".join(filter(None, (sentence(row["name"]), sentence(row.get("details", "")))))


def plan_lines(original: Original, selection: ReviewSelection) -> Iterator[str]:
    """Yield what is measured, and what is left out."""
    if number := len(selection.pairs):
        yield wrapped(
            f"To be measured: {number} comparison{'s' * (number > 1)}, about "
            f"{duration(selection.seconds)} for each repetition by the archive's own times, at "
            f"least {FEWEST} repetitions where the time allows."
        )
        yield from _reasons(
            original,
            [
                (pair, ", ".join(pair.claims) or "no claim of the source")
                for pair in selection.pairs
            ],
            "Comparisons, and the claims that they carry:",
        )
    else:
        yield "Nothing of it can be measured here."
    yield from _reasons(original, selection.not_tried, "Not tried:")
    for (kind, _name), text in original.foreign.items():
        if kind == "configured":
            yield wrapped(f"Note: {text}; this clone's configuration is measured.")


def _reasons(
    original: Original, untried: Iterable[tuple[ArchivedPair, str]], title: str
) -> Iterator[str]:
    """Yield the reasons, each with its comparisons: ``Redis / Riak KV (a, b, c): no program``."""
    of_reason: dict[str, dict[str, list[str]]] = {}
    for pair, reason in untried:
        names = " / ".join(sorted(original.titles[store] for store in pair.stores))
        of_reason.setdefault(reason, {}).setdefault(names, []).append(pair.workload)
    if of_reason:
        yield title
    for reason, of in of_reason.items():
        parts = [f"{names} ({', '.join(workloads)})" for names, workloads in of.items()]
        yield wrapped(f"- {', '.join(parts)}: {reason}", "  ")


def result_lines(original: Original, state: ReviewRun, judgement: Judgement) -> Iterator[str]:
    """Yield comparison by comparison what came out, what was not confirmed first."""
    order = [ReviewOutcome.NOT_CONFIRMED, ReviewOutcome.CONFIRMED, ReviewOutcome.UNDECIDED]
    counts = {
        outcome: sum(one.outcome is outcome for one in judgement.pairs) for outcome in ReviewOutcome
    }
    parts = [f"{counts[outcome]} {outcome}" for outcome in (*order, ReviewOutcome.NOT_TRIED)]
    yield wrapped(f"Result after {state.repetitions} repetitions: {', '.join(parts)}.")
    for outcome in order:
        for one in judgement.pairs:
            if one.outcome is outcome:
                yield wrapped(f"- {reviewed_words(original, one)}", "  ")
    untried = [
        (one.pair, one.reason) for one in judgement.pairs if one.outcome is ReviewOutcome.NOT_TRIED
    ]
    yield from _reasons(original, untried, "Not tried:")
    yield from claim_outcomes(original, judgement)
    if judgement.model:
        yield wrapped(model_words(judgement.model))


def reviewed_words(original: Original, one: ReviewedPair) -> str:
    """Return the comparison with both ratios and the outcome."""
    text = (
        f"{one.outcome}: {pair_words(original, one.pair)}; here "
        f"{significant(one.ratio)}{_interval(one.low, one.high)}, n = {one.n}"
    )
    if one.low is not None and one.pair.low is not None:
        text += "; the intervals " + ("exclude each other" if one.apart else "overlap")
    return f"{text}; here with {one.sizes}" if one.sizes else text


def claim_outcomes(original: Original, judgement: Judgement) -> Iterator[str]:
    """Yield what the comparisons mean for each claim of the source."""
    if original.claims:
        yield "Claims of the source, by the comparisons of throughput that they are about:"
    for claim in original.claims:
        of = [one.outcome for one in judgement.pairs if claim.id in one.pair.claims]
        counts = [f"{of.count(outcome)} {outcome}" for outcome in ReviewOutcome if outcome in of]
        text = ", ".join(counts) or "not tried: it is about no two stores under one workload"
        yield wrapped(
            f"- {claim.id} ({claim.verdict or 'no verdict'} in the archive): {text}", "  "
        )


def model_words(model: LatencyModel) -> str:
    """Return how the archive's mean latencies follow from those of this machine."""
    if model.difference is Difference.FACTOR:
        what = f"{significant(model.constant)} times those here"
    else:
        sign = "plus" if model.constant >= 0 else "minus"
        what = f"those here {sign} {significant(abs(model.constant))} µs for each operation"
    return (
        f"The archive's mean latencies are best described as {what} (fitted to {model.n} means; "
        f"median error {model.median_error:.0%}, largest {model.worst_error:.0%}). Rates of two "
        "machines are not compared."
    )


def as_json(one: ReviewedPair) -> dict[str, object]:
    """Return the comparison for the record."""
    pair = one.pair
    return {
        "workload": pair.workload,
        "faster": pair.faster,
        "slower": pair.slower,
        "decision": pair.decision.value,
        "claims": [*pair.claims],
        "there": {"ratio": pair.ratio, "low": pair.low, "high": pair.high, "n": pair.n},
        "here": {"ratio": one.ratio, "low": one.low, "high": one.high, "n": one.n},
        "outcome": one.outcome.value,
        "reason": one.reason,
        "sizes": one.sizes,
    }
