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
_PRESENT = ("commands/options.py", "commands/present.py")
_STORES = tuple(
    f"stores/{name}.py" for name in ("configuration", "definition", "process", "server")
)
_CELLS = (*_STUDY, *_STORES, "code_files.py", "stats", "logs/ycsb", "analyse/tidy")
_RUN = (*_CELLS, "analyse", "commands/options.py")
_PAGE = ("present/templates.py", "present/typeset", "present/drawing/page.py")
_TABLES = (*_RUN, *_PAGE, "present/tables")
_FIGURES = (*_RUN, *_PAGE, "present/drawing", "present/figures")
_TEXT = (
    *(*_STUDY, *_PAGE, "present/report/document.py", "present/report/transcript.py"),
    *("analyse/tidy/numbers.py", *_PRESENT),
)
_CHARTS = ("present/drawing/mount.js", "present/drawing/charts.css")
_REPORT = (*_TABLES, *_FIGURES, "present/report", "commands/present.py")
CODE: dict[str, tuple[str, ...]] = {
    "parse": (*_CELLS, "commands/analyse.py", "commands/options.py"),
    "look": (*_RUN, "commands/analyse.py"),
    "analyse": (*_RUN, "commands/analyse.py"),
    "audit": (*_RUN, "commands/analyse.py"),
    "claims": (*_TABLES, "commands/analyse.py"),
    "provenance": (*_TABLES, *_FIGURES, "share/trace/provenance.py", "commands/analyse.py"),
    "tabulate": (*_TABLES, "commands/present.py"),
    "draw": (*_FIGURES, "commands/present.py"),
    "render": _REPORT,
    "published": _REPORT,
    "notebook": (*_RUN, *_TEXT, "present/drawing", "present/report"),
    "build-pdf": (*_STUDY, "present/report/build.py", *_PRESENT),
    "build-html": (*_TEXT, *_CHARTS, "present/report/html.py"),
    "build-docx": _TEXT,
    "export": (*_TABLES, *_FIGURES, "present/export", "commands/present.py"),
    "commands": (*_CELLS, "present/export/by_hand.py", *_PRESENT),
    "workbook": (*_TABLES, "present/workbook", "commands/present.py"),
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
