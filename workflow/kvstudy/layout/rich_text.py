"""A text with marks, as tables show it: it belongs to no format, each has a writer for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby

from kvstudy.layout.numbers import MARK

DASH = "\N{EN DASH}"
# Two stores that the runs do not tell apart, or show to be equal; one that the client limits.
TIE, EQUAL, BOUND = "~", "=", "\N{PILCROW SIGN}"
# The end of a line in a text; a newline is a space as it is in prose.
BREAK = "\N{LINE SEPARATOR}"


@dataclass(frozen=True)
class Span:
    """Letters with their marks, the outermost first."""

    text: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class RichText:
    """Spans one after another; joined to plain text it stays rich."""

    spans: tuple[Span, ...] = ()

    def __add__(self, other: str | RichText) -> RichText:
        return RichText(self.spans + rich(other).spans)

    def __radd__(self, other: str) -> RichText:
        return rich(other) + self

    def __bool__(self) -> bool:
        return bool(self.spans)

    def __str__(self) -> str:
        return self.without("phantom").replace(BREAK, "\n")

    def only(self, mark: str) -> RichText:
        """Return the spans that have the ``mark``."""
        return RichText(tuple(span for span in self.spans if mark in span.marks))

    def without(self, *marks: str) -> str:
        """Return the letters of the spans that have none of the ``marks``."""
        return "".join(span.text for span in self.spans if not {*marks} & {*span.marks})


def rich(text: str | RichText) -> RichText:
    """``text`` as rich text; a plain one has no marks."""
    return text if isinstance(text, RichText) else RichText((Span(text),) if text else ())


def _marking(mark: str) -> Callable[[str | RichText], RichText]:
    def marked(text: str | RichText) -> RichText:
        spans = rich(text).spans
        return RichText(tuple(replace(span, marks=(mark, *span.marks)) for span in spans))

    return marked


# Each puts its mark around a text. Small: whole lines at the end of a cell; raised: the mark of a
# footnote; grey: what does not count; hanging: takes no room; phantom: takes room and shows
# nothing, where "872" would be read as "872.0".
MARKS = ("bold", "italic", "small", "raised", "grey", "hanging", "phantom")
bold, italic, small, raised, grey, hanging, phantom = map(_marking, MARKS)


def note(mark: str, text: str) -> RichText:
    """A footnote."""
    return raised(mark) + "\N{NARROW NO-BREAK SPACE}" + text


def lines(*parts: str | RichText, separator: str = BREAK) -> RichText:
    """``parts`` below each other, or with another ``separator`` between them."""
    first = rich(parts[0]) if parts else RichText()
    return reduce(lambda text, part: text + separator + part, parts[1:], first)


def with_mark(text: str | RichText, inconsistent: bool) -> str | RichText:
    """``text`` of a published value, marked if the audit of its source finds it inconsistent."""
    return text + hanging(raised(MARK)) if inconsistent else text


def written(
    spans: Iterable[Span], letters: Callable[[str], str], around: Callable[[str, str], str]
) -> str:
    """The ``spans`` in a format: ``letters`` writes a text, ``around`` puts a mark around one."""
    parts = []
    for marks, group in groupby(spans, key=lambda span: span.marks[:1]):
        if marks:
            inner = [replace(span, marks=span.marks[1:]) for span in group]
            parts.append(around(*marks, written(inner, letters, around)))
        else:
            parts.append(letters("".join(span.text for span in group)))
    return "".join(parts)
