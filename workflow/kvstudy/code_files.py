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
    HERE / "present/workbook/write.py": TABLES,
}
# Each has the commands of a stage, which import what they need themselves.
COMMANDS = frozenset((HERE / "commands").glob("[!_]*.py")) - {HERE / "commands/options.py"}
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
    """The modules that ``kvstudy COMMAND`` imports, and the scripts and styles next to them.

    ``others`` are further files with imports. All paths are those from the clone.
    """
    files = _of_command(command).union(CLONE / other for other in others)
    new = files
    while new := frozenset().union(*map(_imported, new - COMMANDS)) - files:
        files |= new
    assets = {file for path in files for file in path.parent.glob("*.[cj]s*")}
    return sorted(str(path.relative_to(CLONE)) for path in files | assets)


@functools.cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _of_command(command: str) -> frozenset[Path]:
    """The module that has the command, and what it imports for it: not for its other commands."""
    for path in COMMANDS:
        text = path.read_text(encoding="utf-8")
        head, *parts = re.split(r"^(?=@click\.command)", text, flags=re.M)
        command_parts = [part for part in parts if part.startswith(f'@click.command("{command}"')]
        if command_parts:
            return _modules(head + command_parts[0]) | {path}
    raise KeyError(command)


@functools.cache
def _imported(path: Path) -> frozenset[Path]:
    """Modules of this package that the file imports, anywhere in it."""
    return _modules(path.read_text(encoding="utf-8")).union(BY_NAME.get(path, ()))


def _modules(text: str) -> frozenset[Path]:
    """Return the modules that a text imports."""
    files = set()
    for name, names in IMPORT.findall(text):
        module = HERE.parent / name.replace(".", "/")
        files |= {module.with_suffix(".py"), module / "__init__.py"}
        files |= {module / f"{part}.py" for part in re.findall(r"\w+", names)}
    return frozenset(file for file in files if file.is_file())
