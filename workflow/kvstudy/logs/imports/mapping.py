"""``import.csv``: which log is which cell. A draft is written, the user completes it."""

import difflib
import math
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from kvstudy.errors import InputError
from kvstudy.study.load import STORES, project_stores
from kvstudy.study.reading import read_lines
from kvstudy.study.workload import WORKLOADS, load_only, load_workload, project_workloads

NAME = "import.csv"
SIZES = ("records", "operations", "threads", "seconds")
# The operations of a run that only its time limits: all that YCSB counts.
UNLIMITED = 2**31 - 1
# Between the questions of a row.
BETWEEN = " | "
_REMEDY = "remove the file to have it written again"


@dataclass
class Row:
    """One log. None and "" stand for what is not known.

    ``store`` and ``workload`` are names in the study: those of a folder or file, or
    such a name with something behind it (riak-strong, a-t8). ``phase`` is load or run.
    A load belongs to the run of the same store, workload, records and repetition, if there is
    one, and has its threads where there are several. ``seconds`` is the limit of a timed run,
    whose ``operations`` may be 0 in the file: any. ``question`` is what the logs do not decide;
    who has answered it empties it. ``line`` is where the row is there.
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
    question: str = ""
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
    """The completed file; InputError names the lines that are wrong or not complete."""
    problems: list[str] = []
    rows: list[Row] = []
    questions: dict[str, list[Row]] = defaultdict(list)
    for line, values in read_lines(path, COLUMNS[:-2], COLUMNS[-2:], _REMEDY):
        try:
            row = _row(line, values)
        except ValueError as error:
            problems.append(f"{path}: line {line}, column {error}")
            continue
        if row.missing:
            problems.append(f"{path}: line {line} ({row.file}): complete {', '.join(row.missing)}")
        else:
            rows.append(row)
        for question in filter(None, row.question.split(BETWEEN)):
            questions[question].append(row)
    for question, of in questions.items():
        problems.append(
            f"{path}: {places(of)}: {question}; correct the row where it is wrong, and empty the "
            "column question"
        )
    problems += _problems(path, rows)
    if problems:
        raise InputError("\n".join([*problems, "then run the command again"]))
    if not rows:
        raise InputError(f"{path}: no rows; {_REMEDY}")
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


def places(rows: list[Row]) -> str:
    """Return ``line 3 (redis/1.log)``, or ``lines 3, 4, 7 (redis/1.log and others)``."""
    (first, *others) = rows
    if not others:
        return f"line {first.line} ({first.file})"
    return f"lines {', '.join(str(row.line) for row in rows)} ({first.file} and others)"


def _problems(path: Path, rows: list[Row]) -> list[str]:
    """Return the problems of complete rows: unknown names, duplicate cells, sizes."""
    problems = [*_unknown_names(path, rows), *_unlike_sizes(path, rows)]
    cells: dict[tuple, Row] = {}
    for row in rows:
        # A load without its run has a problem of its own.
        of = row if is_measured(row) else run_of(row, rows)
        if of is None:
            problems.append(_lonely_load(path, row, rows))
            continue
        cell = (of.store, of.workload, of.repetition, of.sizes, row.phase)
        if (other := cells.setdefault(cell, row)) is not row:
            problems.append(
                f"{path}: {row.file} and {other.file} are the same store, workload, phase and "
                "repetition; give one of them another repetition or workload name"
            )
    return problems


def _unknown_names(path: Path, rows: list[Row]) -> list[str]:
    """Stores and workloads that the project does not have, each once."""
    bases = {
        "store": (project_stores(), f"folder of {STORES}"),
        "workload": (project_workloads(), f"file of {WORKLOADS}, nor is next to the logs"),
    }
    problems = {}
    for row in rows:
        for kind, (names, where) in bases.items():
            name = getattr(row, kind)
            if base_of(name, names) is None and (kind, name) not in problems:
                near = difflib.get_close_matches(name, names, n=1, cutoff=0.7)
                hint = f"; did you mean '{near[0]}'?" if near else ""
                problems[kind, name] = (
                    f"{path}: line {row.line}, column {kind} ({row.file}): '{name}' is no {where}, "
                    f"alone or with -something behind it{hint}; 'kvstudy new {kind} {name}' makes "
                    "one"
                )
    return list(problems.values())


def _unlike_sizes(path: Path, rows: list[Row]) -> list[str]:
    """Workloads whose sizes are no sweep: all combinations of some records, operations, threads."""
    problems = []
    workloads: dict[str, dict[tuple, Row]] = defaultdict(dict)
    for row in rows:
        if is_measured(row):
            workloads[row.workload].setdefault(row.sizes, row)
    for name, by_sizes in workloads.items():
        numbers = [set(column) for column in zip(*by_sizes, strict=True)]
        if len(numbers[3]) > 1 or math.prod(map(len, numbers)) > len(by_sizes):
            first, second, *_ = by_sizes.values()
            problems.append(
                f"{path}: {second.file} and {first.file} are workload '{name}' with different "
                "records, operations, threads or seconds, and not all combinations of them are "
                f"there. Give one another workload name, for example {name}-t{second.threads}"
            )
    return problems


def run_of(load: Row, rows: Iterable[Row]) -> Row | None:
    """Return the run that ``load`` belongs to; None without, or when it can be several."""
    runs = [
        row
        for row in rows
        if row.phase == "run"
        and (row.store, row.workload, row.repetition, row.records)
        == (load.store, load.workload, load.repetition, load.records)
    ]
    runs = [run for run in runs if run.threads == load.threads] or runs
    return runs[0] if len(runs) == 1 else None


def _lonely_load(path: Path, load: Row, rows: list[Row]) -> str:
    runs = [
        row
        for row in rows
        if row.phase == "run"
        and (row.store, row.workload, row.repetition)
        == (load.store, load.workload, load.repetition)
    ]
    what = f"a run of {runs[0].records} records, {runs[0].file}" if runs else "no run"
    if any(run.records == load.records for run in runs):
        what = f"several runs, {runs[0].file} and others; give the load the threads of its run"
    return (
        f"{path}: {load.file} loads {load.records} records; the same store, workload and "
        f"repetition has {what}. Give the load the workload insert, or another repetition"
    )


def check_changes(path: Path, drafts: Iterable[Row], rows: Iterable[Row]) -> None:
    """Raise InputError for a row whose size or phase contradicts its log, unless it was asked."""
    by_file = {row.file: row for row in drafts}
    for row in rows:
        if (draft := by_file.get(row.file)) is None:
            continue
        names = ("phase", "records", *(("operations", "threads") if row.phase == "run" else ()))
        for name in names:
            log, value = getattr(draft, name), getattr(row, name)
            if log and log != value and not draft.question:
                raise InputError(
                    f"{path}: line {row.line} ({row.file}): {name} is {value}, but the log says "
                    f"{log}; put that back, or take the row out"
                )


def is_measured(row: Row) -> bool:
    """Return whether the row is measured: a run, or a load of a workload without run phase."""
    base = base_of(row.workload, project_workloads())
    loads_only = base is not None and load_only(load_workload(WORKLOADS / base))
    return row.phase == "run" or loads_only


def base_of(name: str, names: Iterable[str]) -> str | None:
    """The folder or file that ``name`` is called after: riak for riak-strong."""
    fitting = [base for base in names if f"{name}-".startswith(f"{base}-")]
    return max(fitting, key=len, default=None)
