"""The bibliography that a report cites from: read before anything is measured."""

import logging
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from kvstudy.errors import InputError
from kvstudy.study.model import Study
from kvstudy.study.naming import did_you_mean
from kvstudy.study.reading import line_of, read_text
from kvstudy.study.run_names import REPORT

REFERENCES = REPORT / "references.bib"
TEXTS = REPORT / "text"
# A key as pandoc reads it in a text; braces begin an expression of the template.
_CITED = re.compile(r"(?<![\w\\])@(\w(?:[:.#$%&+?<>~/-]?\w)*)")
# How pandoc says where it stopped.
_STOPPED = re.compile(r"\(line (\d+), column \d+\):\s*(.+?)\s*(?:\n|$)")
_BRACES = "write @type{key, name = {value}, ...} with a comma behind each value"


def bibliography_entries(path: Path) -> dict[str, str]:
    """Return the entries of a BibTeX file by their keys, as they are there.

    The abbreviations (``@string``) come first, without a key. KvstudyError names file and line of
    what is none.
    """
    # Takes a tenth of a second, and studies without a source need none.
    import bibtexparser
    from bibtexparser.model import DuplicateBlockKeyBlock, DuplicateFieldKeyBlock

    # It warns of what is refused below.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    library = bibtexparser.parse_string(read_text(path), parse_stack=[])
    for block in library.failed_blocks:
        line = block.start_line + 1
        if isinstance(block, DuplicateBlockKeyBlock):
            problem = f"'{block.key}' appears twice; keep one of them"
        elif isinstance(block, DuplicateFieldKeyBlock):
            twice = ", ".join(sorted(block.duplicate_keys))
            problem = f"'{block.ignore_error_block.key}' has {twice} twice; keep one of them"
        else:
            name = " ".join(block.raw.split())[:60]
            problem = f"'{name}' is no entry of BibTeX; {_BRACES}"
        raise InputError(f"{path}:{line}: {problem}")
    strings = "\n".join(string.raw for string in library.strings)
    entries = {entry.key: entry.raw for entry in library.entries}
    return ({"": strings} if strings else {}) | entries


def missing_entry(key: str, entries: dict[str, str]) -> str:
    """Return what to say of a ``key`` that is not among the ``entries``; "" if it is."""
    if key in entries:
        return ""
    known = [name for name in entries if name]
    return f"{REFERENCES} has no entry '{key}'; add one{did_you_mean(key, known)}"


def check_citations(path: Path, study: Study) -> None:
    """Raise KvstudyError for a bibliography that lacks what the report cites, or cannot be read.

    That is the source of the study in the file ``path``, and what the texts of the report cite.
    """
    cited = list(_cited_in_texts())
    if not (cited or study.source):
        return
    entries = bibliography_entries(REFERENCES)
    if study.source and (problem := missing_entry(study.source.key, entries)):
        line = line_of(path, "source.key")
        raise InputError(f"{path}: source.key: {problem} (line {line})")
    for place, key in cited:
        if problem := missing_entry(key, entries):
            raise InputError(f"{place}: {problem}")
    _check_by_pandoc(REFERENCES)


def _cited_in_texts() -> Iterator[tuple[str, str]]:
    """Yield each key that the texts cite, with the file and line."""
    for path in sorted(TEXTS.glob("*.md.j2")):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            for key in _CITED.findall(line):
                yield f"{path}:{number}", key


def _check_by_pandoc(path: Path) -> None:
    """Raise KvstudyError for what pandoc, which makes the report of it, cannot read."""
    command = ["pandoc", "--from=bibtex", "--to=csljson", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    except FileNotFoundError:
        # Where no report is built, none is needed.
        return
    if done.returncode:
        stopped = _STOPPED.search(done.stderr)
        line, problem = stopped.groups() if stopped else ("1", done.stderr.strip())
        raise InputError(f"{path}:{line}: cannot be read by pandoc: {problem}; {_BRACES}")
