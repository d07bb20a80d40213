"""Jinja2 for the templates of tables: strict about names, errors that name the template."""

from __future__ import annotations

from pathlib import Path

import jinja2

from kvstudy.errors import KvstudyError
from kvstudy.language.current import _


def environment(folder: Path, **options: object) -> jinja2.Environment:
    """That of the templates in ``folder``; ``options`` are those of a format."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **options,
    )


def filled(found: jinja2.Environment, template: Path, values: dict[str, object]) -> str:
    """The ``template`` with ``values``, and ``said``: the words of a continued table.

    Raises KvstudyError, naming the template, for one that is missing or wrong and for a
    name that it uses but is not given.
    """
    # What stands above the further pages of a table.
    said = {"table": _("Table"), "continued": _("continued")}
    try:
        return found.get_template(template.name).render(said=said, **values)
    except jinja2.TemplateNotFound as error:
        raise KvstudyError(
            f"{template.parent / error.name}: no such template; restore it or give --templates"
        ) from error
    except jinja2.TemplateSyntaxError as error:
        raise KvstudyError(f"{template}: line {error.lineno}: {error.message}") from error
    except jinja2.UndefinedError as error:
        raise KvstudyError(f"{template}: {error.message}; the table has no such value") from error
