"""The file of a workload with rounds: what each of them did, and how long it waited for it."""

from __future__ import annotations

from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.libraries import pd
from kvstudy.logs.ycsb.log import Section, YcsbLog
from kvstudy.study.cells import Cell
from kvstudy.study.controls import CEILING
from kvstudy.study.rounds import found

COLUMNS = ["round", "operation", "operations", "ok", "ns"]


def read_rounds(path: Path, cell: Cell, log: YcsbLog) -> pd.DataFrame:
    """One row per round and operation: how many there were, how many OK, sum of latencies (ns).

    The first round has no inserts, they are the load phase. KvstudyError unless the
    rounds did what the cell asks: all operations, and exactly those reads found
    their record whose key was stored; and unless ``log`` counts the same.
    """
    try:
        rows = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise KvstudyError(f"{path}: cannot be read ({error}); measure the cell again") from None
    numbers = [name for name in COLUMNS if name != "operation"]
    if list(rows) != COLUMNS or not all(
        pd.api.types.is_integer_dtype(rows[name]) and (rows[name] >= 0).all() for name in numbers
    ):
        raise KvstudyError(f"{path}: not the file of a workload with rounds; measure again")
    done = rows.set_index(["round", "operation"])
    expected = _expected(cell)
    if not done.index.is_unique or set(done.index) != set(expected):
        raise KvstudyError(
            f"{path}: its {len(rows)} lines are not one for each of the {len(expected)} rounds and "
            "operations of the cell; the client ended early, measure again"
        )
    for key, (operations, good) in expected.items():
        row = done.loc[key]
        if (row["operations"], row["ok"]) != (operations, good):
            raise KvstudyError(
                f"{path}: round {key[0]}: {row['ok']} of {row['operations']} operations "
                f"{key[1]} were OK, it should be {good} of {operations}; the store lost or kept "
                "records, measure again"
            )
    for operation, of in rows.groupby("operation"):
        section = log.sections.get(operation.upper(), Section())
        counted = (section.operations + section.failed, section.operations)
        if counted != (of["operations"].sum(), of["ok"].sum()):
            raise KvstudyError(
                f"{path}: the log counts {counted[1]} of {counted[0]} operations {operation} as "
                f"OK, the rounds {of['ok'].sum()} of {of['operations'].sum()}; measure again"
            )
    return rows


def _expected(cell: Cell) -> dict[tuple[int, str], tuple[int, int]]:
    """Operations, and those that are OK, of each round and operation."""
    # YCSB without a store finds whatever it is asked for.
    nothing = cell.folder == CEILING.store
    hits = cell.operations if nothing else found(cell.records, cell.operations)
    counts = cell.rounds.counts(cell.records, cell.operations)
    return {
        (number, operation): (count, hits if operation == "read" else count)
        for number in range(1, cell.rounds.number + 1)
        for operation, count in counts.items()
        if (number, operation) != (1, "insert")
    }
