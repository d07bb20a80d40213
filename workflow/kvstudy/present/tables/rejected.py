"""Published values that the audit of their source rejects, marked in tables."""

from __future__ import annotations

from kvstudy.analyse.tidy.numbers import MARK, marked_values
from kvstudy.present.tables.markup import Rich, hanging, marked, note, raised


def with_mark(text: str, rejected: bool) -> str:
    """``text`` of a value, marked if it is rejected; ``unmarked`` is then the text alone."""
    if not rejected:
        return text
    rich = marked(Rich.escape(text) + hanging(raised(MARK)), getattr(text, "value", None))
    rich.unmarked = text
    return rich


def together(between: str, cells: list[str]) -> str:
    """``cells`` as one, which may be marked."""
    text = between.join(getattr(cell, "unmarked", "") or cell for cell in cells)
    if not any(getattr(cell, "unmarked", "") for cell in cells):
        return text
    rich = Rich(between).join(cells)
    rich.unmarked = text
    return rich


def rejected_note() -> Rich:
    words = marked_values()
    return note(MARK, words[:1].upper() + words[1:] + ".")
