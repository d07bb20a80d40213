"""Marks next to values that are not like the others, and what they say."""

from __future__ import annotations

from collections.abc import Mapping

from kvstudy.analyse.tidy.numbers import MARK, OTHER_SIZE, marked_values, of_other_sizes
from kvstudy.libraries import lines, pd
from kvstudy.present.drawing.draw import DARK

# By the column that says yes or no.
MARKS = {"inconsistent": (MARK, marked_values), "other_size": (OTHER_SIZE, of_other_sizes)}


def marks_of(row: Mapping[str, str]) -> dict[str, str]:
    """The marks of one value, each with its meaning."""
    return {mark: words() for column, (mark, words) in MARKS.items() if row.get(column) == "yes"}


def mark_handles(table: pd.DataFrame) -> list[lines.Line2D]:
    """The entries in a legend of the marks that the ``table`` has."""
    style = {"markersize": 6, "color": DARK, "linestyle": "none"}
    return [
        lines.Line2D([], [], label=words, marker=f"${mark}$", **style)
        for mark, words in _all_of(table).items()
    ]


def mark_notes(table: pd.DataFrame) -> list[str]:
    """Explain the marks in the ``table``, one sentence each."""
    return [f"{mark}: {words}." for mark, words in _all_of(table).items()]


def _all_of(table: pd.DataFrame) -> dict[str, str]:
    return marks_of({name: "yes" for name in MARKS if "yes" in set(table.get(name, ()))})
