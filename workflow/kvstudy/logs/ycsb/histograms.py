"""Counts of all latencies of a run, in the file of each operation (hdrhistogram.fileoutput)."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from pathlib import Path

from kvstudy.errors import DataError
from kvstudy.libraries import np

_INTERVAL = re.compile(r"^(?:Tag=[^,]*,)?[\d.]+,[\d.]+,[\d.]+,(HIST\S+)$")
# Of a line: eight bytes, then a compressed body, which begins with a header: cookie, length of the
# counts, offset, digits, lowest and highest value, conversion.
_OUTER, _HEAD = 8, struct.Struct(">4I2Qd")
_COOKIES = 0x1C849304, 0x1C849303
# A body with all counts of three digits up to 2^40 us, which are 12 days, is smaller. In bytes.
_BODY, _LONGEST_NUMBER = 1 << 20, 8
_LONGEST = 40
# A histogram of five digits up to there has fewer positions.
_POSITIONS = 1 << 22


def read_histogram(path: Path) -> dict[int, int]:
    """The counts (above 0) by latency in us, rising, of the whole run.

    YCSB writes one line per status interval, whose sum is the run. A latency is
    the upper end of its bucket (3 digits: at most 0.1 % too large), as in the
    percentiles that YCSB prints. A line that is missing at the end cannot be seen
    here: the sum of the counts must be what the log counts for that operation.

    DataError, naming file and line: a file that cannot be read, without any
    operation, of something else, or cut off; lines of different precision.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    precision, intervals = None, []
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith(("#", '"StartTimestamp"')):
            continue
        try:
            of_line, body = _unpacked(line)
        except MemoryError:
            raise
        except Exception as error:  # Whatever is made of damaged bytes.
            raise _damaged(path, number, line, repr(error)) from None
        if precision not in (None, of_line):
            raise DataError(
                f"{path}: line {number}: another precision than the lines before; the file holds "
                "several runs, remove it before each run"
            )
        precision = of_line
        intervals.append((number, line, body))
    counts = _summed(path, intervals)
    used = np.flatnonzero(counts)
    if precision is None or not used.size:
        raise DataError(
            f"{path}: no operations in it; the client ended before it wrote them, or this is not "
            "a file of hdrhistogram.fileoutput=true"
        )
    half, unit = precision
    # Each bucket is twice as wide as the one before, and has the upper half of its positions only:
    # the lower one is the bucket before. The first one has both.
    bucket = np.maximum(used // half - 1, 0)
    latencies = ((used - bucket * half + 1) << np.minimum(bucket + unit, _LONGEST + 2)) - 1
    if (counts < 0).any() or latencies.max() > 2 << _LONGEST:
        raise DataError(
            f"{path}: has counts below 0 or latencies of weeks; it is damaged, measure again"
        )
    return dict(zip(latencies.tolist(), counts[used].tolist(), strict=True))


def _damaged(path: Path, number: int, line: str, problem: str) -> DataError:
    return DataError(
        f"{path}: line {number}: '{line[:40]}' is no histogram ({problem}); is the file cut off? "
        "Measure again"
    )


def _unpacked(line: str) -> tuple[tuple[int, int], bytes]:
    """Return the precision of a histogram in HdrHistogram's format V2, and its numbers.

    The precision is half of the positions that have the width of the first ones, and the power of
    two that is this width (us). The numbers are ZigZag LEB128. ValueError for anything else.

    The header's highest value is not used: in YCSB's HdrHistogram two threads can resize a
    histogram at a time; the slower one then writes an old highest value next to the counts of the
    faster one.

    Source: HdrHistogram 2.2, AbstractHistogram.encodeIntoByteBuffer.
    """
    interval = _INTERVAL.match(line)
    if interval is None:
        raise ValueError("no interval of a histogram log")
    data = base64.b64decode(interval[1], validate=True)
    unpack = zlib.decompressobj()
    body = unpack.decompress(data[_OUTER:], _BODY)
    if not unpack.eof or unpack.unused_data:
        raise ValueError("its compressed part has another length")
    cookie, _length, _offset, digits, lowest, *_ = _HEAD.unpack_from(body)
    cookies = int.from_bytes(data[:4]) & ~0xF0, cookie & ~0xF0
    if cookies != _COOKIES or not 1 <= digits <= 5 or not lowest:
        raise ValueError("another header")
    if body[-1] > 127 and len(body) > _HEAD.size:
        raise ValueError("its last number is cut off")
    half = 1 << ((2 * 10**digits - 1).bit_length() - 1)
    return (half, lowest.bit_length() - 1), body[_HEAD.size :]


def _summed(path: Path, intervals: list[tuple[int, str, bytes]]) -> np.ndarray:
    """Return the sum of the histograms by position; they have number, text and numbers of a line.

    A number above 0 is the count of a position, one below 0 is how many positions have none. All
    are decoded at once: a run of minutes has a histogram for each second. DataError, naming the
    line, for numbers that no histogram has.
    """
    bodies = [body for _number, _line, body in intervals]
    octets = np.frombuffer(b"".join(bodies), dtype=np.uint8)
    ends = np.flatnonzero(octets < 128)
    sizes = np.diff(ends, prepend=-1)
    starts = ends - sizes + 1
    # How many numbers begin before each body.
    first = np.searchsorted(starts, np.cumsum([0, *map(len, bodies)]))
    codes = (octets[starts] & 127).astype(np.int64)
    for place in range(1, min(sizes.max(initial=0), _LONGEST_NUMBER)):
        longer = np.flatnonzero(sizes > place)
        codes[longer] |= (octets[starts[longer] + place] & 127).astype(np.int64) << 7 * place
    numbers = (codes >> 1) ^ -(codes & 1)
    steps = np.maximum(-numbers, 1)
    after = np.cumsum(np.minimum(steps, _POSITIONS))
    before = np.concatenate([[0], after])[first[:-1]].repeat(np.diff(first))
    too_many = (steps > _BODY) | (after - before > _POSITIONS)
    wrong = np.flatnonzero((sizes > _LONGEST_NUMBER) | too_many)
    if wrong.size:
        number, line, _ = intervals[np.searchsorted(first, wrong[0], side="right") - 1]
        raise _damaged(path, number, line, "numbers that no histogram has")
    counted = numbers > 0
    positions = (after - before - steps)[counted]
    counts = np.zeros(positions.max(initial=-1) + 1, dtype=np.int64)
    np.add.at(counts, positions, numbers[counted])
    return counts
