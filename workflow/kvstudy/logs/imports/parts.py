"""From the bytes of a file to the single runs of YCSB in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from kvstudy.errors import DataError, KvstudyError
from kvstudy.logs.imports.calls import Call, check_call, split_calls
from kvstudy.logs.imports.foreign import numbers_of_ycsb, program_of
from kvstudy.logs.imports.messages import without_json
from kvstudy.logs.imports.prefixes import YCSB, is_of_ycsb, streams
from kvstudy.logs.imports.rows import (
    OF_OPERATIONS,
    ended,
    in_form_of_ycsb,
    with_keys_in_order,
)
from kvstudy.logs.imports.text import decoded, encoding_of, is_mixed, packed, without_controls
from kvstudy.logs.imports.workloads import MARK, find_command

_STATUS = re.compile(r"\d sec: \d+ operations; ")
# Each log of a benchmark has one of these. A server's log of a gigabyte would take long to read.
_WORDS = (
    *("ycsb", "YCSB", "Command line", "OVERALL", "RunTime", "untime", "hroughput", "Latency"),
    *("Operations", "operations", "Return=", "Takes(s)", "TAKES(S)", "records", "ps/sec"),
    *("per second", "Op rate", "====="),
)
# Why most other files are ignored.
NO_LOG = ("no log of YCSB", "no text")
# What is in the lines of a file that cannot be read as it is, and how it can.
_FORMS = {
    re.compile(r"^(.*OVERALL.*RunTime\(ms\).*)\n\1$", re.MULTILINE): (
        "each line is twice; two programs wrote to the file. Leave each once"
    ),
    re.compile(r"\bOVERALL\b.*<(?:/?\w+|br ?/)>.*\n"): (
        "is part of a web page; copy YCSB's output from the browser and save it as plain text"
    ),
}
_FIRST = re.compile(r"\[OVERALL\], (?:Run(?=T)|Throughput.*\n.*\[OVERALL\], RunT)")
_RESULTS = re.compile(r"^\[[\w-]+\], .*", re.MULTILINE)
_RUN_TIMES = re.compile(
    r"(?:^\[OVERALL\],\s*RunTime\(ms\),|\"RunTime\(ms\)\",\s*\"value\"\s*:)\s*([\d.]+)",
    re.MULTILINE,
)
_ANY_RUN_TIMES = re.compile(r"RunTime\(ms\)\W{0,12}(\d+(?:[., \u00a0\u202f\u2019']\d+)*)")
_DAMAGED = (
    "has bytes of value 0 between YCSB's lines: parts of it are in different encodings, or it is "
    "damaged. Save it as UTF-8, or copy it again"
)


@dataclass(frozen=True)
class LogPart:
    """One run in the file ``path`` below the folder.

    ``number`` counts from 1, 0 where the file holds this run only. ``prefix`` is an example of
    what was before each of its lines. ``changes`` say how ``text`` differs from the file's own
    lines, ``problem`` why it cannot be read. ``is_file``: the file's bytes are the text. ``line``
    counts the file's lines above it.
    """

    path: Path
    number: int
    text: str
    prefix: str = ""
    changes: tuple[str, ...] = ()
    problem: str = ""
    is_file: bool = False
    line: int = 0

    @property
    def name(self) -> str:
        """The path below the folder, with ``#2`` for the second run in it."""
        return self.path.as_posix() + (f"#{self.number}" if self.number else "")

    def of_file(self, message: str) -> str:
        """Return the message with the number of a line as it is in the file."""
        place = rf"((?:{re.escape(self.name)}: )?lines? )(\d+)(?: and (\d+))?(?=:)"
        if not (match := re.match(place, message)):
            return message
        numbers = [str(int(number) + self.line) for number in match.groups()[1:] if number]
        return f"{match[1]}{' and '.join(numbers)}{message[match.end() :]}"


@dataclass
class Output:
    """The runs in a file; its ``kind`` is results, errors (the standard error alone) or others.

    ``ignored`` are the file, or calls in it, with why they are no runs; ``unread`` is the first
    line of results that are in none of the runs.
    """

    kind: str = "others"
    parts: list[LogPart] = field(default_factory=list)
    ignored: dict[str, str] = field(default_factory=dict)
    unread: str = ""


def read_parts(path: Path, data: bytes) -> Output:
    """Return the runs in the file ``path``, which holds ``data``.

    DataError with the reason when it holds output of YCSB that cannot be read.
    """
    if remedy := packed(data):
        return Output(ignored={path.as_posix(): remedy})
    if (plain := decoded(data)) is None or "\0" in plain or is_mixed(data):
        if YCSB.search(data.replace(b"\0", b"").decode("utf-8", errors="replace")):
            raise DataError(_DAMAGED)
        return Output(ignored={path.as_posix(): NO_LOG[1]})
    if not any(word in plain for word in _WORDS):
        is_file = encoding_of(data) == "utf-8" and "\ufffd" not in plain
        return Output(
            parts=[LogPart(path, 0, plain, is_file=is_file)], ignored={path.as_posix(): NO_LOG[0]}
        )
    # A terminal's colours can be in a value of JSON, too.
    text = without_controls(without_json(without_controls(plain), is_of_ycsb))
    for form, problem in _FORMS.items():
        if match := form.search(text):
            raise DataError(f"line {text.count(chr(10), 0, match.start()) + 1}: {problem}")
    if (first := _FIRST.search(text)) and "\n" in first[0]:
        raise DataError("its lines are in reverse order, the last one first; sort them by time")
    text = with_keys_in_order(text)
    calls = [
        (stream.prefix, call)
        for stream in streams(text)
        for call in split_calls(with_keys_in_order(stream.text))
    ]
    output = Output(_kind(text, [call for _, call in calls]))
    if output.kind == "others":
        output.ignored[path.as_posix()] = NO_LOG[0]
        calls = [("", Call(text))]
    for number, (prefix, call) in enumerate(calls, start=1):
        part = _part(path, number if len(calls) > 1 else 0, prefix, call)
        if not call.has_output:
            output.ignored[part.name] = "a call of YCSB without its output below"
        elif again := _shown_before(part, output.parts):
            output.ignored[part.name] = f"has results of {again} once more"
        else:
            output.parts.append(part)
    if len(calls) == 1:
        plain_text = (
            data.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
        )
        output.parts[0] = replace(output.parts[0], is_file=output.parts[0].text == plain_text)
    if output.kind == "results":
        output.unread = _unread(text, output.parts)
    return output


def _shown_before(part: LogPart, parts: list[LogPart]) -> str:
    """Return which of ``parts`` has all results of ``part``, which has no call of its own."""
    results = set(_RESULTS.findall(part.text))
    if not results or find_command(part.text):
        return ""
    return next((of.name for of in parts if results <= set(_RESULTS.findall(of.text))), "")


def _unread(text: str, parts: list[LogPart]) -> str:
    """Return the first line of ``text`` with a run time that none of ``parts`` has."""
    if any(part.problem for part in parts):
        return ""
    known = {_digits(time) for part in parts for time in _RUN_TIMES.findall(part.text)}
    for match in _ANY_RUN_TIMES.finditer(text):
        if _digits(match[1]) not in known:
            line = text.count("\n", 0, match.start()) + 1
            return f"line {line}: '{match[0]}' is of a result that is not as YCSB prints it"
    return ""


def _digits(number: str) -> str:
    return re.sub(r"\D", "", re.sub(r"\.0*$", "", number))


def _kind(text: str, calls: list[Call]) -> str:
    """Return which output of YCSB it is; DataError for results that cannot be read."""
    if any(call.has_results for call in calls):
        return "results"
    if program := program_of(text):
        raise DataError(f"is the output of {program}, which is not read with the logs of YCSB")
    if OF_OPERATIONS.search(text):
        raise DataError(
            "has results of YCSB but no [OVERALL], RunTime(ms); lines were filtered out. Give all "
            "that YCSB printed"
        )
    if line := numbers_of_ycsb(text):
        raise DataError(
            f"{line} has numbers of YCSB, but not as it prints them: [OVERALL], RunTime(ms), 1311. "
            "Save YCSB's own output as plain text"
        )
    if any(MARK.search(call.text) or _STATUS.search(call.text) for call in calls):
        return "errors"
    return "others"


def _part(path: Path, number: int, prefix: str, call: Call) -> LogPart:
    text, changes, problem = ended(call.text), [], ""
    part = LogPart(path, number, text, prefix, line=call.line)
    try:
        text, changes = in_form_of_ycsb(text)
        check_call(text)
    except KvstudyError as error:
        problem = part.of_file(str(error))
    if prefix:
        changes.insert(0, f"'{prefix}' before each line is left out")
    if "Return=" in text and not re.search(r"CLEANUP|_GC", text):
        changes.append("has no [CLEANUP]; lines were filtered out, or YCSB is older than 0.2")
    return replace(part, text=text, changes=tuple(changes), problem=problem)
