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
_COMMAND = ("commands/options.py", "commands/documents.py")
_STORES = tuple(
    f"stores/{name}.py" for name in ("configuration", "definition", "process", "server")
)
_CELLS = (*_STUDY, *_STORES, "code_files.py", "stats", "logs/ycsb", "analyse/tidy")
_RUN = (*_CELLS, "analyse", "commands/options.py")
_TABLES = (
    *(*_RUN, "layout", "render", "exhibits/table.py", "exhibits/printed.py", "exhibits/tables"),
    *("exhibits/grid_cells.py", "exhibits/grid_strips.py"),
    "exhibits/claim_words.py",
)
_FIGURES = (
    *(*_RUN, "layout", "render", "exhibits/figure.py", "exhibits/bar_chart.py", "exhibits/figures"),
    *("exhibits/table.py", "exhibits/printed.py", "exhibits/texts.py"),
)
_TEXT = (
    *(*_STUDY, "layout", "render", "documents/report/document.py"),
    *("documents/report/transcript.py", *_COMMAND),
)
_REPORT = (
    *(*_TABLES, *_FIGURES, "documents/figures.py", "documents/tables.py", "documents/report"),
    *_COMMAND,
)
CODE: dict[str, tuple[str, ...]] = {
    "parse": (*_CELLS, "commands/analyse.py", "commands/options.py"),
    "look": (*_RUN, "commands/analyse.py"),
    "analyse": (*_RUN, "commands/analyse.py"),
    "audit": (*_RUN, "exhibits/audit_lines.py", "commands/analyse.py"),
    "claims": (*_TABLES, "commands/analyse.py"),
    "provenance": (*_TABLES, *_FIGURES, "share/trace", "commands/analyse.py"),
    "tabulate": (*_TABLES, "documents/tables.py", "commands/documents.py"),
    "draw": (*_FIGURES, "documents/figures.py", "commands/documents.py"),
    "render": _REPORT,
    "published": _REPORT,
    "notebook": (*_FIGURES, *_TEXT, "exhibits/claim_words.py", "documents/report"),
    "build-pdf": (*_STUDY, "documents/report/build.py", *_COMMAND),
    "build-html": (*_TEXT, "documents/report/html.py"),
    "build-docx": _TEXT,
    "export": (*_TABLES, *_FIGURES, "documents/export", "commands/documents.py"),
    "commands": (
        *(*_CELLS, "layout/numbers.py", "documents/export/by_hand.py", *_COMMAND),
        *("stores/container_network.py", "stores/docker_daemon.py"),
    ),
    "workbook": (*_TABLES, "documents/workbook", "commands/documents.py"),
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
