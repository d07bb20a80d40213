"""All latencies of the operations of a run: single ones, or counts of them in histograms.

With measurementtype=raw YCSB writes a header and a row per operation for each section, such as
``READ,1790000000000,119`` (measurement.raw.output_file); these are kept as Parquet. There can be a
thousand million rows, so neither file is ever in memory as a whole. With hdrhistogram.fileoutput
it writes a histogram file for each operation.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

from kvstudy.errors import DataError
from kvstudy.libraries import arrow_csv, np, pa, pq
from kvstudy.logs.ycsb.log import OPERATIONS

# Read at a time; about a million rows, which are one row group of the Parquet file.
BLOCK = 1 << 24
_HEADER = b" latency raw data: op, timestamp(ms), latency(us)\n"
_SECTION = re.compile(rf"(?:Raw)?((?:Intended-)?(?:{'|'.join(OPERATIONS)})(?:-[A-Z_]+)?)")
_INTERVAL = re.compile(r"^(?:Tag=[^,]*,)?[\d.]+,[\d.]+,[\d.]+,(HIST\S+)$")
# Of a line: eight bytes, then a compressed body, which begins with a header: cookie, length of the
# counts, offset, digits, lowest and highest value, conversion.
_OUTER, _HEAD = 8, struct.Struct(">4I2Qd")
_COOKIES = 0x1C849304, 0x1C849303
# A body with all counts of three digits up to 2^40 us, which are 12 days, is smaller. In bytes.
_BODY, _LONGEST_NUMBER = 1 << 20, 8
_LONGEST = 40


def keep_raw(written: Path, kept: Path) -> Counter[str]:
    """Write the rows of YCSB's file to ``kept``; how many there are of each section.

    Columns: operation (YCSB's section: READ, READ-FAILED, Intended-READ, ...), timestamp (ms
    since 1970, when the operation ended) and latency (us). Sections that are no operations
    (CLEANUP) are left out.

    DataError for a file that cannot be read, for a row that is cut off, for a second run (YCSB
    appends to a file that is there) and when there are no rows at all.
    ``kvstudy.logs.ycsb.check.check_raw`` shows whether rows are missing at the end.
    """
    schema = pa.schema(
        {
            "operation": pa.dictionary(pa.int32(), pa.string()),
            "timestamp": pa.int64(),
            "latency": pa.int64(),
        }
    )
    rows: Counter[str] = Counter()
    try:
        with (
            written.open("rb") as file,
            pq.ParquetWriter(kept, schema, compression="zstd") as output,
        ):
            for section, block in _blocks(file, written.name):
                if not block:
                    continue
                table = _table(section, block, schema, written.name)
                if operation := _SECTION.fullmatch(section):
                    zeros = np.zeros(len(table), dtype=np.int32)
                    named = pa.DictionaryArray.from_arrays(zeros, [operation[1]])
                    output.write_table(table.set_column(0, schema.field(0), named))
                    rows[operation[1]] += len(table)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{written.name}: YCSB did not write it ({error})") from None
    if not rows:
        raise DataError(
            f"{written.name}: no latencies of single operations in it; measure with "
            "measurementtype=raw"
        )
    return rows


def count_latencies(kept: Path) -> dict[str, dict[int, int]]:
    """Exact counts by latency in us, rising, of each operation in the file.

    DataError when it cannot be read.
    """
    counts: dict[str, Counter[int]] = defaultdict(Counter)
    try:
        with pq.ParquetFile(kept) as file:
            for number in range(file.num_row_groups):
                group = file.read_row_group(number, columns=["operation", "latency"])
                counted = group.group_by(["operation", "latency"]).aggregate([([], "count_all")])
                for row in counted.to_pylist():
                    counts[row["operation"]][row["latency"]] += row["count_all"]
    except (OSError, ValueError, KeyError, pa.ArrowException) as error:
        raise DataError(f"{kept}: cannot be read ({error}); measure the cell again") from None
    return {operation: dict(sorted(of.items())) for operation, of in sorted(counts.items())}


def _blocks(file: IO[bytes], name: str) -> Iterator[tuple[str, bytes]]:
    """Whole rows with the section that they are of, which is "" before the first header."""
    section, rest = "", b""
    begun = set()
    while chunk := file.read(BLOCK):
        chunk = rest + chunk
        end = chunk.rfind(b"\n") + 1
        text, rest = chunk[:end], chunk[end:]
        at = 0
        while (header := text.find(_HEADER, at)) >= 0:
            start = text.rfind(b"\n", at, header) + 1 or at
            yield section, text[at:start]
            section, at = text[start:header].decode(), header + len(_HEADER)
            if section in begun:
                raise DataError(
                    f"{name}: latencies of {section} begin a second time; the file holds several "
                    "runs. Remove it before each run"
                )
            begun.add(section)
        yield section, text[at:]
    if rest:
        raise _damaged(name, section, f"'{rest[-80:].decode(errors='replace')}'")


def _table(section: str, block: bytes, schema: pa.Schema, name: str) -> pa.Table:
    """The rows of a block; DataError unless each is a latency of that section."""
    try:
        table = arrow_csv.read_csv(
            pa.BufferReader(block),
            read_options=arrow_csv.ReadOptions(column_names=schema.names),
            parse_options=arrow_csv.ParseOptions(quote_char=False, ignore_empty_lines=False),
            convert_options=arrow_csv.ConvertOptions(
                column_types=schema, strings_can_be_null=False, null_values=[]
            ),
        )
    except pa.ArrowInvalid as error:
        raise _damaged(name, section, str(error)) from None
    others = set(table["operation"].unique().to_pylist()) - {section}
    lowest = min(table[column].to_numpy().min() for column in ("timestamp", "latency"))
    if others or lowest < 0:
        raise _damaged(name, section, ", ".join(others) or f"{lowest}")
    return table


def _damaged(name: str, section: str, what: str) -> DataError:
    return DataError(
        f"{name}: among the latencies of {section or 'nothing yet'} is no latency "
        f"(operation,ms,us): {what}; is the file cut off? Measure again"
    )


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
    intervals: list[_IntervalCounts] = []
    for number, line in enumerate(lines, start=1):
        if not line or line.startswith(("#", '"StartTimestamp"')):
            continue
        intervals.append(_decoded(path, number, line))
        if intervals[-1].precision != intervals[0].precision:
            raise DataError(
                f"{path}: line {number}: another precision than the lines before; the file holds "
                "several runs, remove it before each run"
            )
    positions = np.concatenate([[], *(interval.positions for interval in intervals)])
    used, places = np.unique(positions.astype(np.int64), return_inverse=True)
    if not used.size:
        raise DataError(
            f"{path}: no operations in it; the client ended before it wrote them, or this is not "
            "a file of hdrhistogram.fileoutput=true"
        )
    counts = np.zeros(used.size, dtype=np.int64)
    np.add.at(counts, places, np.concatenate([interval.counts for interval in intervals]))
    half, unit = intervals[0].precision
    # Each bucket is twice as wide as the one before, and has the upper half of its positions only:
    # the lower one is the bucket before. The first one has both.
    bucket = np.maximum(used // half - 1, 0)
    latencies = ((used - bucket * half + 1) << np.minimum(bucket + unit, _LONGEST + 2)) - 1
    if (counts < 0).any() or latencies.max() > 2 << _LONGEST:
        raise DataError(
            f"{path}: has counts below 0 or latencies of weeks; it is damaged, measure again"
        )
    return dict(zip(latencies.tolist(), counts.tolist(), strict=True))


class _IntervalCounts(NamedTuple):
    """The ``counts`` of a line by their ``positions`` in a histogram.

    ``precision`` is half of the positions that have the width of the first ones, and the power of
    two that is this width (us).
    """

    precision: tuple[int, int]
    positions: np.ndarray
    counts: np.ndarray


def _decoded(path: Path, number: int, line: str) -> _IntervalCounts:
    interval = _INTERVAL.match(line)
    try:
        if interval is None:
            raise ValueError("no interval of a histogram log")
        return _unpacked(base64.b64decode(interval[1], validate=True))
    except MemoryError:
        raise
    except Exception as error:  # Whatever is made of damaged bytes.
        raise DataError(
            f"{path}: line {number}: '{line[:40]}' is no histogram ({error!r}); is the file cut "
            "off? Measure again"
        ) from None


def _unpacked(data: bytes) -> _IntervalCounts:
    """Unpack a histogram in HdrHistogram's format V2, in which numbers are ZigZag LEB128.

    A number above 0 is the count of a position, one below 0 is how many positions have none. The
    header's highest value is not used: in YCSB's HdrHistogram two threads can resize a histogram at
    a time; the slower one then writes an old highest value next to the counts of the faster one.

    Source: HdrHistogram 2.2, AbstractHistogram.encodeIntoByteBuffer.
    """
    unpack = zlib.decompressobj()
    body = unpack.decompress(data[_OUTER:], _BODY)
    if not unpack.eof or unpack.unused_data:
        raise ValueError("its compressed part has another length")
    cookie, _length, _offset, digits, lowest, *_ = _HEAD.unpack_from(body)
    cookies = int.from_bytes(data[:4]) & ~0xF0, cookie & ~0xF0
    if cookies != _COOKIES or not 1 <= digits <= 5 or not lowest:
        raise ValueError("another header")
    half = 1 << ((2 * 10**digits - 1).bit_length() - 1)
    octets = np.frombuffer(body, dtype=np.uint8, offset=_HEAD.size)
    ends = np.flatnonzero(octets < 128)
    sizes = np.diff(ends, prepend=-1)
    if sizes.sum() != octets.size or sizes.max(initial=0) > _LONGEST_NUMBER:
        raise ValueError("its last number is cut off, or one is too long")
    starts = ends - sizes + 1
    places = np.arange(octets.size) - starts.repeat(sizes)
    parts = (octets & 127).astype(np.int64) << 7 * places
    codes = np.add.reduceat(parts, starts) if starts.size else parts
    numbers = (codes >> 1) ^ -(codes & 1)
    steps = np.maximum(-numbers, 1)
    if steps.max(initial=0) > _BODY:
        raise ValueError("it has more positions than a histogram")
    counted = numbers > 0
    positions = (steps.cumsum() - steps)[counted]
    return _IntervalCounts((half, lowest.bit_length() - 1), positions, numbers[counted])
