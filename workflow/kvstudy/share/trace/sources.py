"""The raw files and lines that one value of a cell comes from, and whether they are as measured."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.cell import interval_of, tables_of
from kvstudy.analyse.tidy.resources import files_of
from kvstudy.errors import DataError, KvstudyError
from kvstudy.logs.ycsb.log import TIMES, Entry, LogSection, YcsbLog, parse
from kvstudy.study.metrics import metric_of
from kvstudy.study.raw import SUMS, file_digest, read_sums

MANIFEST = "manifest.json"
OTHERS = ["machine.csv", "processes.csv", MANIFEST]


@dataclass(frozen=True)
class LogLine:
    """A line of a log; ``number`` counts from 1.

    ``sign`` is that of its number in the sum, 0 where the value is more than a sum.
    """

    number: int
    text: str
    sign: int = 1


def lines_of(path: Path, operation: str, metric: str, interval: str = "op") -> list[LogLine]:
    """The lines of the results ``path`` behind a value; none where another file shows it.

    ``operation`` and ``metric`` are those of measurements.csv, ``interval`` the property
    measurement.interval of the run. DataError for a log that is not YCSB's.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    log, plain = parse(text, str(path), interval), text.splitlines()
    if operation != "overall":
        signed = log.sections.get(operation.upper(), LogSection()).origins.get(metric, [])
    elif metric in ("goodput", "in_call"):
        signed = [(0, entry) for _, entry in log.origins["runtime"] + _operations(log)]
    elif metric == "operations":
        signed = _operations(log)
    elif metric == "failed":
        signed = [pair for section in log.sections.values() for pair in section.origins["failed"]]
    else:
        signed = log.origins.get(metric, [])
    return [LogLine(entry.line, _text(plain, entry), sign) for sign, entry in signed]


def _operations(log: YcsbLog) -> list[tuple[int, Entry]]:
    """The entries behind all operations, with the sign of each."""
    return [
        (TIMES.get(name, 1), entry)
        for name, section in log.sections.items()
        if name != "VERIFY"
        for metric in ("operations", "failed")
        for _, entry in section.origins.get(metric, [])
    ]


def _text(lines: list[str], entry: Entry) -> str:
    """The line as it stands; what it says where JSON puts it on several lines, or all on one."""
    line = lines[entry.line - 1].strip()
    whole = entry.label in line and entry.value in line and len(line) < 200
    return line if whole else f"[{entry.section}], {entry.label}, {entry.value}"


@dataclass(frozen=True)
class RawFile:
    """A raw file with its sha256, and the lines of it; ``problem`` says what is wrong, or ""."""

    path: str
    sha256: str
    problem: str
    lines: list[LogLine]


class RawCell:
    """The raw logs of the cell ``path``; DataError when the study does not plan it any more."""

    def __init__(self, run: Run, path: str) -> None:
        if path not in run.planned:
            raise DataError(
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
        tables = tables_of(self._run.study, self._cell, self.folder, self._manifest)
        return {
            (row["phase"], row["operation"], row["metric"]): float(row["value"])
            for row in tables.rows["measurements"]
        }

    def value_now(self, phase: str, operation: str, metric: str) -> float | None:
        """The value as the raw logs show it; None without them. DataError for broken ones."""
        return self._parsed.get((phase, operation, metric)) if self._sums else None

    def sources(self, phase: str, operation: str, metric: str) -> list[RawFile]:
        """The files that show the value, with their lines where it is in them."""
        files = metric_of(metric).files if operation == "overall" else ()
        names = [name.format(phase) for name in files or ("{}.out",)]
        sources = self._sources(names, operation, metric)
        if not files and not sources[0].problem and not sources[0].lines:
            # What was sampled next to the client.
            sources = self._sources(OTHERS, operation, metric)
        return [source for source in sources if source.sha256 or source.problem]

    def _sources(self, names: list[str], operation: str, metric: str) -> list[RawFile]:
        """Return these files, also those of each host of server or clients."""
        of_hosts = (path.name for name in names for path in files_of(self.folder, name).values())
        names = dict.fromkeys([*names, *of_hosts])
        return [self._source(name, operation, metric) for name in names]

    def _source(self, name: str, operation: str, metric: str) -> RawFile:
        path, digest, problem, lines = self.folder / name, "", "", []
        if path.is_file():
            digest = file_digest(path)
        if not digest:
            # A cell has not every file.
            problem = "is not here" if name in self._sums or not self._sums else ""
        elif digest != self._sums.get(name):
            problem = f"differs from its checksum in {SUMS}: it was edited or cut off"
        elif path.suffix == ".out":
            interval = interval_of(self._manifest, self._cell, path.stem)
            lines = lines_of(path, operation, metric, interval)
        return RawFile(str(path), digest, problem, lines)
