"""The cells of a run read from their raw logs: on all cores, and each again only when it changed.

What was read of a cell is kept in ``.snakemake/cells``: a study of ten thousand cells takes minutes
to read, and one that grows by a repetition should not take them again.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kvstudy.analyse.tidy.cell import Unreadable, read_cell
from kvstudy.analyse.tidy.files import CELLS, MEASUREMENTS, OUTCOMES, RESOURCES, ROUNDS, SERIES
from kvstudy.code_files import CLONE, code_files
from kvstudy.libraries import pd
from kvstudy.study.cells import Cell
from kvstudy.study.model import Study
from kvstudy.study.raw import raw_directory
from kvstudy.whole_file import put

TABLES = (CELLS, MEASUREMENTS, SERIES, RESOURCES, OUTCOMES, ROUNDS)
KEPT = Path(".snakemake/cells")
# Fewer are read before further processes have begun.
MANY = 64
# Of a study, what says nothing of a cell that is there.
_ELSEWHERE = {"title", "question", "repetitions", "seed", "tables", "figures"}


@dataclass(frozen=True)
class CellTables:
    """A measured cell: its manifest, its part of each table, its lines of histograms.csv."""

    manifest: dict
    frames: dict[str, pd.DataFrame]
    histograms: str


def read_cells(study: Study, cells: Sequence[Cell], run: str) -> Iterator[CellTables | Unreadable]:
    """Each of the measured ``cells``, in their order; raises as ``read_cell``."""
    about = f"{_code()} {study.model_dump_json(exclude=_ELSEWHERE)}"
    read = partial(_read, study, run, hashlib.sha256(about.encode()).hexdigest())
    with contextlib.ExitStack() as stack:
        each = map
        if len(cells) >= MANY:
            workers = len(os.sched_getaffinity(0))
            each = partial(stack.enter_context(ProcessPoolExecutor(workers)).map, chunksize=16)
        yield from each(read, cells)


def _read(study: Study, run: str, about: str, cell: Cell) -> CellTables | Unreadable:
    raw, kept = raw_directory(run, cell), KEPT / run / cell.path
    files = sorted(
        (file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in os.scandir(raw)
    )
    key = (about, cell, files)
    # Whatever an interrupted or another version left there.
    with contextlib.suppress(Exception):
        known, tables = pickle.loads(zlib.decompress(kept.read_bytes()))
        if known == key:
            return tables
    try:
        manifest, rows, histograms = read_cell(study, cell, raw)
    except Unreadable as error:
        return error
    frames = {table.name: table.frame(rows[table.name]) for table in TABLES}
    tables = CellTables(manifest, frames, histograms)
    # What cannot be kept, as on a full disk, is read again.
    with contextlib.suppress(OSError):
        put(zlib.compress(pickle.dumps((key, tables)), level=1), kept)
    return tables


@functools.cache
def _code() -> str:
    """A checksum of the code that reads cells."""
    content = b"".join((CLONE / file).read_bytes() for file in code_files("parse"))
    return hashlib.sha256(content).hexdigest()
