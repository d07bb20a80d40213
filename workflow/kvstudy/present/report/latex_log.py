"""What TeX's log says of a report: what is wrong, and what only looks worse than it should."""

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
SMALL = re.compile(r"kvstudy Warning: small letters: (?P<label>\S+) (?P<percent>\d+)")
NO_GLYPH = re.compile(r"kvstudy Warning: no glyph: .*?\(U\+([0-9A-F]+)\)")
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


def faults(log: str) -> list[str]:
    """What the text or its templates have wrong, whatever the data are, in the last pass."""
    return list(dict.fromkeys(filter(None, map(_fault, log.splitlines()))))


def _fault(line: str) -> str | None:
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
    return None


def remarks(log: str) -> list[str]:
    """What looks worse than it should, since the data do not fit the page, in the last pass."""
    lines = log.splitlines()
    return list(dict.fromkeys(filter(None, map(_remark, lines, [*lines[1:], ""]))))


def lacking(log: str) -> list[str]:
    """The characters for which a box stands, since no font has them."""
    return list(dict.fromkeys(chr(int(found[1], 16)) for found in NO_GLYPH.finditer(log)))


def _remark(line: str, following: str) -> str | None:
    if match := OVERFULL.match(line):
        if float(match["points"]) <= LARGEST_OVERFULL:
            return None
        side = "right margin" if match["box"] == "h" else "bottom of the page"
        text = _readable(following)
        inside = f": '{text}'" if text else ""
        return f"{match['points']} pt over the {side}, {match['where']}{inside}; shorten it"
    if match := TOO_LARGE.match(line):
        return f"a float is {match['points']} pt too high for a page, {match['where']}; shorten it"
    if match := SMALL.search(line):
        return (
            f"{match['label']}: printed at {match['percent']} % of its size to fit; "
            "its CSV file and the workbook have it too"
        )
    if match := GLYPH.match(line):
        return f"the font {match['font'].strip()} has no character {match['what']}; replace it"
    return None


def _readable(following: str) -> str:
    """The text of an overfull box without TeX's font switches and box marks."""
    text = FONT_SWITCH.sub("", following.strip())
    if text.startswith("[]") or text.startswith("\\") or not text:
        text = text.lstrip("[]").strip()
    return text.replace("[]", "").strip()[:100]
