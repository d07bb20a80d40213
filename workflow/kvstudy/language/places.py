"""Places in a source, such as ``Table 4.1`` or ``Section 3, paragraph 2``."""

from __future__ import annotations

from kvstudy.language.current import pgettext


def translated_place(text: str) -> str:
    """``text`` word by word; itself where it has other words than those of a place."""
    if not is_place(text):
        return text
    words = _words()
    return " ".join(words.get(word, word) for word in text.split(" "))


def is_place(text: str) -> bool:
    """Whether ``text`` has nothing but the words of a place, numbers and single letters."""
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
