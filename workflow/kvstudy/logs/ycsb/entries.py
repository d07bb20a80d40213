"""The entries of a result block, whichever of YCSB's exporters wrote it.

An entry says: section READ, label Operations, value 50187. There is one adapter
per form; a new form is one more adapter.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from kvstudy.errors import KvstudyError


@dataclass(frozen=True)
class Entry:
    """One result as it stands in the log; ``line`` counts from 1."""

    line: int
    section: str
    label: str
    value: str


@dataclass(frozen=True)
class Adapter:
    """``pattern`` finds a form in a text, ``read`` (text, name) takes its entries out."""

    pattern: re.Pattern
    read: Callable[[str, str], list[Entry]]


_TEXT_ENTRY = re.compile(r"^\[([^\]]+)\],\s*([^,]+),\s*(\S+)\s*$")
_JSON_START = re.compile(r'\{\s*"metric"\s*:')
_JSON_ARRAY = re.compile(r"\[\s*" + _JSON_START.pattern)


def read_entries(text: str, name: str) -> list[Entry]:
    """All entries of ``text``, which ``name`` names in messages.

    KvstudyError when no exporter of YCSB wrote it or an entry is torn.
    """
    for adapter in ADAPTERS:
        if adapter.pattern.search(text):
            return adapter.read(text, name)
    raise KvstudyError(
        f"{name}: no [OVERALL] results of YCSB in it; the client ended early, or this is "
        "not a log of YCSB. Look at its standard error; with exportfile, the results are there"
    )


def number(entry: Entry, name: str, kind: type[float] | type[int] = float) -> float:
    """The value of ``entry``; NaN where YCSB divided by 0. KvstudyError when it is no number.

    With ``kind`` int also when it is no count: whole (YCSB before 0.13 has 492.0), and not
    below 0.
    """
    try:
        value = float(entry.value)
        count = value.is_integer() and 0 <= value < 1 << 53
        # Python takes 1_0 for a number.
        if "_" in entry.value or (kind is int and not count):
            raise ValueError
        return kind(value)
    except ValueError:
        raise KvstudyError(
            f"{name}: line {entry.line}: {entry.value!r} is not a number, it should be "
            f"[{entry.section}] {entry.label}; is the log cut off? Measure again"
        ) from None


def _read_text(text: str, name: str) -> list[Entry]:
    """TextMeasurementsExporter: ``[READ], Operations, 50187``, among lines of the drivers."""
    lines = text.splitlines()
    if lines[-1].startswith("[") and not text.endswith("\n"):
        # A number that lost its last digits is a number too.
        raise _torn(name, len(lines), lines[-1])
    entries = []
    for count, line in enumerate(lines, start=1):
        found = _TEXT_ENTRY.match(line)
        if found:
            entries.append(Entry(count, *found.groups()))
    return entries


def _read_json(text: str, name: str) -> list[Entry]:
    """JSONArrayMeasurementsExporter, and JSONMeasurementsExporter, which leaves out the commas."""
    if _JSON_ARRAY.search(text) and not text.rstrip().endswith("]"):
        raise _torn(name, text.rstrip().count("\n") + 1, text.rstrip().splitlines()[-1])
    entries = []
    for start in _JSON_START.finditer(text):
        line = text.count("\n", 0, start.start()) + 1
        try:
            found, _ = json.JSONDecoder().raw_decode(text, start.start())
            values = found["metric"], found["measurement"], str(found["value"])
        except (ValueError, KeyError):
            raise _torn(name, line, text[start.start() :].splitlines()[0]) from None
        entries.append(Entry(line, *values))
    return entries


def _torn(name: str, line: int, text: str) -> KvstudyError:
    return KvstudyError(f"{name}: line {line}: the log is cut off in '{text}'; measure again")


ADAPTERS = (
    Adapter(re.compile(r"^\[OVERALL\],", re.MULTILINE), _read_text),
    Adapter(_JSON_START, _read_json),
)
