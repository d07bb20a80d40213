"""Text and tables as LaTeX; strings for templates are escaped unless they are LaTeX already."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from textwrap import wrap

from kvstudy.language.current import _
from kvstudy.layout.grid import Grid, notes_of
from kvstudy.layout.rich_text import BREAK, RichText, rich, written
from kvstudy.render import templates
from kvstudy.render.strips import latex_strip
from kvstudy.study.run_names import REPORT

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
# What the marks of a rich text are here.
ELEMENTS = {
    "bold": r"\textbf{%s}",
    "italic": r"\textit{%s}",
    # Up to the end of the cell: a last paragraph takes the distance of its lines from there.
    "small": r"\scriptsize\hangindent=.8em %s",
    "raised": r"\textsuperscript{%s}",
    "grey": r"\textcolor{black!55}{%s}",
    "hanging": r"\rlap{%s}",
    "phantom": r"\phantom{%s}",
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
    """``text`` so that LaTeX prints it as it is; Latex passes unchanged."""
    if isinstance(text, Latex):
        return text
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


def printed(value: object) -> str:
    """``value`` as LaTeX, where it may break in long words."""
    if isinstance(value, RichText):
        return Latex(written(value.spans, _letters, lambda mark, text: ELEMENTS[mark] % text))
    if isinstance(value, str):
        return escape(value if isinstance(value, Latex) else broken(value))
    # StrictUndefined raises here, with the name that is undefined.
    return escape(str(value)) if not isinstance(value, int) else str(value)


def _letters(text: str) -> str:
    return r"\par ".join(escape(broken(line)) for line in text.split(BREAK))


def head(text: str | RichText, place: str = "r", longest: int = 16) -> Latex:
    """``text`` as the head of a column, over several lines if it is long.

    ``longest`` is how many letters a line may have; 0: each word has its own. The mark of a
    footnote is behind the last line.
    """
    words, mark = rich(text).without("raised"), rich(text).only("raised")
    if BREAK in words:
        lines = list(map(printed, words.split(BREAK)))
    else:
        lines = list(map(escape, wrap(words, longest) if longest else words.split(" ")))
    shown = rf"\shortstack[{place}]{{" + r"\\".join(lines) + "}" if lines[1:] else escape(words)
    return Latex(shown + (rf"\rlap{{{printed(mark)}}}" if mark else ""))


def label(text: RichText) -> Latex:
    """``text`` as what a line begins with, over several lines if it is long."""
    if len(str(text)) > LONGEST_LABEL:
        return Latex(rf"\parbox[t]{{0.33\linewidth}}{{\raggedright {printed(text)}\strut}}")
    return printed(text) if any(span.marks for span in text.spans) else escape(str(text))


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
    filters = {"head": head, "label": label, "strip": lambda strip: Latex(latex_strip(strip))}
    return templates.fill(template, values, filters, finalize=printed, **DELIMITERS)


def latex(grids: list[Grid]) -> str:
    """The ``grids`` below each other, without their float."""
    values = {
        "paper": grids[0].paper,
        "parts": [part for grid in grids for part in grid.parts()],
        "notes": notes_of(grids),
    }
    return fill(REPORT / "templates/tables/table.tex.j2", **values)
