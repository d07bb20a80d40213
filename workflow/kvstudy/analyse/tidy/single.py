"""One cell outside any study, for `kvstudy run`, and what is kept of it beside its raw logs."""

from __future__ import annotations

import csv
import os
from itertools import count
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import YcsbLog
from kvstudy.study.cells import Cell, plan
from kvstudy.study.model import Study
from kvstudy.study.parts import Parameters, StoreUse, WorkloadUse
from kvstudy.study.raw import raw_directory

# Where the results of such cells lie, below results/.
RUN = "single-cells"
LATENCIES = ("mean", "min", "p95", "p99", "max")
COLUMNS = [
    *("store", "workload", "records", "threads", "repetition", "operation", "operations"),
    *("failed", "throughput", "runtime", *(f"latency_{part}" for part in LATENCIES)),
]


def save(run: str, cell: Cell, log: YcsbLog, lines: list[str]) -> list[Path]:
    """Append the cell to ``results/<run>/results.csv`` and write ``lines`` to a text file.

    One row for the whole phase (operation ``overall``; ops/s and s) and one for each
    operation (latencies in us). Returns both paths. KvstudyError when they cannot be
    written; the raw logs are there all the same.
    """
    root = Path("results") / run
    table, text = root / "results.csv", root / f"{cell.path.replace('/', '-')}.txt"
    about = [cell.store, cell.workload, cell.records, cell.threads, cell.repetition]
    whole = [log.attempted, log.failed, log.throughput, log.runtime / 1000]
    rows = [[*about, "overall", *whole, *[""] * len(LATENCIES)]]
    for name, section in log.sections.items():
        latencies = [section.latencies.get(f"latency_{part}", "") for part in LATENCIES]
        rows.append([*about, name.lower(), section.operations, section.failed, "", "", *latencies])
    try:
        text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with table.open("a", encoding="utf-8", newline="") as file:
            head = [COLUMNS] if os.fstat(file.fileno()).st_size == 0 else []
            csv.writer(file, lineterminator="\n").writerows(head + rows)
    except OSError as error:
        problem = f"{error.filename}: the result cannot be kept: {error.strerror}"
        raise KvstudyError(problem) from None
    return [table, text]


def single_study(
    store: str, options: dict[str, str], workload: str, records: int, operations: int, threads: int
) -> Study:
    """A study of this one cell."""
    # Each choice has results of its own.
    name = "-".join([store, *(value for _, value in sorted(options.items()))])
    return Study(
        name=RUN,
        title="Single cells",
        question="How fast is it?",
        stores=[StoreUse(store=store, name=name, options=options)],
        workloads=[WorkloadUse(name=workload)],
        parameters=Parameters(records=records, operations=operations, threads=threads),
        repetitions=1,
        noise_floor=False,
        client_ceiling=False,
    )


def next_cell(study: Study) -> Cell:
    """The cell as its next repetition: a run never replaces an earlier one."""
    for repetition in count(1):
        cell = plan(study.model_copy(update={"repetitions": repetition}))[-1]
        if not raw_directory(RUN, cell).exists():
            return cell
