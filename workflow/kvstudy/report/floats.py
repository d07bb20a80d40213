"""Tables, figures, transcripts and references to them, as Markdown for pandoc.

What differs between formats is here, so that the text does not depend on one.
This is the LaTeX side: floats are raw LaTeX around a caption in Markdown.
"""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.language.current import _, pgettext
from kvstudy.language.recorded import recorded
from kvstudy.report.escape import Markup, for_markdown
from kvstudy.report.transcript import Line
from kvstudy.study.base import AnyTable
from kvstudy.study.figure_kinds import DrawnFigure, Transcript
from kvstudy.study.parts import Source
from kvstudy.tables.latex import escape


class LatexFloats:
    """Floats for LaTeX. ``tables`` and ``figures`` are the folders of the parts.

    ``place`` turns a path into one that TeX finds from the report's directory.
    """

    def __init__(self, source: Source | None, tables: Path, figures: Path, place) -> None:
        self._source = source
        self._tables = tables
        self._figures = figures
        self._place = place

    def table(self, table: AnyTable, note: str = "") -> Markup:
        body = self._tables / f"{table.name}.tex"
        _there(body, "kvstudy tabulate")
        content = rf"\input{{{self._place(body)}}}"
        return self._float("table", table, content, note, caption_first=True)

    def long_table(self, name: str, caption: str = "") -> Markup:
        """A table over several pages; it brings its own caption."""
        body = self._tables / f"{name}.tex"
        _there(body, "kvstudy " + name)
        return _raw(rf"\input{{{self._place(body)}}}")

    def ref_long(self, name: str) -> Markup:
        """As ``ref``, to a table over several pages."""
        return Markup(rf"{_word('Table')}\ `\ref{{table:{name}}}`{{=latex}}")

    def figure(self, figure: DrawnFigure, note: str = "") -> Markup:
        drawing = self._figures / f"{figure.name}.pdf"
        _there(drawing, "kvstudy draw")
        content = rf"\includegraphics[width=\linewidth]{{{self._place(drawing)}}}"
        return self._float("figure", figure, content, note)

    def transcript(self, figure: Transcript, lines: list[Line], note: str = "") -> Markup:
        listing = "\n".join(_listing_line(line) for line in lines)
        content = f"\\begin{{transcript}}\n{listing}\n\\end{{transcript}}"
        return self._float("figure", figure, content, note)

    def ref(self, item: AnyTable | DrawnFigure | Transcript) -> Markup:
        """``Table 2``, as a link."""
        kind = "table" if isinstance(item, AnyTable) else "figure"
        name = _word("Table" if kind == "table" else "Figure")
        return Markup(rf"{name}\ `\ref{{{kind}:{item.name}}}`{{=latex}}")

    def section(self, label: str) -> Markup:
        """``Section 4``, as a link."""
        return Markup(rf"{_word('Section')}\ `\ref{{{label}}}`{{=latex}}")

    def contents(self) -> Markup:
        # On the next page rather than torn apart, where little of this one is left.
        space = r"\vspace{{0pt plus {0}.5\textheight}}"
        return _raw(f"{space.format('')}\\pagebreak[2]{space.format('-')}\\tableofcontents")

    def page_break(self) -> Markup:
        return _raw(r"\clearpage")

    def barrier(self) -> Markup:
        """Floats before this place do not drift past it."""
        return _raw(r"\FloatBarrier")

    def appendix(self) -> Markup:
        """Sections from here on are appendices."""
        return _raw(r"\appendix")

    def references(self, title: str) -> Markup:
        return _raw(rf"\bibliographyof{{{escape(title)}}}")

    def _float(
        self, kind: str, item, content: str, note: str, *, caption_first: bool = False
    ) -> Markup:
        caption = f"{for_markdown(item.caption)}{self._origin(item.source)}"
        if note:
            caption += f" {note}"
        line = rf"`\caption{{`{{=latex}}{caption}`}}\label{{{kind}:{item.name}}}`{{=latex}}"
        begin, body, end = (
            _raw(rf"\begin{{{kind}}}\centering"),
            _raw(content),
            _raw(rf"\end{{{kind}}}"),
        )
        inner = (line, body) if caption_first else (body, line)
        return Markup("\n\n".join((begin, *inner, end)))

    def _origin(self, number: str) -> str:
        if not number or self._source is None:
            return "."
        where = for_markdown(recorded(number))
        return _(" (as {} of {}).").format(where, f"[@{self._source.key}]")


def _word(of: str) -> str:
    """What stands before the number, inside of a sentence."""
    words = {
        "Table": pgettext("reference", "Table"),
        "Figure": pgettext("reference", "Figure"),
        "Section": pgettext("reference", "Section"),
    }
    return words[of]


def _listing_line(line: Line) -> str:
    # An apostrophe that was typed is straight, not a closing quotation mark.
    text = escape(line.text).replace("'", r"\textquotesingle{}").replace(" ", r"\ ")
    return rf"\transcript{line.kind}{{{text}}}"


def _raw(latex: str) -> Markup:
    return Markup(f"```{{=latex}}\n{latex}\n```")


def _there(path: Path, command: str) -> None:
    if not path.is_file():
        raise KvstudyError(f"{path}: no such file; write it with '{command}'")
