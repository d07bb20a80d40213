"""The files of hdrhistogram.fileoutput=true: all latencies of one operation of a run."""

from __future__ import annotations

import binascii
import re
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram

from kvstudy.errors import KvstudyError

_INTERVAL = re.compile(r"^(?:Tag=[^,]*,)?[\d.]+,[\d.]+,[\d.]+,(HIST\S+)$")
_BROKEN = (HdrCookieException, HdrLengthException, binascii.Error, zlib.error, TypeError)


def read_histogram(path: Path) -> pd.Series:
    """The counts (integers above 0) by latency in us, rising, of the whole run.

    YCSB writes one line per status interval, whose sum is the run. A latency is
    the upper end of its bucket (3 digits: at most 0.1 % too large), as in the
    percentiles that YCSB prints. A line that is missing at the end cannot be seen
    here: the sum of the counts must be what the log counts for that operation.

    KvstudyError, naming file and line: a file that cannot be read, without any
    operation, of something else, or cut off; lines of different precision.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KvstudyError(f"{path}: cannot be read: {error}") from None
    counts = np.zeros(0, dtype=np.int64)
    widest: HdrHistogram | None = None
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith(("#", '"StartTimestamp"')):
            continue
        histogram = _decoded(path, number, line)
        if widest is not None and _precision(histogram) != _precision(widest):
            raise KvstudyError(
                f"{path}: line {number}: another precision than the lines before; the file holds "
                "several runs, remove it before each run"
            )
        found = np.ctypeslib.as_array(histogram.counts).astype(np.int64)
        if widest is None or len(found) > len(counts):
            widest = histogram
            counts = np.pad(counts, (0, len(found) - len(counts)))
        counts[: len(found)] += found
    used = np.flatnonzero(counts)
    if widest is None or not used.size:
        raise KvstudyError(
            f"{path}: no operations in it; the client ended before it wrote them, or this is not "
            "a file of hdrhistogram.fileoutput=true"
        )
    latencies = [
        widest.get_highest_equivalent_value(widest.get_value_from_index(int(index)))
        for index in used
    ]
    index = pd.Index(latencies, dtype=np.int64, name="latency")
    return pd.Series(counts[used], index=index, name="count")


def _decoded(path: Path, number: int, line: str) -> HdrHistogram:
    found = _INTERVAL.match(line)
    try:
        if found is None:
            raise TypeError("no interval of a histogram log")
        return HdrHistogram.decode(found[1])
    except _BROKEN as error:
        raise KvstudyError(
            f"{path}: line {number}: '{line[:40]}' is no histogram ({error}); is the file cut "
            "off? Measure again"
        ) from None


def _precision(histogram: HdrHistogram) -> tuple[int, int]:
    return histogram.sub_bucket_count, histogram.unit_magnitude
