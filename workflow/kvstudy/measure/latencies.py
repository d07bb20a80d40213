"""Single latencies that YCSB has written: checked, and compressed for the raw logs."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.logs.ycsb.check import check_raw
from kvstudy.logs.ycsb.parse import parse
from kvstudy.logs.ycsb.raw import read_raw
from kvstudy.study.raw import raw_latencies


def keep_latencies(directory: Path, phase: str) -> None:
    """Leave the latencies of ``phase`` as ``<phase>.latencies.gz``.

    KvstudyError when they are not those of all operations: YCSB says nothing when
    it cannot write them.
    """
    path = raw_latencies(directory, phase)
    out = directory / f"{phase}.out"
    log = parse(out.read_text(encoding="utf-8", errors="replace"), out.name)
    try:
        check_raw(read_raw(path.read_text(encoding="utf-8"), path.name), log, path.name)
    except (OSError, UnicodeDecodeError) as error:
        raise KvstudyError(f"{path.name}: YCSB did not write it ({error})") from None
    with path.open("rb") as plain, gzip.open(f"{path}.gz", "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed)
    path.unlink()
    # Beside single latencies YCSB names its histograms run.HdrREAD.hdr.
    for histogram in directory.glob(f"{phase}.Hdr*.hdr"):
        histogram.rename(directory / histogram.name.replace(".Hdr", ".", 1))
