"""The lines of a forest plot inside tables, for the page and for paper."""

from __future__ import annotations

from markupsafe import Markup

from kvstudy.language.locale import decimal
from kvstudy.layout.strip import Strip

# On paper, in points: width and height of a line, size of marks.
WIDTH, HEIGHT, DOT, RULE = 165.0, 7.0, 4.0, 0.5


def html_strip(strip: Strip) -> Markup:
    """The strip as elements that the style sheet draws; the row's other cells have its numbers."""
    axis = strip.axis
    parts: list[str] = []

    def mark(kind: str, ratio: float, text: str = "") -> None:
        parts.append(f'<i class="{kind}" style="left:{_percent(axis.place(ratio))}">{text}</i>')

    def span(kind: str, low: float, high: float) -> None:
        left, right = axis.place(low), axis.place(high)
        style = f"left:{_percent(left)};width:{_percent(right - left)}"
        parts.append(f'<i class="{kind}" style="{style}"></i>')

    if strip.labelled:
        for tick in axis.ticks:
            mark("tick", tick, decimal(f"{tick:g}"))
        return _strip("strip axis", parts)
    if strip.floor > 1:
        span("band", 1 / strip.floor, strip.floor)
    mark("one", 1)
    if strip.low is not None and strip.high is not None:
        span("interval", strip.low, strip.high)
    if strip.published is not None:
        mark(_end(strip, strip.published, "published"), strip.published)
    if strip.value is not None:
        mark(_end(strip, strip.value, "value"), strip.value)
    return _strip("strip faint" if strip.faint else "strip", parts)


def _strip(kind: str, parts: list[str]) -> Markup:
    return Markup(f'<span class="{kind}" aria-hidden="true">{"".join(parts)}</span>')


def _end(strip: Strip, ratio: float, kind: str) -> str:
    """The class of a mark; one that is beyond the axis has an arrow's."""
    if strip.axis.has(ratio):
        return kind
    return f"{kind} below" if ratio < strip.axis.first else f"{kind} above"


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"


def latex_strip(strip: Strip) -> str:
    """The strip as a picture of LaTeX, which needs no package but xcolor."""
    axis, middle = strip.axis, HEIGHT / 2
    parts: list[str] = []

    def put(x: float, y: float, what: str) -> None:
        parts.append(rf"\put({x:.2f},{y:.2f}){{{what}}}")

    def at(ratio: float) -> float:
        return WIDTH * axis.place(ratio)

    def rule(x: float, y: float, width: float, height: float, color: str) -> None:
        put(x, y, rf"\textcolor[gray]{{{color}}}{{\rule{{{width:.2f}pt}}{{{height:.2f}pt}}}}")

    if strip.labelled:
        for tick in axis.ticks:
            put(at(tick), 0, rf"\makebox(0,0)[b]{{\scriptsize {decimal(f'{tick:g}')}}}")
        return _picture(parts)
    if strip.floor > 1:
        left, right = at(1 / strip.floor), at(strip.floor)
        rule(left, 0, right - left, HEIGHT, ".88")
    rule(at(1), -1.5, RULE, HEIGHT + 3, ".6")
    shade = ".6" if strip.faint else "0"
    if strip.low is not None and strip.high is not None:
        left, right = at(strip.low), at(strip.high)
        rule(left, middle - 0.4, max(right - left, RULE), 0.8, shade)
    if strip.published is not None:
        put(at(strip.published), middle, _mark(strip, strip.published, rf"\circle{{{DOT:g}}}"))
    if strip.value is not None:
        dot = _mark(strip, strip.value, rf"\circle*{{{DOT:g}}}")
        put(at(strip.value), middle, rf"\textcolor[gray]{{{shade}}}{{{dot}}}")
    return _picture(parts)


def _mark(strip: Strip, ratio: float, shape: str) -> str:
    """The mark at its place, or an arrow at the end of the axis."""
    if strip.axis.has(ratio):
        return shape
    side, arrow = ("[l]", r"\leftarrow") if ratio < strip.axis.first else ("[r]", r"\rightarrow")
    return rf"\makebox(0,0){side}{{\scriptsize ${arrow}$}}"


def _picture(parts: list[str]) -> str:
    return (
        rf"\setlength{{\unitlength}}{{1pt}}\begin{{picture}}({WIDTH:g},{HEIGHT:g})"
        f"{''.join(parts)}" + r"\end{picture}"
    )
