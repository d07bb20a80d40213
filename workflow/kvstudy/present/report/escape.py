"""Strings from data and config, made harmless for Markdown."""

from __future__ import annotations

import re

from kvstudy.present.tables.latex import breakable


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
