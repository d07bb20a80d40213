"""The Jinja2 environments of all that is written by templates: strict, and compiled once."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from kvstudy.errors import InputError
from kvstudy.libraries import jinja2


@cache
def _environment(folder: Path, **options: Any) -> jinja2.Environment:
    """One for the whole process, with all templates that it has compiled.

    A template that was edited is compiled again.
    """
    layout = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), undefined=jinja2.StrictUndefined, **layout | options
    )


def fill(
    template: Path,
    values: dict[str, Any],
    filters: Mapping[str, Callable] | None = None,
    **options: Any,
) -> str:
    """The ``template`` filled in; InputError names file and line of what fails.

    ``filters`` and ``options`` (of Jinja2) are those of a format.
    """
    environment = _environment(template.parent, **options)
    environment.filters |= filters or {}
    try:
        return environment.get_template(template.name).render(values)
    except jinja2.TemplateSyntaxError as error:
        line = f"{error.filename or error.name}:{error.lineno}"
        raise InputError(f"{line}: {error.message}; mend the template") from None
    except jinja2.TemplateNotFound as error:
        raise InputError(f"{template.parent / error.name}: no such template; restore it") from None
    except (jinja2.UndefinedError, TypeError, ValueError, LookupError) as error:
        frames = traceback.extract_tb(error.__traceback__)
        inner = [f"{frame.filename}:{frame.lineno}" for frame in frames if ".j2" in frame.filename]
        if not inner:
            raise
        raise InputError(f"{inner[-1]}: {error}; mend the expression on that line") from error
