"""The page of a review: one HTML file that needs no other."""

from __future__ import annotations

from pathlib import Path

from kvstudy.analyse.tidy.reviews import ReviewOutcome
from kvstudy.layout.numbers import significant
from kvstudy.render import templates
from kvstudy.share.review.judgement import Judgement, ReviewedPair
from kvstudy.share.review.original import ArchivedPair, Original
from kvstudy.share.review.text import claim_outcomes, model_words
from kvstudy.stats.ratios import Decision
from kvstudy.whole_file import put

TEMPLATE = Path("report/templates/html/review.html.j2")
# What a reader looks for first.
ORDER = [
    ReviewOutcome.NOT_CONFIRMED,
    ReviewOutcome.CONFIRMED,
    ReviewOutcome.UNDECIDED,
    ReviewOutcome.NOT_TRIED,
]
CLASSES = {
    ReviewOutcome.CONFIRMED: "confirmed",
    ReviewOutcome.NOT_CONFIRMED: "not-confirmed",
    ReviewOutcome.UNDECIDED: "undecided",
    ReviewOutcome.NOT_TRIED: "not-tried",
}


def write_page(
    original: Original, judgement: Judgement, about: list[str], summary: str, path: Path
) -> None:
    """Write the page to ``path``; ``about`` are sentences on the reviewer and the machines."""
    rows = [
        {
            "workload": original.study.workload(one.pair.workload).title,
            "stores": _stores(original, one.pair),
            "there": _numbers(one.pair.ratio, one.pair.low, one.pair.high, one.pair.n),
            "here": "" if one.ratio is None else _numbers(one.ratio, one.low, one.high, one.n),
            "outcome": one.outcome.value,
            "kind": CLASSES[one.outcome],
            "note": _note(one),
        }
        for one in sorted(judgement.pairs, key=lambda one: ORDER.index(one.outcome))
    ]
    _title, *claims = list(claim_outcomes(original, judgement)) or [""]
    text = templates.fill(
        TEMPLATE,
        {
            "run": original.run.name,
            "title": original.study.title,
            "digest": original.digest,
            "about": about,
            "summary": summary,
            "rows": rows,
            "claims": [line.strip().removeprefix("- ").replace("\n", " ") for line in claims],
            "model": model_words(judgement.model) if judgement.model else "",
        },
        autoescape=True,
    )
    put(text.encode(), path)


def _stores(original: Original, pair: ArchivedPair) -> str:
    sign = "=" if pair.decision is Decision.EQUAL else ">"
    return f"{original.titles[pair.faster]} {sign} {original.titles[pair.slower]}"


def _numbers(ratio: float, low: float | None, high: float | None, n: int) -> str:
    ends = "" if low is None else f" [{significant(low)}, {significant(high)}]"
    return f"{significant(ratio)}{ends}, n = {n}"


def _note(one: ReviewedPair) -> str:
    parts = [one.reason, one.sizes]
    if one.apart:
        parts.append("the two intervals exclude each other")
    return "; ".join(filter(None, parts))
