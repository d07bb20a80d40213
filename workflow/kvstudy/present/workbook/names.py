"""Names of sheets, within the rules of Excel."""

from __future__ import annotations

import re

LONGEST = 31
# Excel keeps this name for itself.
RESERVED = {"history"}


def sheet_names(titles: list[str]) -> list[str]:
    """A name for each title, in order: at most 31 characters, none twice, whatever the case.

    What Excel forbids in names becomes a space; names that are taken get a number.
    """
    found: list[str] = []
    taken = set(RESERVED)
    for title in titles:
        plain = " ".join(re.sub(r"[\[\]:*?/\\\x00-\x1f]", " ", title).split())
        plain = plain.strip("' ") or "Sheet"
        name, number = _cut(plain, ""), 1
        while name.lower() in taken:
            number += 1
            name = _cut(plain, f" ({number})")
        taken.add(name.lower())
        found.append(name)
    return found


def _cut(title: str, end: str) -> str:
    # Excel counts UTF-16 units: a character beyond the basic plane counts twice.
    room = LONGEST - len(end)
    while len(title.encode("utf-16-le")) // 2 > room:
        title = title[:-1]
    return title.rstrip("' ") + end


def quoted(sheet: str) -> str:
    """The name as formulas need it."""
    return "'" + sheet.replace("'", "''") + "'"
