"""The Jinja2 environment of the text, strict about names and about escaping."""

from __future__ import annotations

import traceback
from pathlib import Path

import jinja2

from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.errors import KvstudyError
from kvstudy.present.report.escape import Markup, for_markdown


def text_environment(folder: Path) -> jinja2.Environment:
    """Templates of the text. Strings are escaped, whole numbers grouped.

    A bare float is an error: how many digits it deserves is for the text to say.
    """
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        finalize=_finalize_markdown,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )


def fill(environment: jinja2.Environment, name: str, context: dict[str, object]) -> str:
    """The template ``name`` filled in; KvstudyError names file and line of what fails."""
    try:
        return environment.get_template(name).render(context)
    except jinja2.TemplateSyntaxError as error:
        place = f"{error.filename or error.name}:{error.lineno}"
        raise KvstudyError(f"{place}: {error.message}; mend the template") from None
    except jinja2.TemplateNotFound as error:
        folders = ", ".join(str(path) for path in environment.loader.searchpath)
        raise KvstudyError(f"{folders}/{error.name}: no such template; restore it") from None
    except (jinja2.UndefinedError, TypeError, ValueError, LookupError) as error:
        place = _place(error)
        if place is None:
            raise
        raise KvstudyError(f"{place}: {error}; mend the expression on that line") from error


def _place(error: BaseException) -> str | None:
    """File and line of the innermost template that the error went through."""
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{frame.filename}:{frame.lineno}" for frame in frames if ".j2" in frame.filename]
    return places[-1] if places else None


def _finalize_markdown(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return Markup(grouped(str(value)))
    return for_markdown(_text(value))


def _text(value: object) -> str:
    if isinstance(value, jinja2.Undefined):
        return str(value)  # raises, and names what is undefined
    if not isinstance(value, str):
        kind = type(value).__name__
        raise TypeError(f"{value!r} ({kind}) is not text; use a filter that says how to print it")
    return value
