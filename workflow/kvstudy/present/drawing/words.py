"""Words that several figures have in common."""

from __future__ import annotations

from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.language.current import NN_, _, ngettext

SIZES = {
    "records": NN_("{} record", "{} records"),
    "operations": NN_("{} operation", "{} operations"),
    "threads": NN_("{} thread", "{} threads"),
}


def size_words(size: str, number: float) -> str:
    """A size and how large it is: ``1 000 records``."""
    return ngettext(*SIZES[size], int(number)).format(grouped(f"{number:.0f}"))


def from_to(low: object, high: object) -> str:
    """Both ends of a range."""
    return _("{} to {}").format(low, high)
