"""Filling LaTeX templates: strings are escaped unless they are LaTeX already."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from kvstudy.tables.markup import Rich
from kvstudy.tables.templates import environment, filled

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


def escape(text: str) -> Latex:
    """``text`` so that LaTeX prints it as it is; Latex passes unchanged, Rich is turned into it."""
    if isinstance(text, Latex):
        return text
    if isinstance(text, Rich):
        return latex_of(text)
    return Latex("".join(SPECIAL.get(character, character) for character in text))


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
        self.parts.append(escape(data))


def fill(template: Path, **values: object) -> str:
    """The filled ``template``: ``<< value >>``, ``<% block %>``, ``<# comment #>``.

    Every value is escaped. Raises KvstudyError, naming the template, for a
    template that is missing or wrong and for a name that it uses but is not given.
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
        autoescape=False,
    )
    return filled(found, template, values)


def _finalize(value: object) -> str:
    if isinstance(value, str):
        return escape(value)
    # StrictUndefined raises here, with the name that is undefined.
    return escape(str(value)) if not isinstance(value, int) else str(value)
