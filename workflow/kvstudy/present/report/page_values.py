"""What a figure shows, as a table: for those who do not see it, and to copy from."""

from __future__ import annotations

import csv
from html import escape
from pathlib import Path

from kvstudy.errors import KvstudyError
from kvstudy.language.locale import decimal
from kvstudy.language.recorded import recorded
from kvstudy.present.report.page_words import page_words

# Of a figure with more rows the page has the first ones, and says so.
MOST_ROWS = 200


def values_table(figures: Path, name: str) -> str:
    """The figure's CSV as HTML, closed until it is asked for. KvstudyError when it is missing."""
    path = figures / f"{name}.csv"
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *rows = csv.reader(file)
    except OSError as error:
        raise KvstudyError(f"{path}: {error.strerror}; write it with 'kvstudy draw'") from None
    except (ValueError, csv.Error):
        raise KvstudyError(f"{path}: not a CSV file; write it again with 'kvstudy draw'") from None
    words = page_words()
    heads = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head)
    lines = [
        "".join(["<tr>", *(f"<td>{escape(_shown(cell))}</td>" for cell in row), "</tr>"])
        for row in rows[:MOST_ROWS]
    ]
    told = words["values_from"].format(file=f"<code>{escape(path.as_posix())}</code>")
    if len(rows) > MOST_ROWS:
        told += " " + words["values_first"].format(shown=MOST_ROWS, rows=len(rows))
    return "\n".join(
        [
            f'<details class="values"><summary>{escape(words["values"])}</summary>',
            f"<p>{told}</p>",
            f'<div class="scroll"><table><thead><tr>{heads}</tr></thead>',
            f"<tbody>{''.join(lines)}</tbody></table></div>",
            "</details>",
        ]
    )


def _shown(cell: str) -> str:
    """A number or a word of the CSV in the language of the page."""
    try:
        float(cell)
    except ValueError:
        return recorded(cell)
    return decimal(cell)
