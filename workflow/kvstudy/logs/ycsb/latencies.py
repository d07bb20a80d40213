"""Single latencies of all operations of a run, which YCSB writes with measurementtype=raw.

For each section there is a header, and a row per operation such as ``READ,1790000000000,119``
(measurement.raw.output_file). They are kept as Parquet. There can be a thousand million rows, so
neither file is ever in memory as a whole.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from kvstudy.errors import DataError
from kvstudy.libraries import arrow_csv, np, pa, pq
from kvstudy.logs.ycsb.log import OPERATIONS

# Read at a time; about a million rows, which are one row group of the Parquet file.
BLOCK = 1 << 24
_HEADER = b" latency raw data: op, timestamp(ms), latency(us)\n"
_SECTION = re.compile(rf"(?:Raw)?((?:Intended-)?(?:{'|'.join(OPERATIONS)})(?:-[A-Z_]+)?)")


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
