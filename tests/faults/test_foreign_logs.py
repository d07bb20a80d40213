"""Folders of other people's logs: each is read right, or asked about, or refused by name."""

from __future__ import annotations

import csv
import re
import shutil
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import pytest
from kvstudy.errors import KvstudyError
from kvstudy.logs.imports.mapping import base_of
from kvstudy.logs.imports.sources import LogBundle, OtherFiles, find_sources
from kvstudy.logs.ycsb.log import YcsbLog, parse
from kvstudy.study.load import project_stores
from kvstudy.study.workload import project_workloads

from tests import project as tested
from tests.foreign_logs import Folder, Run, folder

FOLDERS = 1000
# Each test reads as many, so that several processes share them.
PART = 100
LOGS = Path("logs")
HOME = Path("config/studies/jan")
RESULTS = Path("results/jan")
NUMBERS = ("records", "operations", "threads")
Rows = dict[str, dict[str, str]]


@dataclass
class Judgement:
    """What came of a folder: read, asked or refused; ``wrong`` is what was misread in silence."""

    outcome: str = ""
    wrong: list[str] = field(default_factory=list)
    said: str = ""


def judge(of: Folder) -> Judgement:
    """Import the folder, compare its rows and cells with the truth."""
    for path in (LOGS, HOME, RESULTS):
        shutil.rmtree(path, ignore_errors=True)
    for name, data in of.files.items():
        path = LOGS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    judgement = Judgement()
    try:
        judgement.said = take()
    except KvstudyError as error:
        judgement.said = str(error)
        judgement.outcome = "asked" if (HOME / "import.csv").exists() else "refused"
    try:
        sources, others = find_sources(LOGS)
    except KvstudyError:
        sources, others = [], OtherFiles()
        assert judgement.outcome == "refused"
    runs = {source.name: run for source in sources if (run := run_of(source.log, of.runs))}
    judgement.wrong += dropped(of, sources, others, runs, judgement.said)
    if judgement.outcome == "refused":
        return judgement
    rows = read_rows()
    certain = {name: row for name, row in rows.items() if not is_asked(row, judgement.said)}
    judgement.wrong += misread(certain, runs)
    if judgement.outcome == "asked":
        answer(rows, runs)
        try:
            take()
        except KvstudyError as error:
            judgement.said += f"\n--- answered:\n{error}"
            return judgement
    else:
        whole = len(certain) == len([run for run in of.runs if not run.has_died])
        judgement.outcome = "read" if whole and ", 0 failed" in judgement.said else "failed"
    judgement.wrong += wrong_values(of.runs)
    return judgement


def take() -> str:
    return tested.kvstudy("import", LOGS, "--study", "jan").output


def read_rows() -> Rows:
    with (HOME / "import.csv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def is_asked(row: dict[str, str], said: str) -> bool:
    """Return whether a person has to look at the row."""
    return bool(row["question"]) or re.search(rf"line \d+[^\n]*\({re.escape(row['file'])}\)", said)


def run_of(log: YcsbLog | None, runs: list[Run]) -> Run | None:
    """Return the run that printed these results, if all of its values are there."""
    for run in runs if log else ():
        result = {
            name: (section.operations, section.latencies.get("latency_mean"))
            for name, section in log.sections.items()
        }
        if (log.runtime, log.throughput, result) == (run.runtime, run.throughput, run.sections):
            return run
    return None


def dropped(
    of: Folder, sources: list[LogBundle], others: OtherFiles, runs: dict[str, Run], said: str
) -> list[str]:
    """Runs that are in no row, and whose files nothing is said of."""
    named = {name.split("#")[0] for name in others.refused}
    named |= {source.name.split("#")[0] for source in sources if source.log is None}
    named |= {name for name in others.ignored if "standard error" in others.ignored[name]}
    result = {run.number for run in runs.values()}
    lost = [run for run in of.runs if run.number not in result and not run.has_died]
    return [
        f"{', '.join(of.places[run.number])}: run {run.number} is dropped without a word"
        for run in lost
        if not of.places[run.number] & named
        and not any(name in said for name in of.places[run.number])
    ]


def misread(rows: Rows, runs: dict[str, Run]) -> list[str]:
    """What rows that nobody has to look at say wrong."""
    wrong = []
    cells: dict[tuple, list[tuple[str, Run]]] = defaultdict(list)
    stores, workloads = project_stores(), project_workloads()
    seen = Counter(run.number for name in rows if (run := runs.get(name)))
    for name, row in rows.items():
        if (run := runs.get(name)) is None:
            continue
        values = {"phase": run.phase, "records": run.records, "threads": run.threads}
        values |= {"operations": run.operations} if run.phase == "run" else {}
        for key, value in values.items():
            if row[key] != str(value):
                wrong.append(f"{name}: {key} is {row[key]}, the truth is {value}")
        if seen[run.number] > 1:
            wrong.append(f"{name}: run {run.number} is there twice")
        if base_of(row["store"], {*stores, run.store}) != (
            run.system if run.system in stores else run.store
        ):
            wrong.append(f"{name}: store is {row['store']}, the truth is {run.store} {run.system}")
        base = base_of(row["workload"], workloads)
        if base != run.workload and not (run.phase == "load" and base == "insert"):
            wrong.append(f"{name}: workload is {row['workload']}, the truth is {run.workload}")
        if run.mix and not run.properties:
            wrong.append(f"{name}: is taken for workload {row['workload']} as YCSB has it")
        if run.client:
            wrong.append(f"{name}: is a client of several, and taken for a run alone")
        keys = ("store", "workload", "phase", *NUMBERS)
        cells[tuple(row[key] for key in keys)].append((name, run))
    of_truth = defaultdict(set)
    for cell, members in cells.items():
        for _, run in members:
            # Loads are of the workload of their run.
            of_truth[run.cell, cell[1] if run.phase == "load" else ""].add(cell)
        for (name, run), (other, second) in combinations(members, 2):
            if run.cell != second.cell:
                wrong.append(f"{name} and {other} are taken for repetitions of one cell")
            numbers = [int(rows[one]["repetition"]) for one in (name, other)]
            if (numbers[0] < numbers[1]) != (run.repetition < second.repetition):
                wrong.append(f"{name} and {other} are repetitions {numbers}, the other way round")
    for (truth, _), several in of_truth.items():
        if len(several) > 1:
            wrong.append(f"repetitions of {truth} are split: {sorted(several)}")
    for name, row in rows.items():
        run = runs.get(name)
        if run is None or run.phase == "run":
            continue
        for other, second in rows.items():
            same = ("store", "workload", "repetition", "records", "threads")
            is_of_it = second["phase"] == "run" and all(second[key] == row[key] for key in same)
            if is_of_it and other in runs and runs[other].load != run.number:
                wrong.append(f"{name} is taken for the load of {other}")
    return wrong


def answer(rows: Rows, runs: dict[str, Run]) -> None:
    """Correct import.csv as somebody does who knows the truth."""
    stores = project_stores()
    answered: list[dict[str, str]] = []
    seen: set[int] = set()
    for name, row in rows.items():
        run = runs.get(name)
        if run is None or run.number in seen or run.client:
            continue
        seen.add(run.number)
        if base_of(row["store"], stores) != run.store and run.system not in stores:
            row["store"] = run.store
        if not row["workload"]:
            row["workload"] = run.workload if run.phase == "run" else "insert"
        values = {"phase": run.phase, "records": run.records, "threads": run.threads}
        values |= {"operations": run.operations} if run.phase == "run" else {"operations": ""}
        row |= {key: str(value) for key, value in values.items()}
        answered.append(row | {"question": "", "repetition": str(run.repetition or 1)})
    with (HOME / "import.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, next(iter(rows.values())))
        writer.writeheader()
        writer.writerows(answered)


def wrong_values(runs: list[Run]) -> list[str]:
    """Cells that were imported with other results than those of any run."""
    wrong = []
    for path in (RESULTS / "raw").glob("*/*/*/rep*/*.out"):
        log = parse(path.read_text(encoding="utf-8-sig"), path.name)
        if run_of(log, runs) is None:
            wrong.append(f"{path}: has the results of no run")
    return wrong


@pytest.mark.parametrize("part", range(FOLDERS // PART))
def test_no_log_is_misread_in_silence(project, pytestconfig, record_property, part):
    count = max(5, int(PART * pytestconfig.getoption("--inputs")))
    first = int(pytestconfig.getoption("--hypothesis-seed") or 0) * 10**6 + part * PART
    outcomes, problems = Counter(), []
    for seed in range(first, first + count):
        of = folder(seed)
        judgement = judge(of)
        outcomes[judgement.outcome] += 1
        if of.is_plain and judgement.outcome != "read":
            judgement.wrong.append(f"a plain folder is {judgement.outcome}:\n{judgement.said}")
        if judgement.wrong:
            problems.append(
                "\n".join([f"folder({seed}): {', '.join(of.traits)}", *judgement.wrong])
            )
    record_property("parser", "folders of others' logs")
    record_property("inputs", count)
    record_property("unexpected", len(problems))
    print(dict(outcomes))
    assert not problems, "\n\n".join(problems)
