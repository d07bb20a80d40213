"""The files of hdrhistogram.fileoutput=true: all latencies of one operation of a run."""

from __future__ import annotations

import base64
import re
import zlib
from pathlib import Path

from hdrh.histogram import HdrHistogram

from kvstudy.errors import KvstudyError
from kvstudy.libraries import np, pd

_INTERVAL = re.compile(r"^(?:Tag=[^,]*,)?[\d.]+,[\d.]+,[\d.]+,(HIST\S+)$")
# Of a line: eight bytes, then a compressed body, in whose header is the highest value that its
# counts can be of. 2^40 us are 12 days.
_OUTER, _HIGHEST = 8, slice(24, 32)
_ENOUGH = 1 << 40
# A body with all counts of three digits up to 2^40 is smaller.
_BODY = 1 << 20


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
    total: HdrHistogram | None = None
    counts = np.zeros(0, dtype=np.int64)
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith(("#", '"StartTimestamp"')):
            continue
        histogram = _decoded(path, number, line)
        if total is not None and _precision(histogram) != _precision(total):
            raise KvstudyError(
                f"{path}: line {number}: another precision than the lines before; the file holds "
                "several runs, remove it before each run"
            )
        interval = np.ctypeslib.as_array(histogram.counts).astype(np.int64)
        counts = interval if total is None else counts + interval
        total = histogram
        # The two name each other; those of 900 cells waited in 4 GB for the garbage collector.
        histogram.encoder = None
    used = np.flatnonzero(counts)
    if total is None or not used.size:
        raise KvstudyError(
            f"{path}: no operations in it; the client ended before it wrote them, or this is not "
            "a file of hdrhistogram.fileoutput=true"
        )
    latencies = [
        total.get_highest_equivalent_value(total.get_value_from_index(int(index))) for index in used
    ]
    if (counts < 0).any() or max(latencies) > 2 * _ENOUGH:
        raise KvstudyError(
            f"{path}: has counts below 0 or latencies of weeks; it is damaged, measure again"
        )
    index = pd.Index(latencies, dtype=np.int64, name="latency")
    return pd.Series(counts[used], index=index, name="count")


def _decoded(path: Path, number: int, line: str) -> HdrHistogram:
    interval = _INTERVAL.match(line)
    try:
        if interval is None:
            raise ValueError("no interval of a histogram log")
        return HdrHistogram.decode(_with_room(interval[1]))
    except MemoryError:
        raise
    except Exception as error:  # Whatever the library makes of damaged bytes.
        raise KvstudyError(
            f"{path}: line {number}: '{line[:40]}' is no histogram ({error!r}); is the file cut "
            "off? Measure again"
        ) from None


def _with_room(encoded: str) -> bytes:
    """The same histogram with a highest value above all of its counts.

    In YCSB's HdrHistogram two threads can resize one at a time; the slower one then writes an
    old highest value beside the counts of the faster one. The counts are whole all the same.
    """
    data = base64.b64decode(encoded, validate=True)
    unpack = zlib.decompressobj()
    body = bytearray(unpack.decompress(data[_OUTER:], _BODY))
    if not unpack.eof or unpack.unused_data:
        raise ValueError("its compressed part has another length")
    body[_HIGHEST] = _ENOUGH.to_bytes(8, "big")
    packed = zlib.compress(body, 1)
    return base64.b64encode(data[:4] + len(packed).to_bytes(4, "big") + packed)


def _precision(histogram: HdrHistogram) -> tuple[int, int]:
    return histogram.sub_bucket_count, histogram.unit_magnitude
