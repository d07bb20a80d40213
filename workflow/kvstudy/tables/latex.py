"""Filling LaTeX templates: strings are escaped unless they are LaTeX already."""

from __future__ import annotations

from pathlib import Path

import jinja2

from kvstudy.errors import KvstudyError

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
}


class Latex(str):
    """Text that is LaTeX already."""

    __slots__ = ()


def escape(text: str) -> Latex:
    """``text`` so that LaTeX prints it as it is; Latex passes unchanged."""
    if isinstance(text, Latex):
        return text
    return Latex("".join(SPECIAL.get(character, character) for character in text))


def grey(text: str) -> Latex:
    """``text`` in the grey of what does not count."""
    return Latex(rf"\textcolor{{black!55}}{{{escape(text)}}}")


def fill(template: Path, **values: object) -> str:
    """The filled ``template``: ``<< value >>``, ``<% block %>``, ``<# comment #>``.

    Every value is escaped. Raises KvstudyError, naming the template, for a
    template that is missing or wrong and for a name that it uses but is not given.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(template.parent),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        variable_start_string="<<",
        variable_end_string=">>",
        block_start_string="<%",
        block_end_string="%>",
        comment_start_string="<#",
        comment_end_string="#>",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    try:
        return environment.get_template(template.name).render(values)
    except jinja2.TemplateNotFound as error:
        raise KvstudyError(
            f"{template}: no such template; restore it or give --templates"
        ) from error
    except jinja2.TemplateSyntaxError as error:
        raise KvstudyError(f"{template}: line {error.lineno}: {error.message}") from error
    except jinja2.UndefinedError as error:
        raise KvstudyError(f"{template}: {error.message}; the table has no such value") from error


def _finalize(value: object) -> str:
    if isinstance(value, str):
        return escape(value)
    if isinstance(value, int):
        return str(value)
    # StrictUndefined raises here, with the name that is undefined.
    return escape(str(value))
