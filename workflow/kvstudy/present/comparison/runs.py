"""Reading a finished run, which may come from another machine, and how its values are written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from pydantic import ValidationError

from kvstudy.analyse.tidy.collect import StoreRecord, StudyRecord, WorkloadRecord
from kvstudy.analyse.tidy.files import CELLS, MEASUREMENTS, read_csv, read_environment
from kvstudy.analyse.tidy.numbers import grouped
from kvstudy.analyse.tidy.summary import per_repetition, throughputs
from kvstudy.errors import KvstudyError
from kvstudy.present.typeset.latex import EQUAL, TIE
from kvstudy.study.naming import did_you_mean


def sizes(parameters: str) -> str:
    """The short name of a cell's parameters in words."""
    found = re.fullmatch(r"r(\d+)_o(\d+)_t(\d+)(?:_s(\d+))?", parameters)
    if not found:
        return parameters
    names = ["records", "operations", "threads", "seconds"]
    return ", ".join(
        f"{grouped(count)} {name if count != '1' else name[:-1]}"
        for name, count in zip(names, found.groups(), strict=True)
        if count not in (None, "0")
    )


def marks(row) -> str:
    """``=`` for equal within the margin, ``~ 12`` for undecided, ``?`` for one run."""
    if row.different == "":
        return "?"
    if row.equal == "yes":
        return EQUAL
    if row.different == "yes":
        return ""
    return TIE if pd.isna(row.would_decide) else f"{TIE} {row.would_decide:.0f}"


RESULTS = Path("results")
FILES = ["cells.csv", "measurements.csv", "environment.json"]
PARSE_AGAIN = "parse its raw logs again with 'kvstudy parse'"


@dataclass(frozen=True)
class RecordedRun:
    """A finished run of which only the results are here, not its study file.

    ``cells`` are those of its study's own stores and workloads; ``speeds`` are the throughputs
    (ops/s) by repetition that count, of each (workload, parameters, store) that has some.
    """

    folder: Path
    study: StudyRecord
    cells: pd.DataFrame
    speeds: dict[tuple[str, str, str], dict[str, float]]
    environment: dict

    @property
    def name(self) -> str:
        return self.folder.resolve().name

    @cached_property
    def stores(self) -> dict[str, StoreRecord]:
        return {store.name: store for store in self.study.stores}

    @cached_property
    def workloads(self) -> dict[str, WorkloadRecord]:
        return {workload.name: workload for workload in self.study.workloads}

    @property
    def counted(self) -> int:
        """How many cells have a value that counts."""
        return sum(map(len, self.speeds.values()))

    def parameters(self, workload: str) -> list[str]:
        """The sets of parameters that were planned for ``workload``, in their order."""
        rows = self.cells[self.cells["workload"] == workload]
        return list(dict.fromkeys(rows["parameters"]))


def find_recorded(name: str) -> Path:
    """The folder of the run called ``name``, or of that path; KvstudyError when there is none."""
    for folder in (RESULTS / name, Path(name)):
        if folder.is_dir():
            break
    else:
        known = sorted(path.parent.name for path in RESULTS.glob(f"*/{FILES[0]}"))
        hint = did_you_mean(name, known) if known else "; there are none below results/"
        raise KvstudyError(f"{name}: no run of that name and no such folder{hint}")
    for file in FILES:
        if not (folder / file).is_file():
            raise KvstudyError(
                f"{folder}: is not a finished run, it has no {file}. Name a folder that "
                "'kvstudy parse' has written, such as results/<study>"
            )
    return folder


def read_recorded(folder: Path) -> RecordedRun:
    """The run in ``folder``.

    KvstudyError for files that are broken, contradict each other or were written by
    another version of kvstudy.
    """
    path = folder / "environment.json"
    environment = read_environment(path, ["study", "machines"])
    try:
        study = StudyRecord.model_validate(environment["study"])
    except ValidationError as error:
        problem = error.errors()[0]
        place = ".".join(map(str, ["study", *problem["loc"]]))
        raise KvstudyError(f"{path}: {place}: {problem['msg']}; {PARSE_AGAIN}") from None
    made_by = f"written by `kvstudy parse`; if another version wrote it, {PARSE_AGAIN}"
    cells = read_csv(
        CELLS.path(folder), CELLS.columns, CELLS.numbers, made_by, ["wall_seconds", "node"]
    )
    measurements = MEASUREMENTS.read(folder)
    try:
        values = per_repetition(measurements, cells, [])
    except KvstudyError as error:
        raise KvstudyError(f"{folder}: {error}") from None
    # Controls that the pipeline adds to a study are not among its stores.
    stores, workloads = ({each.name for each in of} for of in (study.stores, study.workloads))
    cells, values = (
        frame[frame["store"].isin(stores) & frame["workload"].isin(workloads)]
        for frame in (cells, values)
    )
    speeds = {
        place: dict(zip(rows["repetition"], rows["value"], strict=True))
        for place, rows in throughputs(values)
        .query("value > 0")
        .groupby(["workload", "parameters", "store"], sort=False)
    }
    return RecordedRun(folder, study, cells, speeds, environment)


def refuse_same(a: RecordedRun, b: RecordedRun) -> None:
    """KvstudyError when both are one run, or one is a copy of the other."""
    same = a.folder.resolve() == b.folder.resolve()
    copied = a.speeds and a.speeds == b.speeds
    if same or copied:
        what = "is the same folder as" if same else "has the same measured values as"
        raise KvstudyError(
            f"{b.folder}: {what} {a.folder}; a run compared with itself says nothing. "
            "Name another run"
        )
