"""Strings from data and config, made harmless for Markdown."""

from __future__ import annotations

import re

LONGEST_WORD = 24
ZERO_WIDTH_SPACE = "\u200b"


class Markup(str):
    """Text that already is Markdown; escaping leaves it alone."""

    __slots__ = ()


# Pandoc lets every ASCII symbol be escaped, so all of them are: no list of
# "special" ones to keep in step with pandoc's extensions.
_SYMBOL = re.compile(r"([!-/:-@\[-`{-~])")


def for_markdown(text: str) -> Markup:
    """``text`` on one line, meaning only itself in Markdown.

    Long words (paths in a reason, say) get places to break, so that no string
    from the data runs over the margin.
    """
    if isinstance(text, Markup):
        return text
    words = [breakable(word) for word in text.split()]
    return Markup(_SYMBOL.sub(r"\\\1", " ".join(words)))


def code(text: str) -> Markup:
    """``text`` as code in running Markdown."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return Markup(f"{fence} {text} {fence}")


def breakable(word: str) -> str:
    """``word`` with places to break if it is long; TeX and HTML show none of them."""
    if len(word) <= LONGEST_WORD:
        return word
    pieces = re.findall(r"[^/_.:,;=@\\-]{1,12}[/_.:,;=@\\-]*|[/_.:,;=@\\-]+", word)
    return ZERO_WIDTH_SPACE.join(pieces)
