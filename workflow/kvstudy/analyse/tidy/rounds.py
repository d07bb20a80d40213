"""The rounds of cells whose workload has some (see ``study.rounds``).

``rounds.csv`` has one row per cell, round and operation: ``records`` (of the cell),
``counted`` (no for the rounds that warm up), ``operations``, ``ok`` (those that found or
did what was asked) and ``ns``, the sum of their latencies. Reads of keys that were not
stored are in ``operations`` and in ``ns``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kvstudy.logs.ycsb import rounds as files
from kvstudy.logs.ycsb.log import YcsbLog
from kvstudy.study.cells import Cell
from kvstudy.study.rounds import FILE


def rounds(raw: Path, cell: Cell, log: YcsbLog) -> Iterator[dict]:
    """The rows of one cell, without the cell. KvstudyError for a file that is broken."""
    for row in files.read_rounds(raw / FILE, cell, log).to_dict("records"):
        counted = "no" if row["round"] <= cell.rounds.warmup else "yes"
        yield row | {"records": cell.records, "counted": counted}
