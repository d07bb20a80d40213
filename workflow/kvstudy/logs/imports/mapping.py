"""``import.csv``: which log is which cell. A draft is written, the user completes it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.load import STORES, project_stores
from kvstudy.study.naming import did_you_mean
from kvstudy.study.reading import read_lines
from kvstudy.study.workload import WORKLOADS, load_only, load_workload, project_workloads

NAME = "import.csv"
SIZES = ("records", "operations", "threads", "seconds")
# The operations of a run that only its time limits: all that YCSB counts.
UNLIMITED = 2**31 - 1
_REMEDY = "remove the file to have it written again"


@dataclass
class Row:
    """One log. None and "" stand for what is not known.

    ``store`` and ``workload`` are names in the study: those of a folder or file, or
    such a name with something behind it (riak-strong, a-t8). ``phase`` is load or run.
    A load belongs to the run of the same store, workload and repetition, if there is
    one. ``seconds`` is the limit of a timed run, whose ``operations`` may be 0 in the
    file: any. ``line`` is where the row stands there.
    """

    file: str
    store: str = ""
    workload: str = ""
    phase: str = ""
    records: int | None = None
    operations: int | None = None
    threads: int | None = None
    repetition: int | None = None
    seconds: int | None = None
    line: int = 0

    @property
    def sizes(self) -> tuple[int | None, ...]:
        return tuple(getattr(self, name) for name in SIZES)

    @property
    def missing(self) -> list[str]:
        """The columns that must be completed."""
        needed = ["store", "workload", "phase", "records", "threads", "repetition"]
        if self.phase == "run":
            needed.append("operations")
        return [name for name in needed if not getattr(self, name)]


COLUMNS = [field.name for field in fields(Row) if field.name != "line"]


def read_rows(path: Path) -> list[Row]:
    """The completed file; KvstudyError names the lines that are wrong or not complete."""
    problems: list[str] = []
    rows: list[Row] = []
    for line, values in read_lines(path, COLUMNS[:-1], COLUMNS[-1:], _REMEDY):
        try:
            row = _row(line, values)
        except ValueError as error:
            problems.append(f"{path}: line {line}, column {error}")
            continue
        if row.missing:
            problems.append(f"{path}: line {line} ({row.file}): complete {', '.join(row.missing)}")
        else:
            rows.append(row)
    problems += _problems(path, rows)
    if problems:
        raise KvstudyError("\n".join([*problems, "then run the command again"]))
    if not rows:
        raise KvstudyError(f"{path}: no rows; {_REMEDY}")
    return rows


def _row(line: int, texts: dict[str, str]) -> Row:
    numbers: dict[str, int | None] = {}
    for name in (*SIZES, "repetition"):
        text = texts[name]
        if text and not (re.fullmatch(r"\d{1,18}", text) and int(text) <= UNLIMITED):
            raise ValueError(f"{name}: '{text}' is no whole number up to {UNLIMITED}")
        numbers[name] = int(text or 0) or None
    for name in ("store", "workload"):
        if not re.fullmatch("([a-z][a-z0-9-]*)?", texts[name]):
            raise ValueError(
                f"{name}: '{texts[name]}' is no name; use small letters, digits and hyphens"
            )
    if texts["phase"] not in ("", "load", "run"):
        raise ValueError(f"phase: '{texts['phase']}'; give load or run")
    if numbers["seconds"] and texts["operations"]:
        numbers["operations"] = numbers["operations"] or UNLIMITED
    return Row(**{**texts, **numbers}, line=line)


def _problems(path: Path, rows: list[Row]) -> list[str]:
    """What is wrong with rows that are complete: unknown names, the same cell twice, sizes."""
    problems = []
    bases = {
        "store": (project_stores(), f"folder of {STORES}"),
        "workload": (project_workloads(), f"file of {WORKLOADS}, nor lies beside the logs"),
    }
    runs = {(row.store, row.workload, row.repetition): row for row in rows if row.phase == "run"}
    cells: dict[tuple, Row] = {}
    workloads: dict[str, Row] = {}
    for row in rows:
        for kind, (names, where) in bases.items():
            name = getattr(row, kind)
            if base_of(name, names) is None:
                problems.append(
                    f"{path}: line {row.line}, column {kind} ({row.file}): '{name}' is no {where}, "
                    f"alone or with -something behind it{did_you_mean(name, names)}"
                )
        cell = (row.store, row.workload, row.repetition)
        if (other := cells.setdefault((*cell, row.phase), row)) is not row:
            problems.append(
                f"{path}: {row.file} and {other.file} are the same store, workload, phase and "
                "repetition; give one of them another repetition or workload name"
            )
        if is_measured(row):
            first = workloads.setdefault(row.workload, row)
            if first.sizes != row.sizes:
                problems.append(
                    f"{path}: {row.file} and {first.file} are workload '{row.workload}' with "
                    "different records, operations, threads or seconds; such runs do not compare. "
                    f"Give one another workload name, for example {row.workload}-t{row.threads}"
                )
            continue
        run = runs.get(cell)
        if run is None or run.records != row.records:
            what = f"a run of {run.records} records, {run.file}" if run else "no run"
            problems.append(
                f"{path}: {row.file} loads {row.records} records; the same store, workload and "
                f"repetition has {what}. Give the load the workload insert, or another repetition"
            )
    return problems


def is_measured(row: Row) -> bool:
    """Whether the row is no load of a run: its workload may have a load phase only."""
    base = base_of(row.workload, project_workloads())
    loads_only = base is not None and load_only(load_workload(WORKLOADS / base))
    return row.phase == "run" or loads_only


def base_of(name: str, names: Iterable[str]) -> str | None:
    """The folder or file that ``name`` is called after: riak for riak-strong."""
    fitting = [base for base in names if f"{name}-".startswith(f"{base}-")]
    return max(fitting, key=len, default=None)
