"""Tables, figures, transcripts and references to them, as Markdown for pandoc.

Nothing here depends on a format: a float is a Div with its name and its caption, and
the Lua filters in report/templates put the table or the figure there.
"""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.language.current import _, pgettext
from kvstudy.language.reasons import sentence
from kvstudy.present.report.markdown import Markup, for_markdown
from kvstudy.present.report.transcript import Line
from kvstudy.study.kinds import AnyFigure, AnyTable, Part
from kvstudy.study.parts import Source


class Floats:
    """Floats of a report. ``tables`` and ``figures`` are the folders of the parts."""

    def __init__(self, source: Source | None, tables: Path, figures: Path) -> None:
        self._source = source
        self._tables = tables
        self._figures = figures

    def table(self, table: AnyTable, note: str = "") -> Markup:
        _there(self._tables / f"{table.name}.tex", "kvstudy tabulate")
        return _div(f"#table:{table.name} .table", self._caption(table, note))

    def long_table(self, name: str, caption: str) -> Markup:
        """A table over several pages."""
        _there(self._tables / f"{name}.tex", "kvstudy " + name)
        return _div(f"#table:{name} .long .table", for_markdown(caption))

    def ref_long(self, name: str) -> Markup:
        """As ``ref``, to a table over several pages."""
        return _ref("Table", f"table:{name}")

    def figure(self, figure: AnyFigure, note: str = "") -> Markup:
        _there(self._figures / f"{figure.name}.pdf", "kvstudy draw")
        return _div(f"#figure:{figure.name} .figure", self._caption(figure, note))

    def picture(self, figure: AnyFigure) -> Markup:
        """The figure once more, without number and caption."""
        caption = for_markdown(figure.caption)
        return _div(f".picture figure={figure.name}", caption)

    def transcript(self, figure: AnyFigure, lines: list[Line], note: str = "") -> Markup:
        """A listing: each line has its kind before it, for the filters."""
        listing = "\n".join(f"{line.kind}:{line.text}" for line in lines)
        # Longer than any row of tildes in a log.
        fence = "~" * 24
        content = f"{fence}\n{listing}\n{fence}\n\n{self._caption(figure, note)}"
        return _div(f"#figure:{figure.name} .transcript", content)

    def ref(self, item: Part) -> Markup:
        """``Table 2``, as a link."""
        kind = "table" if isinstance(item, AnyTable) else "figure"
        return _ref("Table" if kind == "table" else "Figure", f"{kind}:{item.name}")

    def section(self, label: str) -> Markup:
        """``Section 4``, as a link."""
        return _ref("Section", label)

    def contents(self) -> Markup:
        return _div(".contents")

    def page_break(self) -> Markup:
        return _div(".page-break")

    def barrier(self) -> Markup:
        """Floats before this place do not drift past it."""
        return _div(".barrier")

    def appendix(self) -> Markup:
        """Sections from here on are appendices."""
        return _div(".appendix")

    def references(self, title: str) -> Markup:
        return _div(".references", for_markdown(title))

    def _caption(self, item, note: str) -> Markup:
        caption = f"{for_markdown(item.caption)}{self._origin(item.source)}"
        return Markup(f"{caption} {note}" if note else caption)

    def _origin(self, number: str) -> str:
        if not number or self._source is None:
            return "."
        where = for_markdown(sentence(number))
        return _(" (as {} of {}).").format(where, f"[@{self._source.key}]")


def _word(of: str) -> str:
    """What stands before the number, inside of a sentence."""
    words = {
        "Table": pgettext("reference", "Table"),
        "Figure": pgettext("reference", "Figure"),
        "Section": pgettext("reference", "Section"),
    }
    return words[of]


def _div(attributes: str, content: str = "") -> Markup:
    lines = [f"::: {{{attributes}}}", content, ":::"]
    # Pandoc takes a fence for text where the line before it is no blank one.
    return Markup("\n" + "\n".join(line for line in lines if line) + "\n")


def _ref(word: str, label: str) -> Markup:
    return Markup(f"[{for_markdown(_word(word))}](#{label}){{.ref}}")


def _there(path: Path, command: str) -> None:
    if not path.is_file():
        raise KvstudyError(f"{path}: no such file; write it with '{command}'")
