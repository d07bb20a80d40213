"""Every single latency of the measured phases, for studies with ``raw_latencies: true``.

They stay compressed in the raw logs: a study has millions of them. To read them::

    from kvstudy.study.cells import plan
    from kvstudy.study.load import load_study, study_path
    from kvstudy.analyse.tidy.latencies import latencies

    study = load_study(study_path("my-study"))
    for cell, frame in latencies(plan(study), study.name):
        print(cell.path, frame.groupby("operation")["latency"].median())
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.check import check_raw
from kvstudy.logs.ycsb.histograms import read_raw
from kvstudy.logs.ycsb.parse import parse
from kvstudy.study.cells import Cell
from kvstudy.study.raw import check_sums, is_measured, raw_directory, raw_latencies


def latencies(cells: Iterable[Cell], run: str) -> Iterator[tuple[Cell, pd.DataFrame]]:
    """Each measured cell that kept its latencies, with one row per operation of all its clients.

    Columns: operation (read, read-failed, intended-read, ...), timestamp (ms since
    1970, when the operation ended), latency (us). KvstudyError when the files are not
    those that were measured, or do not have the operations that the log counts.
    """
    for cell in cells:
        if not cell.raw_latencies or not is_measured(run, cell):
            continue
        directory = raw_directory(run, cell)
        check_sums(directory)
        shares = cell.shares(cell.measured_phase)
        yield (
            cell,
            pd.concat([_read(directory, share.label) for share in shares], ignore_index=True),
        )


def _read(directory: Path, label: str) -> pd.DataFrame:
    path = Path(f"{raw_latencies(directory, label)}.gz")
    try:
        text = gzip.decompress(path.read_bytes()).decode("utf-8")
        log = (directory / f"{label}.out").read_text(encoding="utf-8", errors="replace")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise KvstudyError(f"{path}: cannot be read ({error}); measure the cell again") from None
    found = read_raw(text, str(path))
    check_raw(found, parse(log, str(directory)), str(path))
    found["section"] = found["section"].str.lower()
    return found.rename(columns={"section": "operation"})
