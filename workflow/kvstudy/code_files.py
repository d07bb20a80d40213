"""The files of this package that each step of the workflow uses: an edit makes its results again.

``tests/workflow/test_rules.py`` checks that none is missing.
"""

import functools
import hashlib
import os
from pathlib import Path

from kvstudy.whole_file import put

HERE = Path(__file__).parent
CLONE = HERE.parents[1]
STAMPS = Path(".snakemake/code")

# Files and folders, by what they are for.
_STUDY = ("errors.py", "libraries.py", "whole_file.py", "language", "study")
_CELLS = (*_STUDY, "code_files.py", "stats", "stores", "logs/ycsb", "analyse/tidy")
_RUN = (*_CELLS, "analyse")
_TABLES = (*_RUN, "present/templates.py", "present/typeset", "present/tables", "present/claims.py")
_FIGURES = (*_RUN, "present/typeset", "present/drawing", "present/figures")
_BUILT = (*_STUDY, "stats", "stores", "commands/options.py", "commands/present.py")
_REPORT = (*_TABLES, *_FIGURES, "present/report", "commands/options.py", "commands/present.py")
CODE: dict[str, tuple[str, ...]] = {
    "parse": (*_CELLS, "commands/analyse.py"),
    "look": (*_RUN, "commands/analyse.py"),
    "analyse": (*_RUN, "commands/analyse.py"),
    "audit": (*_RUN, "commands/analyse.py"),
    "claims": (*_TABLES, "commands/options.py", "commands/analyse.py"),
    "provenance": (*_TABLES, *_FIGURES, "share/trace", "commands/analyse.py"),
    "tabulate": (*_TABLES, "commands/options.py", "commands/present.py"),
    "draw": (*_FIGURES, "commands/options.py", "commands/present.py"),
    "render": _REPORT,
    "published": _REPORT,
    "notebook": _REPORT,
    "build-pdf": (*_BUILT, "present/report/build.py"),
    "build-html": _REPORT,
    "build-docx": _REPORT,
    "export": (*_REPORT, "present/export"),
    "commands": (*_RUN, "present/export", "commands/options.py", "commands/present.py"),
    "workbook": (*_TABLES, "present/workbook", "commands/options.py", "commands/present.py"),
}


def code_of(command: str) -> str:
    """A file that is as new as the newest of ``code_files``, and new when one of them changed.

    Snakemake takes the checksum of each input for each output: of the modules themselves that
    would be some ten thousand.
    """
    files = code_files(command)
    content = "".join(f"{_digest(file)}  {file}\n" for file in files).encode()
    stamp = STAMPS / command
    fresh = not stamp.exists()
    if fresh or stamp.read_bytes() != content:
        put(content, stamp)
    if fresh:
        newest = max((CLONE / file).stat().st_mtime for file in files)
        os.utime(stamp, (newest, newest))
    return str(stamp)


def code_files(command: str) -> list[str]:
    """The modules of the command, with scripts and styles next to them, as paths from the clone."""
    files = {file for name in CODE[command] for file in _files(HERE / name)}
    return sorted(str(path.relative_to(CLONE)) for path in files)


@functools.cache
def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else [*path.rglob("*.py"), *path.rglob("*.[cj]s*")]


@functools.cache
def _digest(file: str) -> str:
    return hashlib.sha256((CLONE / file).read_bytes()).hexdigest()
