"""Texts of studies and stores, whose translations stand in a catalogue beside them."""

from __future__ import annotations

import contextlib
import gettext
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from kvstudy.language.current import ORIGINAL, current, read_catalogue
from kvstudy.language.locale import is_place

_beside: gettext.NullTranslations = gettext.NullTranslations()
_seen: dict[str, None] | None = None


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
    """``text`` by the catalogue beside its file; itself where that has none."""
    if not text:
        return text
    if _seen is not None:
        _seen[text] = None
    return _beside.gettext(text)


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
