"""Filling LaTeX templates: strings are escaped unless they are LaTeX already."""

from __future__ import annotations

import re
import unicodedata
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from textwrap import wrap

from kvstudy.language.current import _
from kvstudy.present import templates
from kvstudy.present.templates import environment
from kvstudy.present.typeset.markup import Rich

ZERO_WIDTH_SPACE = "\N{ZERO WIDTH SPACE}"
LONGEST_WORD, LONGEST_SIGNS = 24, 14
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\textasciigrave{}",
    # Two hyphens in a row would become a dash.
    "-": "-{}",
    # An opening bracket after \\ would be read as its optional argument.
    "[": "{[}",
    "]": "{]}",
    # pdflatex's fonts have no glyph for these.
    ZERO_WIDTH_SPACE: r"\allowbreak{}",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
    "\N{NO-BREAK SPACE}": "~",
    "µ": r"\textmu{}",
    "\N{MULTIPLICATION SIGN}": r"\texttimes{}",
    "\N{MINUS SIGN}": r"\textminus{}",
    "±": r"\textpm{}",
    "\N{DAGGER}": r"\textdagger{}",
    "\N{RIGHTWARDS ARROW}": r"$\rightarrow$",
}
# What the elements of ``Rich`` are here.
ELEMENTS = {
    "b": r"\textbf{",
    "i": r"\textit{",
    "sup": r"\textsuperscript{",
    "grey": r"\textcolor{black!55}{",
    "hang": r"\rlap{",
    "phantom": r"\phantom{",
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
    """``text`` so that LaTeX prints it as it is; Latex passes unchanged, Rich is turned into it."""
    if isinstance(text, Latex):
        return text
    if isinstance(text, Rich):
        return latex_of(text)
    line = re.sub(r"[\n\t]", " ", printable(text))
    return Latex("".join(SPECIAL.get(character, character) for character in line))


def broken(text: str) -> str:
    """Plain ``text`` with places to break in its long words, none in numbers."""
    # No-break spaces hold numbers and units together, which does not make them one word.
    parts = re.split("([ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}])", text)
    return "".join(_broken(part) if re.search(r"[^\W\d_]", part) else part for part in parts)


def _broken(word: str) -> str:
    # TeX hyphenates what has nothing but letters.
    return breakable(word, LONGEST_WORD if word.isalpha() else LONGEST_SIGNS)


def head(text: str, place: str = "r", longest: int = 16) -> Latex:
    """``text`` as the head of a column, over several lines if it is long.

    ``longest`` is how many letters a line may have; 0: each word has its own. Rich elements stay;
    the mark of a footnote stands behind the last line.
    """
    if isinstance(text, Rich) and (mark := re.fullmatch("([^<]+)(<sup>.*)", text)):
        return Latex(rf"{head(Rich(mark[1]), place, longest)}\rlap{{{escape(Rich(mark[2]))}}}")
    plain = unescape(text) if isinstance(text, Rich) else text
    lines = wrap(plain, longest) if longest else plain.split(" ")
    if len(lines) < 2 or (isinstance(text, Rich) and "<" in text):
        return escape(text)
    return Latex(rf"\shortstack[{place}]{{" + r"\\".join(map(escape, lines)) + "}")


def label(text: str, longest: int = 40) -> Latex:
    """``text`` as what a line begins with, over several lines if it is long."""
    if len(text) <= longest:
        return escape(text)
    return Latex(rf"\parbox[t]{{0.33\linewidth}}{{\raggedright {_finalize(text)}\strut}}")


def latex_of(rich: Rich) -> Latex:
    """The same as LaTeX. ValueError for an element that ``Rich`` does not have."""
    parser = _Parser()
    # Slices of Rich would be Rich again.
    parser.feed(str(rich))
    parser.close()
    return Latex("".join(parser.parts))


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "br":
            self.parts.append(r"\\" if "stack" in self._open else r"\newline ")
            return
        name = dict(attrs).get("class") if tag == "span" else tag
        if name not in ELEMENTS:
            raise ValueError(f"<{tag}> {attrs}: no element of Rich")
        self._open.append(name)
        self.parts.append(ELEMENTS[name] + escape(dict(attrs).get("data-as", "")))

    def handle_endtag(self, tag: str) -> None:
        self._open.pop()
        self.parts.append("}")

    def handle_data(self, data: str) -> None:
        self.parts.append(escape(broken(data)))


def fill(template: Path, **values: object) -> str:
    """The filled ``template``: ``<< value >>``, ``<% block %>``, ``<# comment #>``.

    Every value is escaped; ``said`` are the words of a continued table. Errors as
    ``templates.fill``'s.
    """
    found = environment(
        template.parent,
        finalize=_finalize,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    found.filters |= {"head": head, "label": label}
    return templates.fill(found, template.name, values | {"said": continued()})


def continued() -> dict[str, str]:
    """What stands above the further pages of a table."""
    return {"table": _("Table"), "continued": _("continued")}


def _finalize(value: object) -> str:
    if isinstance(value, str):
        return escape(value if isinstance(value, Latex | Rich) else broken(value))
    # StrictUndefined raises here, with the name that is undefined.
    return escape(str(value)) if not isinstance(value, int) else str(value)
