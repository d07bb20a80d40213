"""The one call of pandoc."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.language.current import _, using

OPTIONS = [
    "--from=markdown-implicit_figures-tex_math_dollars-latex_macros+smart",
    "--wrap=preserve",
    "--no-highlight",
    "--fail-if-warnings",
]


def filters(templates: Path, language: str, *names: str) -> list[Path]:
    """The Lua filters ``names``, before them the one for the typography of ``language``."""
    own = templates / f"{language}.lua"
    return [*([own] if own.is_file() else []), *(templates / name for name in names)]


def words_of(language: str) -> dict[str, str]:
    """What the filters put in themselves.

    Pandoc is not told the language: version 2.17 cannot read its own Czech words.
    """
    with using(language):
        return {"word-table": _("Table"), "word-figure": _("Figure")}


def citations(templates: Path, references: Path) -> list[str]:
    """Options that print references by number, for all formats but LaTeX."""
    return [
        "--citeproc",
        f"--csl={templates / 'numeric.csl'}",
        f"--bibliography={references}",
        "--metadata=link-citations",
    ]


def convert(
    text: str,
    to: Sequence[str],
    name: Path,
    filters: Sequence[Path],
    metadata: Mapping[str, str],
) -> str:
    """The Markdown ``text`` in another format.

    ``to`` are pandoc's options for it, ``filters`` Lua files, ``metadata`` what these ask
    for. ``name`` is for the error message. What pandoc writes to a file is not returned.
    """
    options = [f"--lua-filter={path}" for path in filters]
    options += [f"--metadata={key}={value}" for key, value in metadata.items()]
    command = ["pandoc", *OPTIONS, *options, *to]
    try:
        done = subprocess.run(
            command,
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            # It reads its options in the locale's encoding: in C, an accent was two boxes.
            env=os.environ | {"LC_ALL": "C.UTF-8"},
        )
    except FileNotFoundError:
        raise KvstudyError("pandoc: no such program; run 'make setup'") from None
    if done.returncode:
        raise KvstudyError(
            f"{name}: pandoc refused the text: {done.stderr.strip()}; "
            "mend the text in report/text that it names"
        )
    return done.stdout
