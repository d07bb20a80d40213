"""The one call of pandoc."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.language.current import current

OPTIONS = [
    "--from=markdown-implicit_figures-tex_math_dollars-latex_macros+smart",
    "--to=latex",
    "--wrap=preserve",
    "--natbib",
    "--no-highlight",
    "--fail-if-warnings",
]


def language_filters(templates: Path) -> list[Path]:
    """The filter for the typography of the language, where it has one."""
    return [path for path in [templates / f"{current()}.lua"] if path.is_file()]


def markdown_to_latex(text: str, name: Path, filter_file: Path) -> str:
    """``text`` as LaTeX without a preamble. ``name`` is for the error message."""
    filters = [*language_filters(filter_file.parent), filter_file]
    command = ["pandoc", *OPTIONS, *(f"--lua-filter={path}" for path in filters)]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8")
    except FileNotFoundError:
        raise KvstudyError("pandoc: no such program; run 'make setup'") from None
    if done.returncode:
        raise KvstudyError(
            f"{name}: pandoc refused the text: {done.stderr.strip()}; "
            "mend the text in report/text that it names"
        )
    return done.stdout
