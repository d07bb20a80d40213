"""What `kvstudy run` keeps of a single cell beside its raw logs."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.log import YcsbLog
from kvstudy.study.cells import Cell

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
    rows = [
        [*about, "overall", log.attempted, log.failed, log.throughput, log.runtime / 1000]
        + [""] * len(LATENCIES)
    ]
    for name, section in log.sections.items():
        latencies = [section.latencies.get(f"latency_{part}", "") for part in LATENCIES]
        rows.append([*about, name.lower(), section.operations, section.failed, "", "", *latencies])
    content = io.StringIO()
    writer = csv.writer(content, lineterminator="\n")
    try:
        text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with table.open("a", encoding="utf-8", newline="") as file:
            if os.fstat(file.fileno()).st_size == 0:
                writer.writerow(COLUMNS)
            writer.writerows(rows)
            file.write(content.getvalue())
    except OSError as error:
        problem = f"{error.filename}: the result cannot be kept: {error.strerror}"
        raise KvstudyError(problem) from None
    return [table, text]
