"""Where the single runs stand in the workbook, so that formulas can refer to them."""

from __future__ import annotations

from dataclasses import dataclass, field

from xlsxwriter.utility import xl_rowcol_to_cell

from kvstudy.present.workbook.names import quoted

# Store, workload, parameters and operation of a value, and its metric.
Key = tuple[str, str, str, str, str]


@dataclass
class Places:
    """The cells of the runs that count, by what they are values of."""

    _found: dict[Key, tuple[str, int, list[int]]] = field(default_factory=dict)

    def add(self, key: Key, sheet: str, row: int, column: int) -> None:
        """A run's value stands in ``row`` and ``column`` (from 0) of ``sheet``."""
        self._found.setdefault(key, (sheet, column, []))[2].append(row)

    def __contains__(self, key: Key) -> bool:
        return key in self._found

    def cell(self, key: Key, number: int) -> str:
        """``J5``: the run with this ``number`` (from 0) among those that count, on its sheet."""
        _, column, rows = self._found[key]
        return xl_rowcol_to_cell(rows[number], column)

    def ranges(self, key: Key) -> str:
        """``'Redis'!J5:J7``; runs that are not adjacent in several ranges with commas."""
        sheet, column, rows = self._found[key]
        parts: list[list[int]] = []
        for row in rows:
            if parts and row == parts[-1][1] + 1:
                parts[-1][1] = row
            else:
                parts.append([row, row])
        return ",".join(
            f"{quoted(sheet)}!{xl_rowcol_to_cell(first, column)}"
            + (f":{xl_rowcol_to_cell(last, column)}" if last > first else "")
            for first, last in parts
        )
