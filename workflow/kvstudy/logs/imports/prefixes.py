"""Prefixes that loggers and shells add to the lines of a log: ``ycsb-1  | ``, a time, ``12:``.

A prefix counts where the lines that YCSB itself prints have it. Lines with the prefixes of several
programs, as docker compose mixes them, are taken apart.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from kvstudy.errors import DataError
from kvstudy.logs.imports.rows import RESULT
from kvstudy.logs.imports.workloads import CALL, LAUNCHER

# What begins a line of YCSB.
YCSB = re.compile(
    rf"(?P<result>{RESULT}|[\[\]{{}}, \t]*\"metric\"\s*:\s*\"OVERALL\")"
    r"|(?P<call>Command line: )"
    r"|YCSB Client \d|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3} \d+ sec: \d"
)
# PowerShell's record of an error: the program before the first line, the message once more below.
POWERSHELL = re.compile(r"[^\s|]+ : $")
REPEATED = re.compile(r"CategoryInfo|\($")
_TIMES = (
    r"(?:\w{3},? )?\w{3}\.? +\d{1,2},? (?:\d{4} )?\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\d{4}[-/]\d\d[-/]\d\d[T ,]+\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|[-+]\d\d:?\d\d))?(?!:\d)"
    r"|\d{1,2}[/.]\w{2,3}[/.]\d{2,4}[: ,]+\d\d:\d\d:\d\d(?: [-+]\d{4})?"
    r"|\d{1,2}:\d\d:\d\d(?:[.,]\d+)?(?: [AP]M)?(?!:\d)|(?<![\d.])\d+\.\d{3,}(?![\d.])"
    r"|(?<!\d)1\d{9}(?:\d{3})?(?!\d)"
)
_TIME = re.compile(_TIMES)
# What sets two outputs of one program apart.
_OUTPUTS = re.compile(r"\b(?:stdout|stderr|out|err|INFO|WARN|WARNING|ERROR|DEBUG)\b")
_TIME_MARK, _OUTPUT_MARK, _COUNT_MARK = "\x01", "\x02", "\x03"
_PATTERNS = {
    _TIME_MARK: f"(?:{_TIMES})",
    _OUTPUT_MARK: _OUTPUTS.pattern,
    _COUNT_MARK: r"\d+",
    " ": r"[ \t]*",
}


def is_of_ycsb(line: str) -> bool:
    """Return whether YCSB printed the line, or it calls YCSB."""
    return any(form.search(line) for form in (YCSB, CALL, LAUNCHER))


def program_of_prefix(prefix: str) -> str:
    """Return ``prefix`` without times and names of outputs, which differ between lines."""
    return _OUTPUTS.sub("", _TIME.sub("", prefix)).strip()


@dataclass(frozen=True)
class Stream:
    """The lines of one program without their prefix, of which ``prefix`` is an example."""

    text: str
    prefix: str = ""


@dataclass
class _Line:
    """One line of YCSB's own; ``number`` counts from 0."""

    number: int
    prefix: str
    kind: str


def streams(text: str) -> list[Stream]:
    """Return the output of each program in ``text``; most have one.

    DataError when the lines of one cannot be distinguished from those of another.
    """
    own_lines = list(_own_lines(text))
    if not any(line.prefix for line in own_lines):
        return [Stream(text)]
    keys = _keys([line.prefix for line in own_lines])
    lines_of: dict[str, list[_Line]] = defaultdict(list)
    for key, line in zip(keys, own_lines, strict=True):
        lines_of[key].append(line)
    kinds = {key: Counter(line.kind for line in lines) for key, lines in lines_of.items()}
    real = [key for key in kinds if kinds[key]["run time"] or kinds[key]["call"]]
    real = real or list(kinds)[: 1 if len(kinds) == 1 else 0]
    _check_complete(real, kinds, lines_of)
    prefixes = {key: lines_of[key][0].prefix.strip() for key in real}
    if len(real) < 2 or _halves(real, kinds):
        prefixed = any(line.prefix for key in real for line in lines_of[key])
        return [Stream(_stripped(text, real) if prefixed else text, "".join(prefixes.values()))]
    return [Stream(part, prefixes[key]) for key, part in _apart(text, real).items()]


def _own_lines(text: str) -> Iterator[_Line]:
    """Yield the lines that YCSB prints; DataError where several are joined to one."""
    last, number, end = -1, 0, 0
    for match in YCSB.finditer(text):
        start = text.rfind("\n", 0, match.start()) + 1
        prefix = text[start : match.start()]
        if REPEATED.search(prefix):
            continue
        number, end = number + text.count("\n", end, start), start
        joined = match[0].lstrip('"').startswith(("[", "YCSB Client"))
        if number == last and joined:
            raise DataError(
                f"line {number + 1}: several lines of YCSB are on one; the line ends are "
                "missing. Save its output as plain text, with a result on each line"
            )
        if number == last:
            continue
        last = number
        kind = "call" if match["call"] else "result" if match["result"] else ""
        if kind == "result" and re.search(r"OVERALL\W+RunTime|\"OVERALL\"", match[0]):
            kind = "run time"
        if kind == "call":
            prefix = POWERSHELL.sub("", prefix)
        yield _Line(number, prefix, kind)


def _keys(prefixes: list[str]) -> list[str]:
    """Return what the prefixes have in common: times and numbers of lines are any."""
    marked = [_OUTPUTS.sub(_OUTPUT_MARK, _TIME.sub(_TIME_MARK, prefix)) for prefix in prefixes]
    parts = [re.split(r"(\d+)", re.sub(r"\s+", " ", prefix).strip()) for prefix in marked]
    shapes: dict[tuple[str, ...], list[list[str]]] = defaultdict(list)
    for part in parts:
        shapes[tuple(part[::2])].append(part)
    for members in shapes.values():
        for place in range(1, len(members[0]), 2):
            numbers: dict[tuple[str, ...], list[int]] = defaultdict(list)
            for member in members:
                rest = (*member[:place], *member[place + 1 :])
                numbers[rest].append(int(member[place]))
            rising = [all(a < b for a, b in pairwise(of)) for of in numbers.values()]
            if all(rising) and max(map(len, numbers.values())) > 2:
                for member in members:
                    member[place] = _COUNT_MARK
    return ["".join(part) for part in parts]


def _pattern(key: str) -> re.Pattern:
    body = "".join(_PATTERNS.get(letter) or re.escape(letter) for letter in key)
    return re.compile(rf"[ \t]*{body}(?:[ \t]+|$|(?<=\W)|(?=\W))" if key else r"[ \t]*")


def _check_complete(
    real: list[str], kinds: dict[str, Counter], lines_of: dict[str, list[_Line]]
) -> None:
    """Raise DataError where the results of one run have several prefixes."""
    others = sum(kinds[key]["result"] for key in kinds if not kinds[key]["run time"])
    for key in real:
        if kinds[key]["run time"] and not kinds[key]["result"] and others:
            line = next(line for line in lines_of[key] if line.kind == "run time")
            raise DataError(
                f"line {line.number + 1}: '{line.prefix.strip()[-60:]}' is before YCSB's own "
                "text, and something else before its other lines; leave what YCSB wrote"
            )


def _halves(real: list[str], kinds: dict[str, Counter]) -> bool:
    """Return whether one output of a program has a prefix and the other none."""
    if len(real) != 2:
        return False
    bare = [key for key in real if not key.strip(_TIME_MARK + _OUTPUT_MARK + " []:")]
    results = [key for key in real if kinds[key]["run time"]]
    calls = [key for key in real if kinds[key]["call"]]
    return bool(bare) and len(results) == len(calls) == 1 and results != calls


def _stripped(text: str, keys: list[str]) -> str:
    """Return the lines with their prefix left out; of the others those that may be YCSB's.

    The rest is empty, so that each has its number.
    """
    patterns = [_pattern(key) for key in sorted(keys, key=len, reverse=True)]
    lines = []
    for line in text.splitlines(keepends=True):
        number, rest = _without(line, patterns)
        lines.append(rest if number >= 0 or not line.strip() or is_of_ycsb(line) else "\n")
    return "".join(lines)


def _without(line: str, patterns: list[re.Pattern]) -> tuple[int, str]:
    """Return which pattern the line begins with, and the line without; -1 for none."""
    for number, pattern in enumerate(patterns):
        if match := pattern.match(line):
            return number, line[match.end() :]
    return -1, line


def _apart(text: str, keys: list[str]) -> dict[str, str]:
    """Return the lines of each key, each with its number; those of no key are none's."""
    ordered = sorted(keys, key=len, reverse=True)
    patterns = [_pattern(key) for key in ordered]
    lines: dict[str, list[str]] = {key: [] for key in keys}
    for line in text.splitlines(keepends=True):
        number, rest = _without(line, patterns)
        for key in keys:
            lines[key].append(rest if number >= 0 and ordered[number] == key else "\n")
    return {key: "".join(part) for key, part in lines.items()}
