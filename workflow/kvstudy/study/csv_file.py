"""CSV files that people write: read strictly, each row with its line."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.study.naming import check_printable, did_you_mean


def read_lines(
    path: Path, columns: Sequence[str], optional: Sequence[str], remedy: str
) -> Iterator[tuple[int, dict[str, str]]]:
    """Each row of ``path`` that is not empty, with the number of its last line.

    A row has all of ``columns`` and ``optional``; a column that the file leaves out is "". Some
    spreadsheets save with a mark at the start, some with semicolons. KvstudyError for
    what is no such table; ``remedy`` ends its message.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise KvstudyError(f"{path}: no such file; {remedy}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise KvstudyError(f"{path}: cannot be read as CSV: {error}; save it as UTF-8") from None
    check_printable(path, text)
    head = text.partition("\n")[0]
    separator = ";" if head.count(";") > head.count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        head = [name.strip() for name in next(reader, [])]
        # A spreadsheet saves a column that was touched, too.
        while head and not head[-1]:
            head.pop()
        _check_head(path, head, columns, [*columns, *optional], remedy)
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) < len(head) or any(cell.strip() for cell in cells[len(head) :]):
                raise KvstudyError(
                    f"{path}: line {reader.line_num}: has {len(cells)} values for {len(head)} "
                    f"columns; put a value with a '{separator}' into quotation marks"
                )
            row = {name: cell.strip() for name, cell in zip(head, cells, strict=False)}
            yield reader.line_num, dict.fromkeys(optional, "") | row
    except csv.Error as error:
        raise KvstudyError(f"{path}: line {reader.line_num}: no CSV: {error}; {remedy}") from None


def _check_head(
    path: Path, head: list[str], columns: Sequence[str], known: list[str], remedy: str
) -> None:
    if missing := [name for name in columns if name not in head]:
        what = f"no column {', '.join(missing)}" if any(head) else "no CSV: its first line is empty"
        raise KvstudyError(f"{path}: {what}; {remedy}")
    for name in head:
        if name not in known:
            raise KvstudyError(
                f"{path}: line 1: unknown column '{name}'{did_you_mean(name, known)}"
            )
        if head.count(name) > 1:
            raise KvstudyError(f"{path}: line 1: column '{name}' stands there twice; remove one")
