"""The single latencies of measurementtype=raw (measurement.raw.output_file), kept as Parquet.

YCSB writes a header and a row per operation for each section, such as ``READ,1790000000000,119``.
There can be a thousand million rows, so neither file is ever in memory as a whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from kvstudy.errors import KvstudyError
from kvstudy.libraries import arrow_csv, np, pa, pd, pq
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

    KvstudyError for a file that cannot be read, for a row that is cut off, for a second run (YCSB
    appends to a file that is there) and when there are no rows at all.
    ``kvstudy.logs.ycsb.check.check_raw`` tells whether rows are missing at the end.
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
                table = _table(section, block, schema, written.name)
                if operation := _SECTION.fullmatch(section):
                    zeros = np.zeros(len(table), dtype=np.int32)
                    named = pa.DictionaryArray.from_arrays(zeros, [operation[1]])
                    output.write_table(table.set_column(0, schema.field(0), named))
                    rows[operation[1]] += len(table)
    except (OSError, UnicodeDecodeError) as error:
        raise KvstudyError(f"{written.name}: YCSB did not write it ({error})") from None
    if not rows:
        raise KvstudyError(
            f"{written.name}: no latencies of single operations in it; measure with "
            "measurementtype=raw"
        )
    return rows


def count_latencies(kept: Path) -> dict[str, pd.Series]:
    """Exact counts (integers above 0) by latency in us, rising, of each operation in the file.

    KvstudyError when it cannot be read.
    """
    counts: dict[str, pd.Series] = {}
    try:
        with pq.ParquetFile(kept) as file:
            for number in range(file.num_row_groups):
                group = file.read_row_group(number, columns=["operation", "latency"])
                found = group.group_by(["operation", "latency"]).aggregate([([], "count_all")])
                for operation, part in found.to_pandas().groupby("operation", observed=True):
                    more = part.set_index("latency")["count_all"].rename("count")
                    parts = [counts[operation], more] if operation in counts else [more]
                    counts[operation] = pd.concat(parts).groupby(level=0).sum()
    except (OSError, ValueError, KeyError) as error:
        raise KvstudyError(f"{kept}: cannot be read ({error}); measure the cell again") from None
    return counts


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
                raise KvstudyError(
                    f"{name}: latencies of {section} begin a second time; the file holds several "
                    "runs. Remove it before each run"
                )
            begun.add(section)
        yield section, text[at:]
    if rest:
        raise _damaged(name, section, f"'{rest[-80:].decode(errors='replace')}'")


def _table(section: str, block: bytes, schema: pa.Schema, name: str) -> pa.Table:
    """The rows of a block; KvstudyError unless each is a latency of that section."""
    if not block:
        return schema.empty_table()
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


def _damaged(name: str, section: str, what: str) -> KvstudyError:
    return KvstudyError(
        f"{name}: among the latencies of {section or 'nothing yet'} is no latency "
        f"(operation,ms,us): {what}; is the file cut off? Measure again"
    )
