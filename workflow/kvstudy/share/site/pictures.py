"""The pictures of a run on a site: the card of a posted link, the strip of the index, the badge."""

from __future__ import annotations

import io
import textwrap
from html import escape
from itertools import groupby
from math import inf

from kvstudy.layout.strip import axis_of
from kvstudy.libraries import plt
from kvstudy.render.paper import use_style
from kvstudy.share.site.summary import Mark, RunSummary

# As posted links show it, in pixels.
CARD = (1200, 630)
# Rows of marks that fit on a card, and in the index.
MOST_CARD, MOST_STRIP = 4, 3
STRIP_WIDTH, STRIP_HEIGHT, LABEL = 420, 22, 90
# Widths of the letters of a badge, about.
LETTER, PADDING = 6.6, 8


def by_workload(marks: list[Mark], most: int) -> list[tuple[str, list[Mark]]]:
    """Return the first workloads, each with its marks."""
    groups = [(name, list(of)) for name, of in groupby(marks, lambda mark: mark.workload)]
    return groups[:most]


def _axis(rows: list[tuple[str, list[Mark]]]):
    marks = [mark for _name, of in rows for mark in of]
    ends = [end for mark in marks for end in (mark.low, mark.high) if end is not None]
    return axis_of([*(mark.ratio for mark in marks), *ends], most=inf)


def card(summary: RunSummary) -> bytes:
    """PNG of ``CARD``: title, answer, and the ratios of the first workloads."""
    use_style()
    figure = plt.figure(figsize=(CARD[0] / 100, CARD[1] / 100), dpi=100, facecolor="white")
    title = "\n".join(textwrap.wrap(summary.title, 44)[:2])
    answer = summary.answers[0] if summary.answers else summary.question
    lines = textwrap.wrap(answer, 78)
    answer = "\n".join(lines[:3]) + (" …" if len(lines) > 3 else "")
    figure.text(0.05, 0.93, title, fontsize=30, weight="bold", va="top")
    figure.text(0.05, 0.70, answer, fontsize=18, va="top", linespacing=1.4)
    rows = by_workload(summary.marks, MOST_CARD)
    if rows:
        axis = _axis(rows)
        axes = figure.add_axes((0.13, 0.16, 0.82, 0.28))
        axes.set_xscale("log")
        axes.set_xlim(axis.first, axis.last)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_yticks(range(len(rows)), [name for name, _of in rows], fontsize=16)
        axes.set_xticks(axis.ticks, [f"{tick:g}" for tick in axis.ticks], fontsize=13)
        axes.minorticks_off()
        axes.axvline(1, color="#999999", linewidth=1)
        for place, (_name, of) in enumerate(rows):
            for mark in of:
                if mark.low is not None:
                    axes.plot([mark.low, mark.high], [place] * 2, color=mark.color, linewidth=3)
                axes.plot([mark.ratio], [place], "o", color=mark.color, markersize=12)
        for number, (store, color) in enumerate(list(summary.stores.items())[:6]):
            x = 0.13 + number * 0.14
            figure.text(x, 0.465, f"● {store}", color=color, fontsize=14, va="bottom")
    foot = [f"relative to {summary.baseline}" if rows else "", summary.verdict_words]
    figure.text(0.05, 0.04, "   ·   ".join(filter(None, foot)), fontsize=14, color="#555555")
    figure.text(0.95, 0.04, "kvstudy", fontsize=14, color="#555555", ha="right")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    plt.close(figure)
    return buffer.getvalue()


def strip(summary: RunSummary) -> str:
    """SVG of the ratios of the first workloads, for the index; "" without any."""
    rows = by_workload(summary.marks, MOST_STRIP)
    if not rows:
        return ""
    axis = _axis(rows)

    def at(ratio: float) -> float:
        return LABEL + (STRIP_WIDTH - LABEL - 10) * axis.place(ratio)

    height = STRIP_HEIGHT * len(rows)
    parts = [
        f'<svg viewBox="0 0 {STRIP_WIDTH} {height}" role="img" '
        f'aria-label="Throughput relative to {escape(summary.baseline)}" font-size="12">'
        f'<path class="one" d="M{at(1):.1f} 0V{height}"/>'
    ]
    for number, (name, of) in enumerate(rows):
        y = STRIP_HEIGHT * (number + 0.5)
        parts.append(f'<text x="0" y="{y + 4}" fill="currentColor">{escape(name[:14])}</text>')
        for mark in of:
            tip = f"<title>{escape(mark.store)}: {mark.ratio:.3g}</title>"
            if mark.low is not None:
                path = f"M{at(mark.low):.1f} {y}H{at(mark.high):.1f}"
                parts.append(f'<path d="{path}" stroke="{mark.color}" stroke-width="2"/>')
            x = f"{at(mark.ratio):.1f}"
            parts.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{mark.color}">{tip}</circle>')
    return "".join(parts) + "</svg>"


def badge(summary: RunSummary) -> str:
    """SVG with the verdicts on the source's claims, or when it was measured."""
    left, right = "kvstudy", summary.verdict_words or f"measured {summary.measured}"
    widths = [round(len(text) * LETTER + 2 * PADDING) for text in (left, right)]
    whole = sum(widths)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" '
        f'aria-label="{escape(left)}: {escape(right)}">'
        f'<rect width="{whole}" height="20" rx="3" fill="#2a5d84"/>'
        f'<rect width="{widths[0]}" height="20" rx="3" fill="#444"/>'
        '<g fill="#fff" font-family="DejaVu Sans,Verdana,sans-serif" font-size="11">'
        f'<text x="{PADDING}" y="14">{escape(left)}</text>'
        f'<text x="{widths[0] + PADDING}" y="14">{escape(right)}</text></g></svg>\n'
    )
