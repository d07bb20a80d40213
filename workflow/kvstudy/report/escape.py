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
    # Not at no-break spaces, as split() does: they hold the groups of a number together.
    words = [breakable(word) for word in re.split(r"[ \t\r\n]+", text.strip(" \t\r\n"))]
    return Markup(_SYMBOL.sub(r"\\\1", " ".join(words)))


def code(text: str) -> Markup:
    """``text`` as code in running Markdown."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return Markup(f"{fence} {text} {fence}")


def breakable(word: str, longest: int = LONGEST_WORD, piece: int = 12) -> str:
    """``word`` with places to break where it is longer than ``longest`` letters.

    They come after its own separators, or after ``piece`` letters without one.
    """
    if len(word) <= longest:
        # TeX hyphenates no capitals: YCSB's NOT_IMPLEMENTED is too long for some lines.
        return re.sub("(?<=[A-Z]_)(?=[A-Z])", ZERO_WIDTH_SPACE, word)
    pattern = rf"[^/_.:,;=@\\-]{{1,{piece}}}[/_.:,;=@\\-]*|[/_.:,;=@\\-]+"
    return ZERO_WIDTH_SPACE.join(re.findall(pattern, word))
