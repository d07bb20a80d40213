"""The outcome of each comparison: the archive's ratio beside the one measured here."""

from __future__ import annotations

from dataclasses import dataclass

from kvstudy.analyse.findings.pairs import ratio_of
from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.reviews import ReviewOutcome
from kvstudy.libraries import pd
from kvstudy.share.review.measurement import ReviewRun, review_pairs, row_of
from kvstudy.share.review.original import ArchivedPair, Original, mean_latencies
from kvstudy.share.review.selection import ReviewSelection, sizes_of
from kvstudy.stats.latency_models import LatencyModel, fit_latency_models
from kvstudy.stats.ratios import Decision


@dataclass(frozen=True)
class ReviewedPair:
    """A comparison of the archive and what was found: ``ratio`` is of the same two stores here.

    ``low`` to ``high`` is its interval, None where there is none. ``apart``: the two intervals
    exclude each other. ``sizes`` say how they differ from the archive's, ``reason`` why the
    comparison was not tried.
    """

    pair: ArchivedPair
    outcome: ReviewOutcome
    reason: str = ""
    n: int = 0
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    apart: bool = False
    sizes: str = ""


@dataclass(frozen=True)
class Judgement:
    """All comparisons, in the archive's order; ``model`` is what turns its latencies into ours."""

    pairs: list[ReviewedPair]
    model: LatencyModel | None


def judge(original: Original, selection: ReviewSelection, state: ReviewRun) -> Judgement:
    """Compare the archive's ratios with those of the review."""
    rows = None if state.run is None else review_pairs(state.run)
    reviewed = {pair: _judge(original, selection, state, rows, pair) for pair in selection.pairs}
    reviewed |= {
        pair: ReviewedPair(pair, ReviewOutcome.NOT_TRIED, reason)
        for pair, reason in selection.not_tried
    }
    model = _model(original, state.run) if state.run else None
    return Judgement([reviewed[pair] for pair in original.pairs if pair in reviewed], model)


def _judge(
    original: Original,
    selection: ReviewSelection,
    state: ReviewRun,
    rows: pd.DataFrame | None,
    pair: ArchivedPair,
) -> ReviewedPair:
    row = None if rows is None else row_of(rows, pair)
    if row is None:
        failed = [
            reason
            for path, reason in state.failed.items()
            if path.split("/")[0] in pair.stores and path.split("/")[1] == pair.workload
        ]
        return ReviewedPair(
            pair, ReviewOutcome.NOT_TRIED, failed[0] if failed else "the time was over"
        )
    ratio, low, high = ratio_of(row, pair.faster)
    known = row.n > 1
    apart = bool(known and pair.low is not None and (low > pair.high or high < pair.low))
    texts = {
        original.titles[store]: text
        for store, workload, text in sizes_of(selection, original)
        if store in pair.stores and workload == pair.workload and text
    }
    alike = len(texts) == len(pair.stores) and len(set(texts.values())) == 1
    sizes = [*texts.values()][:1] if alike else [f"{of}: {text}" for of, text in texts.items()]
    return ReviewedPair(
        pair,
        outcome_of(pair, Decision(row.decision), row.faster, apart),
        n=int(row.n),
        ratio=float(ratio),
        low=float(low) if known else None,
        high=float(high) if known else None,
        apart=apart,
        sizes="; ".join(sizes),
    )


def outcome_of(pair: ArchivedPair, decision: Decision, faster: str, apart: bool) -> ReviewOutcome:
    """Return the outcome of a comparison that the archive decides.

    Confirmed is the same decision. Not confirmed is the opposite order, and anything else where the
    two intervals exclude each other: two intervals that overlap contradict nothing, even if one of
    them alone is decided. Seen: an archive whose logs were altered to say 2.5 times as fast; three
    minutes here gave 0.18 to 0.93, and no decision after correction for the number of pairs.
    """
    same_order = decision is not Decision.FASTER or faster == pair.faster
    if decision is pair.decision and same_order:
        return ReviewOutcome.CONFIRMED
    opposite = decision is pair.decision is Decision.FASTER
    return ReviewOutcome.NOT_CONFIRMED if opposite or apart else ReviewOutcome.UNDECIDED


def _model(original: Original, run: Run) -> LatencyModel | None:
    """Return the model of the archive's mean latencies by ours, None for too few."""
    here = mean_latencies(run.measurements, run.headline)
    both = original.latencies.rename("there").to_frame().join(here.rename("here"), how="inner")
    models = fit_latency_models(both["there"], both["here"], [1] * len(both))
    return models[0] if models else None
