"""The files that the steps hand to each other, with their columns."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from kvstudy.errors import DataError
from kvstudy.language.reasons import reason
from kvstudy.libraries import np, pd
from kvstudy.study.cells import cell_path


@dataclass(frozen=True)
class CsvTable:
    """A CSV file that one step of the pipeline writes and others read.

    ``step`` is the command that writes ``<name>.csv``. The ``numbers`` among the columns are
    float; older files may lack those that are ``optional``.
    """

    name: str
    columns: list[str]
    numbers: list[str]
    step: str = "parse"
    optional: tuple[str, ...] = ()

    @property
    def made_by(self) -> str:
        return f"written by `kvstudy {self.step}`"

    def path(self, folder: Path) -> Path:
        return folder / f"{self.name}.csv"

    def read(self, folder: Path) -> pd.DataFrame:
        """The table in ``folder``; text columns have "" for nothing, numbers are float with NaN.

        DataError, which shows where the file comes from, when it is missing, is no CSV, lacks
        a column or has a word where a number belongs.
        """
        path = self.path(folder)
        try:
            frame = self._frame(path)
        except FileNotFoundError as error:
            raise DataError(f"{path}: no such file; it is {self.made_by}") from error
        except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: not a CSV file ({error}); it is {self.made_by}") from error
        except ValueError:
            raise DataError(f"{path}: {self._word(path)}; the file is {self.made_by}") from None
        frame = frame.assign(
            **{
                column: math.nan if column in self.numbers else ""
                for column in self.optional
                if column not in frame
            }
        )
        if missing := [column for column in self.columns if column not in frame]:
            problem = f"{path}: no column {', '.join(missing)}; the file is {self.made_by}"
            raise DataError(problem)
        return frame[self.columns]

    def lines(self, rows: Iterable[Mapping[str, object]]) -> str:
        """The rows as lines of the file; None and NaN are nothing, as what a row lacks."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(
            [
                "" if value is None or value != value else value
                for value in map(row.get, self.columns)
            ]
            for row in rows
        )
        return text.getvalue()

    def of_lines(self, lines: Iterable[str]) -> pd.DataFrame:
        """The table of these lines of cells: repetitions are int."""
        text = "".join([",".join(self.columns), "\n", *lines])
        return self._frame(io.StringIO(text)).astype({"repetition": int})

    def _frame(self, source: Path | IO[str]) -> pd.DataFrame:
        types = defaultdict(lambda: str, dict.fromkeys(self.numbers, float))
        nothing = {name: [""] for name in self.numbers}
        return pd.read_csv(
            source, dtype=types, keep_default_na=False, na_values=nothing, encoding="utf-8"
        )

    def _word(self, path: Path) -> str:
        """Return where the first word is in place of a number."""
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8")
        for column in frame.columns.intersection(self.numbers):
            values = pd.to_numeric(frame[column].replace("", None), errors="coerce")
            wrong = frame.index[values.isna() & (frame[column] != "")]
            if len(wrong):
                word = frame.loc[wrong[0], column]
                return f"line {wrong[0] + 2}, column {column}: {word!r} is no number"
        return "has a number that is none"

    def frame(self, rows: Sequence = ()) -> pd.DataFrame:
        """A table of these rows."""
        return pd.DataFrame(rows, columns=self.columns)


# What cells have in common but for their repetition, and what names a cell.
SETTING = ["store", "workload", "parameters"]
CELL = [*SETTING, "repetition"]

# The planned cells of a run and what became of them.
CELLS = CsvTable(
    "cells",
    [
        *(*CELL, "status", "reason", "invalid", "provider", "client", "server_version"),
        *("started", "wall_seconds", "position", "node"),
    ],
    ["wall_seconds"],
    optional=("provider", "client", "server_version", "wall_seconds", "node"),
)
# One value a row.
MEASUREMENTS = CsvTable(
    "measurements", [*CELL, "phase", "operation", "metric", "unit", "value"], ["value"]
)
# Throughput in each second of the cells' measured phases.
SERIES = CsvTable("series", [*CELL, "phase", "second", "throughput"], ["second", "throughput"])
# Latencies (us) of the cells' measured phases and how often each was; see ``tidy.histograms``.
HISTOGRAMS = CsvTable("histograms", [*CELL, "phase", "operation", "latencies", "counts"], [])
# Cores that client, server and machine used second by second.
_USED = ["second", "seconds", "cores_user", "cores_system", "cores_busy"]
RESOURCES = CsvTable("resources", [*CELL, "phase", "side", *_USED], _USED)
# How operations ended (see ``tidy.outcomes``), and the rounds of workloads that have some.
OUTCOMES = CsvTable("outcomes", [*CELL, "kind", "operation", "name", "count"], ["count"])
ROUNDS = CsvTable(
    "rounds",
    [*CELL, "records", "round", "counted", "operation", "operations", "ok", "ns"],
    ["records", "round", "operations", "ok", "ns"],
)
# The parts that each cell gives.
OF_CELLS = (CELLS, MEASUREMENTS, SERIES, HISTOGRAMS, RESOURCES, OUTCOMES, ROUNDS)
PROBES = CsvTable("probes", ["store", "step", "kind", "name", "value", "reason"], ["value"])
# The rates of open-loop cells (see ``tidy.open_loop``).
TARGETS = CsvTable(
    "targets",
    [*CELL, "closed", "load", "target", "trial", "throughput", "note"],
    ["load", "target", "throughput"],
)
# Values over repetitions.
SUMMARY_KEYS = [*SETTING, "operation", "metric", "unit"]
SUMMARY_NUMBERS = ["n", "mean", "geometric", "sd", "cv", "min", "max"]
SUMMARY = CsvTable("summary", SUMMARY_KEYS + SUMMARY_NUMBERS, SUMMARY_NUMBERS, "analyse")


def read_environment(path: Path, keys: Sequence[str] = ()) -> dict:
    """``environment.json``, what was measured on; DataError where it is none with ``keys``."""
    try:
        environment = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path}: cannot be read ({error}); write it with 'kvstudy parse'"
        ) from None
    for key in ("stores", *keys):
        if not isinstance(environment, dict) or key not in environment:
            raise DataError(
                f"{path}: has no key '{key}'; another version wrote it: write it again with "
                "'kvstudy parse'"
            )
    if not isinstance(environment["stores"], dict):
        raise DataError(
            f"{path}: another version wrote its 'stores'; write it again with 'kvstudy parse'"
        )
    return environment


def ycsb_versions(environment: dict) -> list[str]:
    """Versions of YCSB's core on the class paths, as its files are named, and of imported logs."""
    jars = {jar for store in environment["stores"].values() for jar in store.get("jars") or {}}
    cores = (re.fullmatch(r"core-(\d.*)\.jar", jar) for jar in jars)
    imported = environment.get("imported", {}).get("ycsb", [])
    return sorted({*(core[1] for core in cores if core), *imported})


def counting(cells: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``cells.csv`` that are in means."""
    return cells[(cells["status"] == "measured") & (cells["invalid"] == "")]


class CellRow(Protocol):
    """A row of ``cells.csv``; of another table of cells it has the first four columns."""

    store: str
    workload: str
    parameters: str
    repetition: str
    status: str
    reason: str
    invalid: str


def grouped(
    frame: pd.DataFrame, keys: list[str], by: str, columns: list[str]
) -> Iterator[tuple[tuple, dict[str, np.ndarray]]]:
    """Yield the groups of rows with equal ``keys`` as arrays of ``columns``, sorted ``by`` one.

    In the order of their first rows. A frame for each of ten thousand cells would take a hundred
    times as long.
    """
    numbers = frame.groupby(keys, sort=False, observed=True).ngroup()
    order = np.lexsort((frame[by], numbers))
    starts = np.flatnonzero(np.diff(numbers.to_numpy()[order], prepend=-1))
    names = frame.iloc[order[starts]][keys].itertuples(index=False, name=None)
    parts = [np.split(frame[name].to_numpy()[order], starts[1:]) for name in columns]
    for key, *arrays in zip(names, *parts, strict=False):
        yield key, dict(zip(columns, arrays, strict=True))


def path_of(row: CellRow) -> str:
    """The path of the cell in a ``row`` of ``cells.csv``, or of another table of cells."""
    return cell_path(row.store, row.workload, row.parameters, row.repetition)


def why_not(row: CellRow) -> str:
    """Return the code of why the cell in a row of ``cells.csv`` is excluded; "" if it counts."""
    if row.status == "measured":
        return reason("invalid", why=row.invalid) if row.invalid else ""
    return reason(row.status.replace(" ", "-"), why=row.reason) if row.reason else row.status
