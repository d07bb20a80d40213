"""The files of this package that a command uses: an edited one makes its results again."""

import functools
import hashlib
import os
import re
from pathlib import Path

from kvstudy.whole_file import put

HERE = Path(__file__).parent
CLONE = HERE.parents[1]
# Modules that are imported by their names, by those who use more than their models.
FIGURES, TABLES = (
    frozenset((HERE / "present" / kind).glob("*.py")) for kind in ("figures", "tables")
)
BY_NAME = {
    HERE / "present/drawing/write.py": FIGURES,
    HERE / "present/typeset/table.py": TABLES,
    HERE / "present/report/course.py": TABLES,
    HERE / "share/trace/provenance.py": FIGURES | TABLES,
}
STAMPS = Path(".snakemake/code")
# In a notebook a line begins with a quote.
IMPORT = re.compile(r'^[ "]*from (kvstudy[\w.]*) import (\([^)]*\)|.*)$', re.M)


def code_of(command: str, *others: str) -> str:
    """A file that is as new as the newest of ``code_files``, and new when one of them changed.

    Snakemake takes the checksum of each input for each output: of the modules themselves that
    would be some ten thousand.
    """
    files = code_files(command, *others)
    content = "".join(f"{_digest(CLONE / file)}  {file}\n" for file in files).encode()
    stamp = STAMPS / command
    fresh = not stamp.exists()
    if fresh or stamp.read_bytes() != content:
        put(content, stamp)
    if fresh:
        newest = max((CLONE / file).stat().st_mtime for file in files)
        os.utime(stamp, (newest, newest))
    return str(stamp)


def code_files(command: str, *others: str) -> list[str]:
    """The modules that ``kvstudy COMMAND`` imports, and the scripts and styles beside them.

    ``others`` are further files with imports. All paths are those from the clone.
    """
    used: set[Path] = set()
    left = {
        HERE / "commands" / f"{command.replace('-', '_')}.py",
        *(CLONE / other for other in others),
    }
    while left:
        used |= left
        left = {file for path in left for file in _imported(path)} - used
    beside = {file for path in used for file in path.parent.glob("*.[cj]s*")}
    return sorted(str(path.relative_to(CLONE)) for path in used | beside)


@functools.cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def _imported(path: Path) -> frozenset[Path]:
    """Modules of this package that the file imports, anywhere in it."""
    found = set(BY_NAME.get(path, ()))
    for name, names in IMPORT.findall(path.read_text(encoding="utf-8")):
        module = HERE.parent / name.replace(".", "/")
        found |= {module.with_suffix(".py"), module / "__init__.py"}
        found |= {module / f"{each}.py" for each in re.findall(r"\w+", names)}
    return frozenset(file for file in found if file.is_file())
