"""Text of tables as HTML and as LaTeX, and their templates.

The few elements that a cell or a heading may have: ``<b>``, ``<i>``, ``<sup>``, ``<br>`` and
``<span class="...">`` with one of ``ELEMENTS``. HTML templates print them as they are, ``escape``
turns them into LaTeX. Strings for LaTeX templates are escaped unless they are LaTeX already.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from html import unescape
from pathlib import Path
from textwrap import wrap

from markupsafe import Markup

from kvstudy.analyse.tidy.numbers import MARK
from kvstudy.language.current import _
from kvstudy.present import templates

DASH = "\N{EN DASH}"
# Two stores that the runs do not tell apart, or show to be equal; one that the client limits.
TIE, EQUAL, BOUND = "~", "=", "\N{PILCROW SIGN}"


class Rich(Markup):
    """Markup of the elements above. Plain strings that are joined to it are escaped.

    What a cell or a heading belongs to goes with it (``marked``), for pages that sort and
    filter; text that is made from it has nothing of that.
    """

    value: float | None = None
    store: str = ""
    workload: str = ""
    # Of the head of a column: it has what a source published; why none of its lines has a value.
    published: bool = False
    gap: str = ""


def marked(text: str, value: float | None = None, store: str = "", workload: str = "") -> Rich:
    """``text`` with its unrounded number (none if NaN or infinite) and what it is of.

    ``store`` is the name of one, or names with spaces between.
    """
    rich = Rich(Rich.escape(text))
    rich.value = None if value is None or not math.isfinite(value) else float(value)
    rich.store, rich.workload = store, workload
    return rich


# Each makes Rich of a text.
bold = Rich("<b>{}</b>").format
italic = Rich("<i>{}</i>").format
# The mark of a footnote.
raised = Rich("<sup>{}</sup>").format
hanging = Rich('<span class="hang">{}</span>').format
# Not as text: where nothing can hide it, "872" would be read as "872.0".
phantom = Rich('<span class="phantom" data-as="{}"></span>').format


def grey(text: str) -> Rich:
    """``text`` in the grey of what does not count; it keeps its number."""
    shown = Rich('<span class="grey">{}</span>').format(text)
    return marked(shown, getattr(text, "value", None))


def note(mark: str, text: str) -> Rich:
    """A footnote."""
    return raised(mark) + "\N{NARROW NO-BREAK SPACE}" + text


def lines(*parts: str) -> Rich:
    """``parts`` below each other, in a cell whose text may break."""
    return Rich("<br>").join(parts)


def stacked(*parts: str) -> Rich:
    """``parts`` below each other, in a column of numbers."""
    return Rich('<span class="stack">{}</span>').format(lines(*parts))


def number_cell(value: float, text: Callable[[float], str]) -> str:
    """``value`` as ``text`` writes it, with the number; a dash if there is none."""
    return DASH if math.isnan(value) else marked(text(value), value)


INCONSISTENT = hanging(raised(MARK))


def with_mark(text: str, inconsistent: bool) -> str:
    """``text`` of a published value, marked if the audit of its source finds it inconsistent."""
    return (
        marked(Rich.escape(text) + INCONSISTENT, getattr(text, "value", None))
        if inconsistent
        else text
    )


def plain(text: str) -> str:
    """``text`` without that mark, and not as markup."""
    return unescape(str(text).replace(INCONSISTENT, "")) if isinstance(text, Rich) else text


def fill_html(template: Path, **values: object) -> str:
    """The filled ``template``; strings are escaped, Rich passes. Errors as ``templates.fill``'s.

    Tables have no style, id or script. What a page may use: ``class`` (``num`` for a
    number, ``section``, ``published``, ``sortable`` of a table), ``data-value`` (the
    unrounded number), ``data-store`` and ``data-workload`` of a body, row, column or cell.
    """
    text = templates.fill(template, values, autoescape=True)
    # A blank line ends the HTML within Markdown, for pandoc.
    return "".join(f"{line}\n" for line in text.split("\n") if line.strip())


ZERO_WIDTH_SPACE = "\N{ZERO WIDTH SPACE}"
LONGEST_WORD, LONGEST_SIGNS, LONGEST_LABEL = 24, 14, 40
NAMED = {
    **{"\\": "backslash", "~": "asciitilde", "^": "asciicircum", "`": "asciigrave"},
    **{"<": "less", ">": "greater", "|": "bar"},
    # pdflatex's fonts have no glyph for these.
    **{"µ": "mu", "±": "pm", "\N{MULTIPLICATION SIGN}": "times", "\N{MINUS SIGN}": "minus"},
    **{"\N{DAGGER}": "dagger", "\N{PILCROW SIGN}": "paragraph"},
}
SPECIAL = {
    **{sign: f"\\{sign}" for sign in "{}$&#%_"},
    **{sign: rf"\text{name}{{}}" for sign, name in NAMED.items()},
    # Two hyphens in a row would become a dash.
    "-": "-{}",
    # An opening bracket after \\ would be read as its optional argument.
    "[": "{[}",
    "]": "{]}",
    # pdflatex's fonts have no glyph for these either.
    ZERO_WIDTH_SPACE: r"\allowbreak{}",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{NO-BREAK SPACE}": "~",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
    "\N{BLACK CIRCLE}": r"$\bullet$",
    "\N{WHITE CIRCLE}": r"$\circ$",
    # White over the right half of the black one, the circle over both.
    "\N{CIRCLE WITH LEFT HALF BLACK}": (
        r"\mbox{\rlap{$\bullet$}\rlap{\hskip.25em\textcolor{white}{\rule{.25em}{1.2ex}}}$\circ$}"
    ),
    "\N{MULTIPLICATION X}": r"$\times$",
}
# The space between a number and its unit, or within a number, as report/templates/units.lua has it.
UNIT = re.compile(
    r"(?<=\d)(?<!\d{4}) (?=(?:%|[µm]?s|min|h|[kMGT]?B|[KMG]iB|k?ops/s|[MG]Hz|\d{3})(?!\w))"
)
# What the elements of ``Rich`` are here.
ELEMENTS = {
    "b": r"\textbf{",
    "i": r"\textit{",
    "sup": r"\textsuperscript{",
    # Does not count as much as its neighbours.
    "grey": r"\textcolor{black!55}{",
    # Takes no room in its column, so that numbers stay aligned.
    "hang": r"\rlap{",
    # Takes the room of the text that its attribute data-as has, and shows nothing.
    "phantom": r"\phantom{",
    # Lines below each other, aligned on the right.
    "stack": r"\shortstack[r]{",
}


class Latex(str):
    """Text that is LaTeX already."""

    __slots__ = ()


def printable(text: str) -> str:
    """``text``, plain or LaTeX, of characters that LaTeX prints or says that it cannot.

    Accents are put onto their letters, signs that only join or direct others are left out,
    control characters are replaced by one that no font has.
    """
    return "".join(map(_printable, unicodedata.normalize("NFC", text)))


def _printable(character: str) -> str:
    if character in "\n\t" or (character.isascii() and character.isprintable()):
        return character
    kind = unicodedata.category(character)
    if kind in ("Zs", "Zl", "Zp") and character not in SPECIAL:
        return " "
    if kind == "Cc":
        return "\N{REPLACEMENT CHARACTER}"
    invisible = kind == "Cf" or "VARIATION SELECTOR" in unicodedata.name(character, "")
    return "" if invisible and character != ZERO_WIDTH_SPACE else character


def breakable(word: str, longest: int = LONGEST_WORD, piece: int = 12) -> str:
    """``word`` with places to break where it is longer than ``longest`` letters.

    They come after its own separators, or after ``piece`` letters without one.
    """
    if len(word) <= longest:
        # TeX hyphenates no capitals: YCSB's NOT_IMPLEMENTED is too long for some lines.
        return re.sub("(?<=[A-Z]_)(?=[A-Z])", ZERO_WIDTH_SPACE, word)
    pattern = rf"[^/_.:,;=@\\-]{{1,{piece}}}[/_.:,;=@\\-]*|[/_.:,;=@\\-]+"
    return ZERO_WIDTH_SPACE.join(re.findall(pattern, word))


def escape(text: str) -> Latex:
    """``text`` so that LaTeX prints it as it is; Latex passes unchanged, Rich is turned into it.

    ValueError for an element that ``Rich`` does not have.
    """
    if isinstance(text, Latex):
        return text
    if isinstance(text, Rich):
        return _elements(str(text))
    line = re.sub(r"[\n\t]", " ", printable(text))
    return Latex("".join(SPECIAL.get(character, character) for character in line))


def broken(text: str) -> str:
    """Plain ``text`` with places to break in its long words, none in or after numbers."""
    text = UNIT.sub("\N{NARROW NO-BREAK SPACE}", text)
    # No-break spaces hold numbers and units together, which does not make them one word.
    parts = re.split("([ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}])", text)
    return "".join(
        # TeX hyphenates what has nothing but letters.
        breakable(part, LONGEST_WORD if part.isalpha() else LONGEST_SIGNS)
        if re.search(r"[^\W\d_]", part)
        else part
        for part in parts
    )


def head(text: str, place: str = "r", longest: int = 16) -> Latex:
    """``text`` as the head of a column, over several lines if it is long.

    ``longest`` is how many letters a line may have; 0: each word has its own. Rich elements stay;
    the mark of a footnote is behind the last line.
    """
    if isinstance(text, Rich) and (mark := re.fullmatch("([^<]+)(<sup>.*)", text)):
        return Latex(rf"{head(Rich(mark[1]), place, longest)}\rlap{{{escape(Rich(mark[2]))}}}")
    words = plain(text)
    lines = wrap(words, longest) if longest else words.split(" ")
    if len(lines) < 2 or (isinstance(text, Rich) and "<" in text):
        return escape(text)
    return Latex(rf"\shortstack[{place}]{{" + r"\\".join(map(escape, lines)) + "}")


def label(text: str) -> Latex:
    """``text`` as what a line begins with, over several lines if it is long."""
    if len(text) <= LONGEST_LABEL:
        return escape(text)
    return Latex(rf"\parbox[t]{{0.33\linewidth}}{{\raggedright {printed(text)}\strut}}")


def _elements(markup: str) -> Latex:
    parts, within = [], []
    for piece in re.split("(<[^>]*>)", markup):
        if not piece.startswith("<"):
            parts.append(escape(broken(unescape(piece))))
        elif piece == "<br>":
            parts.append(r"\\" if "stack" in within else r"\newline ")
        elif piece.startswith("</"):
            within.pop()
            parts.append("}")
        else:
            tag = re.fullmatch(r'<(?:span class=")?(\w+)"?(?: data-as="(.*)")?>', piece)
            if tag is None or tag[1] not in ELEMENTS:
                raise ValueError(f"{piece}: no element of Rich")
            within.append(tag[1])
            parts.append(ELEMENTS[tag[1]] + escape(unescape(tag[2] or "")))
    return Latex("".join(parts))


# LaTeX has braces and percent signs of its own.
DELIMITERS = {
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "block_start_string": "<%",
    "block_end_string": "%>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


def fill(template: Path, **values: object) -> str:
    """The filled ``template``: ``<< value >>``, ``<% block %>``, ``<# comment #>``.

    Every value is escaped; ``said`` is above the further pages of a table. Errors as
    ``templates.fill``'s.
    """
    values = values | {"said": {"table": _("Table"), "continued": _("continued")}}
    filters = {"head": head, "label": label}
    return templates.fill(template, values, filters, finalize=printed, **DELIMITERS)


def printed(value: object) -> str:
    """``value`` as LaTeX, where it may break in long words."""
    if isinstance(value, str):
        return escape(value if isinstance(value, Latex | Rich) else broken(value))
    # StrictUndefined raises here, with the name that is undefined.
    return escape(str(value)) if not isinstance(value, int) else str(value)
