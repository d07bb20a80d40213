"""Tables that are higher than a page, cut into parts that fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from kvstudy.language.current import _

# Lines that fit on a page in the usual letters, and in small ones.
FULL_PAGE, SMALL_PAGE = 48, 58
# The rules and the names of the columns; the space and the title of a section.
HEAD, TITLE = 2, 1


@dataclass
class Part:
    """Sections with the same columns, below one head."""

    columns: list[str]
    sections: list[Any]


def pages(
    columns: list[str], sections: list[Any], height: Callable[[Any], int] = lambda line: 1
) -> list[list[Part]]:
    """The ``sections`` (each with ``title`` and ``lines``) by pages and their parts.

    A section with ``columns`` of its own begins a part. A section goes on over
    pages only if it is higher than one. A line without a label stays with the one above
    it. ``height`` is that of a line. One page in the usual letters, if it is enough.
    """
    found: list[list[Part]] = [[]]
    room = SMALL_PAGE
    for section in sections:
        columns = getattr(section, "columns", None) or columns
        title, rest = section.title, _groups(section.lines, height)
        while rest or title is not None:
            part = found[-1][-1] if found[-1] else None
            begins = part is None or part.columns != columns
            left = room - (HEAD if begins else 0) - (TITLE if title else 0)
            needed = sum(size for size, _ in rest)
            if found[-1] and needed > left and (needed <= SMALL_PAGE - HEAD - TITLE or left < 2):
                found.append([])
                room = SMALL_PAGE
                continue
            taken = [rest.pop(0)] if rest else []
            while rest and sum(size for size, _ in taken) + rest[0][0] <= left:
                taken.append(rest.pop(0))
            if begins:
                part = Part(columns, [])
                found[-1].append(part)
            lines = [line for _, group in taken for line in group]
            part.sections.append(replace(section, title=title, lines=lines))
            room = left - sum(size for size, _ in taken)
            title = None
            if rest:
                title = f"{section.title} ({_('continued')})" if section.title else ""
                found.append([])
                room = SMALL_PAGE
    return found


def is_small(found: list[list[Part]], height: Callable[[Any], int] = lambda line: 1) -> bool:
    """Whether the pages need small letters."""
    return (
        len(found) > 1
        or sum(
            HEAD + sum(TITLE + sum(map(height, section.lines)) for section in part.sections)
            for part in found[0]
        )
        > FULL_PAGE
    )


def _groups(lines: list[Any], height: Callable[[Any], int]) -> list[tuple[int, list[Any]]]:
    """Lines that stay together, with their height."""
    groups: list[list[Any]] = []
    for line in lines:
        if line.label or not groups:
            groups.append([])
        groups[-1].append(line)
    return [(sum(map(height, group)), group) for group in groups]
