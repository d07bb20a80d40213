"""What TeX's log says that must not stay in a report."""

from __future__ import annotations

import re

LARGEST_OVERFULL = 1.0
"""Points beyond the margin that nobody sees; rounding alone makes fractions of one."""
CONTEXT = 3

ERROR = re.compile(r"^(?P<file>[^\s:]+):(?P<line>\d+): (?P<what>.+)$")
OVERFULL = re.compile(
    r"^Overfull \\(?P<box>[hv])box \((?P<points>[\d.]+)pt too \w+\) (?P<where>.+)$"
)
TOO_LARGE = re.compile(
    r"^LaTeX Warning: Float too large for page by (?P<points>[\d.]+)pt (?P<where>.+)$"
)
REFERENCE = re.compile(
    r"Warning: (?P<kind>Reference|Citation|Hyper reference) [`'](?P<key>[^']+)'.* undefined"
)
LABEL = re.compile(r"LaTeX Warning: Label [`'](?P<key>[^']+)' multiply defined")
GLYPH = re.compile(r"^Missing character: There is no (?P<what>.+?) in font (?P<font>[^!]+)!")
FONT_SWITCH = re.compile(r"\\[A-Z0-9]+/\S+ ")


def tex_errors(log: str) -> list[str]:
    """The first error with the lines of TeX's source around it, or nothing."""
    lines = log.splitlines()
    for number, line in enumerate(lines):
        found = ERROR.match(line)
        if found or line.startswith("! "):
            what = f"{found['file']}:{found['line']}: {found['what']}" if found else line[2:]
            around = [text.strip() for text in lines[number + 1 : number + 12]]
            source = [text for text in around if re.match(r"l\.\d+ ", text)]
            return [what, *source[:CONTEXT]]
    return []


def problems(log: str) -> list[str]:
    """Everything in the log of the last pass that makes a report unacceptable."""
    found: dict[str, None] = {}
    lines = log.splitlines()
    for number, line in enumerate(lines):
        message = _problem(line, lines[number + 1] if number + 1 < len(lines) else "")
        if message:
            found[message] = None
    return list(found)


def _problem(line: str, following: str) -> str | None:
    if match := OVERFULL.match(line):
        if float(match["points"]) <= LARGEST_OVERFULL:
            return None
        side = "right margin" if match["box"] == "h" else "bottom of the page"
        text = _readable(following)
        inside = f": '{text}'" if text else ""
        return f"{match['points']} pt over the {side}, {match['where']}{inside}; shorten it"
    if match := TOO_LARGE.match(line):
        return f"a float is {match['points']} pt too high for a page, {match['where']}; shorten it"
    if match := REFERENCE.search(line):
        what = {"Citation": "the citation", "Reference": "the reference"}.get(
            match["kind"], "the link"
        )
        remedy = "add it to references.bib" if match["kind"] == "Citation" else "no such label"
        return f"{what} '{match['key']}' is undefined; {remedy}"
    if match := LABEL.search(line):
        return (
            f"the label '{match['key']}' is defined twice; give each table and figure its own name"
        )
    if match := GLYPH.match(line):
        return (
            f"the font {match['font'].strip()} has no character {match['what']}; "
            "replace it, or declare it in report/templates/report.tex.j2"
        )
    return None


def _readable(following: str) -> str:
    """The text of an overfull box without TeX's font switches and box marks."""
    text = FONT_SWITCH.sub("", following.strip())
    if text.startswith("[]") or text.startswith("\\") or not text:
        text = text.lstrip("[]").strip()
    return text.replace("[]", "").strip()[:100]
