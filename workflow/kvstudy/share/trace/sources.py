"""The raw files and lines that one value of a cell comes from, and whether they are as measured."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.cell import interval_of, tables_of
from kvstudy.analyse.tidy.resources import files_of
from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import COUNTS, GOOD, SECTION, Entry, number, read_entries
from kvstudy.logs.ycsb.log import metric_of as metric_of_label
from kvstudy.study.metrics import METRICS, metric_of
from kvstudy.study.raw import SUMS, file_digest, read_sums

COMBINED, VERIFY = "READ-MODIFY-WRITE", "VERIFY"
MANIFEST = "manifest.json"
OTHERS = ["machine.csv", "processes.csv", MANIFEST]


@dataclass(frozen=True)
class Line:
    """A line of a log; ``number`` counts from 1. ``sign`` is that of its value in the sum."""

    number: int
    text: str
    sign: int = 1


# An entry of a log, with the sign of its value in a sum.
Signed = tuple[int, Entry]


def lines_of(
    path: Path, operation: str, metric: str, interval: str = "op"
) -> tuple[list[Line], float | None]:
    """The lines of the results ``path`` behind a value, and what they add up to.

    ``operation`` and ``metric`` are those of measurements.csv, ``interval`` the property
    measurement.interval of the run. None where the value is more than a sum. No line where
    another file tells it. KvstudyError for a log that is not YCSB's.
    """
    name, text = str(path), path.read_text(encoding="utf-8", errors="replace")
    signed = _Results(read_entries(text, name), name, interval).signed(operation, metric)
    plain = text.splitlines()
    lines = [Line(entry.line, _text(plain, entry), sign) for sign, entry in signed]
    if not signed or any(sign == 0 for sign, _ in signed):
        return lines, None
    return lines, sum(sign * number(entry, name) for sign, entry in signed)


class _Results:
    """The entries of the file ``name``; each is given with the sign of its value in a sum."""

    def __init__(self, entries: list[Entry], name: str, interval: str) -> None:
        self.name, self.interval = name, interval
        self.overall = [entry for entry in entries if entry.section == "OVERALL"]
        places = ((SECTION.match(entry.section), entry) for entry in entries)
        self.sections: list[tuple[re.Match, Entry]] = [each for each in places if each[0]]

    def signed(self, operation: str, metric: str) -> list[Signed]:
        """Those behind a value; the sign is 0 where it is more than a sum."""
        section = operation.upper()
        if operation != "overall":
            if metric == "failed":
                return self._failed(section)
            if metric != "operations":
                return self._latency(section, metric)
            verified = self._failed(VERIFY) if section == VERIFY else []
            return self._counts(section) + [(-1, each) for _, each in verified]
        if metric in ("runtime", "throughput"):
            return [(1, each) for each in self.overall if each.label in METRICS[metric].labels]
        operations = dict.fromkeys(place["operation"] for place, _ in self.sections)
        if metric == "failed":
            return [each for one in operations for each in self._failed(one)]
        if metric == "operations":
            # A read-modify-write is among the reads and the updates too, and counts once.
            return [
                (-1 if one == COMBINED else 1, entry)
                for one in operations
                if one != VERIFY
                for _, entry in [*self._counts(one), *self._failed(one)]
            ]
        if metric in ("goodput", "in_call"):
            both = self.signed(operation, "runtime") + self.signed(operation, "operations")
            return [(0, entry) for _, entry in both]
        return []

    def _of(self, operation: str, failed: bool, intended: bool = False) -> list[Entry]:
        return [
            entry
            for place, entry in self.sections
            if place["operation"] == operation
            and (bool(place["failed"]), bool(place["intended"])) == (failed, intended)
        ]

    def _all_counts(self, operation: str, failed: bool) -> list[Signed]:
        return [(1, each) for each in self._of(operation, failed) if each.label in COUNTS]

    def _counts(self, operation: str) -> list[Signed]:
        # Histogram types beside each other tell it twice; the last one is taken.
        return self._all_counts(operation, failed=False)[-1:]

    def _failed(self, operation: str) -> list[Signed]:
        """By the failures' own sections or by the return codes, whichever tells of more."""
        codes = [
            (1, entry)
            for place, entry in self.sections
            if place["operation"] == operation
            and entry.label.startswith("Return=")
            and entry.label.removeprefix("Return=") not in GOOD
        ]
        return max(
            *(self._all_counts(operation, failed=True), codes),
            key=lambda signed: sum(number(entry, self.name) for _, entry in signed),
        )

    def _latency(self, operation: str, metric: str) -> list[Signed]:
        # With "intended" the plain sections hold intended latencies.
        intended = metric.startswith("intended_") and self.interval != "intended"
        wanted = metric.removeprefix("intended_")
        entries = self._of(operation, failed=False, intended=intended)
        return [(1, each) for each in entries if metric_of_label(each.label) == wanted][-1:]


def _text(lines: list[str], entry: Entry) -> str:
    """The line as it stands; what it says where JSON puts it on several lines, or all on one."""
    line = lines[entry.line - 1].strip()
    whole = entry.label in line and entry.value in line and len(line) < 200
    return line if whole else f"[{entry.section}], {entry.label}, {entry.value}"


@dataclass(frozen=True)
class Source:
    """A raw file with its sha256, and the lines of it; ``problem`` says what is wrong, or ""."""

    path: str
    sha256: str
    problem: str
    lines: list[Line]


class RawCell:
    """The raw logs of the cell ``path``; KvstudyError when the study does not plan it any more."""

    def __init__(self, run: Run, path: str) -> None:
        if path not in run.planned:
            raise KvstudyError(
                f"{run.folder}/cells.csv: {path} is no cell of the study now; parse the raw logs "
                "again"
            )
        self._run, self._cell, self.folder = run, run.planned[path], run.raw / path
        try:
            self._sums = read_sums(self.folder)
        except KvstudyError:
            # The files are not here.
            self._sums = {}

    @cached_property
    def _manifest(self) -> dict:
        return json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))

    @cached_property
    def _parsed(self) -> dict[tuple[str, str, str], float]:
        """The values of measurements.csv, read from the raw logs now."""
        found = tables_of(self._run.study, self._cell, self.folder, self._manifest)
        values = found.tables["measurements"].set_index(["phase", "operation", "metric"])["value"]
        return values.astype(float).to_dict()

    def value_now(self, phase: str, operation: str, metric: str) -> float | None:
        """The value as the raw logs tell it; None without them. KvstudyError for broken ones."""
        return self._parsed.get((phase, operation, metric)) if self._sums else None

    def sources(self, phase: str, operation: str, metric: str) -> list[Source]:
        """The files that tell the value, with their lines where it stands in them."""
        from_results = operation != "overall" or not metric_of(metric).files
        names = ["{}.out"] if from_results else metric_of(metric).files
        sources = self._sources([name.format(phase) for name in names], operation, metric)
        if from_results and not sources[0].problem and not sources[0].lines:
            # What was sampled beside the client.
            sources = self._sources(OTHERS, operation, metric)
        return [source for source in sources if source.sha256 or source.problem]

    def _sources(self, names: list[str], operation: str, metric: str) -> list[Source]:
        """Of these files, also of those that each host of server or clients has."""
        of_hosts = (path.name for name in names for path in files_of(self.folder, name).values())
        names = dict.fromkeys([*names, *of_hosts])
        return [self._source(name, operation, metric) for name in names]

    def _source(self, name: str, operation: str, metric: str) -> Source:
        path = self.folder / name
        try:
            digest = file_digest(path)
        except OSError:
            # A cell has not every file.
            problem = "is not here" if name in self._sums or not self._sums else ""
            return Source(str(path), "", problem, [])
        if digest != self._sums.get(name):
            problem = f"differs from its checksum in {SUMS}: it was edited or cut off"
            return Source(str(path), digest, problem, [])
        lines: list[Line] = []
        if path.suffix == ".out":
            interval = interval_of(self._manifest, self._cell, path.stem)
            lines, _ = lines_of(path, operation, metric, interval)
        return Source(str(path), digest, "", lines)
