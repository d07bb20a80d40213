"""Formats and translations of numbers, dates, lists, places in a source and texts of studies."""

import contextlib
import gettext
from collections.abc import Iterable, Iterator
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from kvstudy.language.current import ORIGINAL, current, pgettext, read_catalogue

# Of texts of studies and stores: the catalogue next to their file, and those that were read.
_beside: gettext.NullTranslations = gettext.NullTranslations()
_seen: dict[str, None] | None = None


def decimal_mark() -> str:
    """``.`` or ``,``."""
    if current() == ORIGINAL:
        return "."
    return _locale(current()).number_symbols["latn"]["decimal"]


def percent_sign() -> str:
    """Return ``%`` with the language's space before it."""
    return pgettext("behind a number", "%")


def decimal(text: str) -> str:
    """A number written with a point, as ``1.5``, with the language's decimal mark."""
    return text.replace(".", decimal_mark())


def long_date(day: date) -> str:
    """``20 November 2026``."""
    from babel.dates import format_date

    return format_date(day, "long", _locale(current()))


def list_of(texts: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    from babel.lists import format_list

    return format_list(list(texts), "standard", _locale(current()))


@lru_cache
def _locale(language: str):
    from babel import Locale

    # Dates and lists of the English text are those of British English.
    return Locale.parse("en_GB" if language == ORIGINAL else language)


def translated_place(text: str) -> str:
    """``text`` word by word; itself where it has other words than those of a place."""
    words = _words() if is_place(text) else {}
    return " ".join(words.get(word, word) for word in text.split(" "))


def is_place(text: str) -> bool:
    """Return whether ``text`` consists of words of a place, numbers and single letters."""
    words = _words()
    return all(word in words or sum(map(str.isalpha, word)) < 2 for word in text.split(" "))


def _words() -> dict[str, str]:
    return {
        "Table": pgettext("place in a source", "Table"),
        "Tables": pgettext("place in a source", "Tables"),
        "Figure": pgettext("place in a source", "Figure"),
        "Figures": pgettext("place in a source", "Figures"),
        "Section": pgettext("place in a source", "Section"),
        "Page": pgettext("place in a source", "Page"),
        "paragraph": pgettext("place in a source", "paragraph"),
        "and": pgettext("place in a source", "and"),
        "to": pgettext("place in a source", "to"),
    }


@contextlib.contextmanager
def catalogue_beside(path: Path) -> Iterator[None]:
    """Within the block, texts are translated by the catalogue in the folder of ``path``."""
    global _beside
    before = _beside
    if current() != ORIGINAL:
        _beside = read_catalogue(path.with_name(f"{current()}.po"))
    try:
        yield
    finally:
        _beside = before


@contextlib.contextmanager
def collecting() -> Iterator[dict[str, None]]:
    """The texts that are read within the block, in their order: what a catalogue must hold."""
    global _seen
    _seen = {}
    try:
        yield _seen
    finally:
        _seen = None


def translated(text: str) -> str:
    """``text`` by the catalogue next to its file; itself where that has none."""
    return _beside.gettext(noted(text)) if text else text


def noted(text: str) -> str:
    """``text`` as it is: files of a run hold it too, and it is translated where it is shown."""
    if text and _seen is not None:
        _seen[text] = None
    return text


def noted_place(text: str) -> str:
    """As ``noted``, but for what ``places`` translates: Table 2, or the number of a section."""
    return text if is_place(text) else noted(text)


# The types of fields of a model whose text people read: translated at once, or where
# ``sentence()`` shows it.
Text = Annotated[str, AfterValidator(translated)]
Noted = Annotated[str, AfterValidator(noted)]
Place = Annotated[str, AfterValidator(noted_place)]
