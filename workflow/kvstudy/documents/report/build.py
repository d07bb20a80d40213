"""LaTeX source to PDF, and what TeX's log says of it: what is wrong, what only looks worse."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

from kvstudy.errors import DataError, EnvironmentFault
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

# Points beyond the margin that nobody sees; rounding alone makes fractions of one.
LARGEST_OVERFULL = 1.0

ERROR = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+): (?P<what>.+)$")
OVERFULL = re.compile(
    r"^Overfull \\(?P<box>[hv])box \((?P<points>[\d.]+)pt too \w+\) (?P<where>.+)$"
)
# What the text or its templates have wrong, whatever the data are.
FAULTS = {
    r"Warning: Reference [`'](?P<key>[^']+)'.* undefined": (
        "the reference '{key}' is undefined; no such label"
    ),
    r"Warning: Citation [`'](?P<key>[^']+)'.* undefined": (
        "the citation '{key}' is undefined; add it to references.bib"
    ),
    r"Warning: Hyper reference [`'](?P<key>[^']+)'.* undefined": (
        "the link '{key}' is undefined; no such label"
    ),
    r"LaTeX Warning: Label [`'](?P<key>[^']+)' multiply defined": (
        "the label '{key}' is defined twice; give each table and figure its own name"
    ),
}
# What looks worse than it should, since the data do not fit the page.
REMARKS = {
    r"LaTeX Warning: Float too large for page by (?P<points>[\d.]+)pt (?P<where>.+)$": (
        "a float is {points} pt too high for a page, {where}; shorten it"
    ),
    r"kvstudy Warning: small letters: (?P<label>\S+) (?P<percent>\d+)": (
        "{label}: printed at {percent} % of its size to fit; its CSV file and the workbook have it "
        "too"
    ),
    r"Missing character: There is no (?P<what>.+?) in font (?P<font>[^!]+)!": (
        "the font {font} has no character {what}; replace it"
    ),
}
NO_GLYPH = re.compile(r"kvstudy Warning: no glyph: .*?\(U\+([0-9A-F]+)\)")
FIGURE = re.compile(r"\\fitfigure\{([^{}]+)\}")
FONT_SWITCH = re.compile(r"\\[A-Z0-9]+/\S+ ")


def build_pdf(main: Path, build: Path, output: Path, study: Path | None = None) -> list[str]:
    """Build ``main`` in the folder ``build`` and put the PDF to ``output`` in one step.

    Returns what looks worse than it should: text over the margin, letters without a glyph,
    with the lines of the file ``study`` that have them. ``build`` keeps TeX's auxiliary files,
    so that the next build needs fewer passes. KvstudyError lists what is wrong; ``output`` is
    then left as it was.
    """
    if not main.is_file():
        raise DataError(f"{main}: no such file; write it with 'kvstudy render'")
    for program in PROGRAMS:
        if not shutil.which(program):
            raise EnvironmentFault(f"{program}: no such program; run 'make setup'")
    for part in main.parent.glob("*.tex"):
        for name in FIGURE.findall(part.read_text(encoding="utf-8")):
            if not (path := Path(os.path.normpath(main.parent / name))).is_file():
                raise DataError(f"{path}: no such file; write it with 'kvstudy draw'")
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
    errors = faults(log)
    if done.returncode:
        errors = tex_errors(log) or errors or (done.stderr or done.stdout).strip().splitlines()[-5:]
    if errors:
        shown = [f"  {line}" for line in errors[:SHOWN]]
        if len(errors) > SHOWN:
            shown.append(f"  and {len(errors) - SHOWN} more")
        raise EnvironmentFault(
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
            where.append(f"{study}:{number}" + (f" ({''.join(key)})" if key else ""))
    names = [f"U+{ord(each):04X} {unicodedata.name(each, '')}".strip() for each in characters]
    return [
        f"{_some(where) or main}: the PDF's fonts do not have {_some(names)}; a box is in "
        "place of each. HTML and DOCX show them"
    ]


def _some(texts: list[str]) -> str:
    more = f" and {len(texts) - NAMED} more" if len(texts) > NAMED else ""
    return ", ".join(texts[:NAMED]) + more


def tex_errors(log: str) -> list[str]:
    """The first error with the lines of TeX's source around it, or nothing."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        match = ERROR.match(line)
        if match or line.startswith("! "):
            what = f"{match['file']}:{match['line']}: {match['what']}" if match else line[2:]
            around = [text.strip() for text in lines[number + 1 : number + 12]]
            source = [text for text in around if re.match(r"l\.\d+ ", text)]
            return [what, *source[:3]]
    return []


def faults(log: str) -> list[str]:
    """Return the errors in the last pass."""
    return list(dict.fromkeys(chain(*(_sentences(FAULTS, line) for line in log.splitlines()))))


def remarks(log: str) -> list[str]:
    """Return the warnings on the layout in the last pass."""
    sentences: list[str] = []
    for line, following in pairwise([*log.splitlines(), ""]):
        sentences += _sentences(REMARKS, line)
        if (box := OVERFULL.match(line)) and float(box["points"]) > LARGEST_OVERFULL:
            side = "right margin" if box["box"] == "h" else "bottom of the page"
            # Without TeX's font switches and box marks.
            text = FONT_SWITCH.sub("", following).replace("[]", "").strip()[:100]
            inside = f": '{text}'" if text else ""
            sentences.append(
                f"{box['points']} pt over the {side}, {box['where']}{inside}; shorten it"
            )
    return list(dict.fromkeys(sentences))


def _sentences(about: dict[str, str], line: str) -> Iterator[str]:
    for pattern, sentence in about.items():
        if match := re.search(pattern, line):
            yield sentence.format(
                **{name: text.strip() for name, text in match.groupdict().items()}
            )


def lacking(log: str) -> list[str]:
    """The characters for which a box stands, since no font has them."""
    return list(dict.fromkeys(chr(int(match[1], 16)) for match in NO_GLYPH.finditer(log)))
