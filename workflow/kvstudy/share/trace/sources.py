"""The raw files that one value of a cell comes from, and whether they are as measured."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from kvstudy.analyse.run import Run
from kvstudy.analyse.tidy.rows import interval_of, rows_of
from kvstudy.errors import KvstudyError
from kvstudy.share.trace.log_lines import Line, lines_of
from kvstudy.study.cells import Cell
from kvstudy.study.metrics import metric_of
from kvstudy.study.raw import SUMS, file_digest, read_sums

MANIFEST = "manifest.json"
OTHERS = ["machine.csv", "processes.csv", MANIFEST]


@dataclass(frozen=True)
class Source:
    """A raw file with its sha256, and the lines of it; ``problem`` says what is wrong, or ""."""

    path: str
    sha256: str
    problem: str
    lines: list[Line]


@dataclass(frozen=True)
class RawCell:
    """The raw logs of a cell of ``run``."""

    run: Run
    path: str

    @property
    def folder(self) -> Path:
        return self.run.raw / self.path

    @cached_property
    def sums(self) -> dict[str, str]:
        """The checksums of the cell's files; none where they are not here."""
        try:
            return read_sums(self.folder)
        except KvstudyError:
            return {}

    @cached_property
    def _manifest(self) -> dict:
        return json.loads((self.folder / MANIFEST).read_text(encoding="utf-8"))

    @cached_property
    def _parsed(self) -> list[dict]:
        """The rows of measurements.csv, read from the raw logs now."""
        cell: Cell = self.run.planned[self.path]
        return rows_of(self.run.study, cell, self.folder, self._manifest).measurements

    def value_now(self, phase: str, operation: str, metric: str) -> float | None:
        """The value as the raw logs tell it; None without them. KvstudyError for broken ones."""
        if not self.sums:
            return None
        key = (phase, operation, metric)
        for row in self._parsed:
            if (row["phase"], row["operation"], row["metric"]) == key:
                return float(row["value"])
        return None

    def sources(self, phase: str, operation: str, metric: str) -> list[Source]:
        """The files that tell the value, with their lines where it stands in them."""
        from_results = operation != "overall" or not metric_of(metric).files
        names = ["{}.out"] if from_results else metric_of(metric).files
        sources = [self._source(name.format(phase), operation, metric) for name in names]
        if from_results and not sources[0].problem and not sources[0].lines:
            # What was sampled beside the client.
            sources = [self._source(name, operation, metric) for name in OTHERS]
        return [source for source in sources if source.sha256 or source.problem]

    def origins(self) -> list[dict]:
        """Of imported logs: where each file is from."""
        if not self.sums:
            return []
        return self._manifest.get("imported", {}).get("from", [])

    def _source(self, name: str, operation: str, metric: str) -> Source:
        path = self.folder / name
        digest = _sha256(path)
        if not digest:
            # A cell has not every file.
            problem = "is not here" if name in self.sums or not self.sums else ""
            return Source(str(path), "", problem, [])
        problem = ""
        if digest != self.sums.get(name):
            problem = f"differs from its checksum in {SUMS}: it was edited or cut off"
        lines: list[Line] = []
        if name.endswith(".out") and not problem:
            phase = name.removesuffix(".out")
            interval = interval_of(self._manifest, self.run.planned[self.path], phase)
            lookup = "throughput" if metric == "second_throughput" else metric
            lines, _ = lines_of(path, operation, lookup, interval)
        return Source(str(path), digest, problem, lines)


def raw_cell(run: Run, path: str) -> RawCell:
    """The cell called ``path``; KvstudyError when the study does not plan it any more."""
    if path not in run.planned:
        raise KvstudyError(
            f"{run.folder}/cells.csv: {path} is no cell of the study now; parse the raw logs again"
        )
    return RawCell(run, path)


def _sha256(path: Path) -> str:
    try:
        return file_digest(path)
    except OSError:
        return ""
