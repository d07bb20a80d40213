"""LaTeX source to PDF, refusing a report with errors that only the log tells."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unicodedata
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.present.report.latex_log import faults, lacking, remarks, tex_errors
from kvstudy.whole_file import put

SHOWN = 12
NAMED = 6

# -norc: a latexmkrc of the user's must not change what is built.
COMMAND = [
    *("latexmk", "-norc", "-pdf", "-bibtex", "-silent"),
    *("-no-shell-escape", "-halt-on-error", "-interaction=nonstopmode", "-file-line-error"),
]
# latexmk does not say which program it misses.
PROGRAMS = (COMMAND[0], "pdflatex", "bibtex")
# TeX breaks lines of its log at 79 characters, in the middle of words.
LONG_LINES = {"max_print_line": "10000", "error_line": "254", "half_error_line": "238"}


def build_pdf(main: Path, build: Path, output: Path, study: Path | None = None) -> list[str]:
    """Build ``main`` in the folder ``build`` and put the PDF to ``output`` in one step.

    Returns what looks worse than it should: text over the margin, letters without a glyph,
    with the lines of the file ``study`` that have them. ``build`` keeps TeX's auxiliary files,
    so that the next build needs fewer passes. KvstudyError lists what is wrong; ``output`` is
    then left as it was.
    """
    if not main.is_file():
        raise KvstudyError(f"{main}: no such file; write it with 'kvstudy render'")
    for program in PROGRAMS:
        if not shutil.which(program):
            raise KvstudyError(f"{program}: no such program; run 'make setup'")
    build.mkdir(parents=True, exist_ok=True)
    # TeX reads the parts of the document from the folder that it runs in.
    command = [*COMMAND, f"-outdir={os.path.relpath(build, main.parent)}", main.name]
    done = subprocess.run(
        command,
        cwd=main.parent,
        env=os.environ | LONG_LINES,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
    )

    log_file = build / f"{main.stem}.log"
    log = log_file.read_text(encoding="utf-8", errors="replace") if log_file.is_file() else ""
    found = faults(log)
    if done.returncode:
        found = tex_errors(log) or found or (done.stderr or done.stdout).strip().splitlines()[-5:]
    if found:
        shown = [f"  {line}" for line in found[:SHOWN]]
        if len(found) > SHOWN:
            shown.append(f"  and {len(found) - SHOWN} more")
        raise KvstudyError(
            "\n".join([f"{main}: the PDF was not built:", *shown, f"TeX's log is {log_file}"])
        )
    put((build / f"{main.stem}.pdf").read_bytes(), output)
    return [*_boxes(lacking(log), study, main), *remarks(log)]


def _boxes(characters: list[str], study: Path | None, main: Path) -> list[str]:
    """A sentence that names ``characters`` and the lines of ``study`` that have them."""
    if not characters:
        return []
    where = []
    lines = study.read_text(encoding="utf-8").splitlines() if study else []
    for number, line in enumerate(lines, start=1):
        place = min((line.index(each) for each in characters if each in line), default=0)
        if place:
            key = re.findall(r"(\w+):", line[:place])[-1:]
            where.append(f"{study}:{number}" + f" ({''.join(key)})" * bool(key))
    names = [f"U+{ord(each):04X} {unicodedata.name(each, '')}".strip() for each in characters]
    return [
        f"{_some(where) or main}: the PDF's fonts do not have {_some(names)}; a box stands in "
        "place of each. HTML and DOCX show them"
    ]


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
    return ", ".join(texts[:NAMED]) + more
