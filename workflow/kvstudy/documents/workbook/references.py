"""The cells of single runs, and formulas over them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain, groupby
from statistics import fmean, stdev

from xlsxwriter.utility import xl_rowcol_to_cell

from kvstudy.documents.workbook.sheet import quoted
from kvstudy.layout.grid import RunKey, Statistic
from kvstudy.stats.intervals import geometric_mean

# The formula of each kind of statistic, and what it gives.
FUNCTIONS: dict[str, tuple[str, Callable[[Iterable[float]], float]]] = {
    "mean": ("AVERAGE", fmean),
    "geometric": ("GEOMEAN", geometric_mean),
    "sd": ("STDEV", stdev),
    "min": ("MIN", min),
    "max": ("MAX", max),
}
# The analysis adds in another order.
TOLERANCE = 1e-9


@dataclass
class CellReferences:
    """The cells of the runs that count, by what they are values of."""

    # Of each value: its sheet and column, and the rows and values by repetition.
    _places: dict[RunKey, tuple[str, int, dict[str, tuple[int, float]]]] = field(
        default_factory=dict
    )

    def add(
        self, key: RunKey, repetition: str, sheet: str, row: int, column: int, value: float
    ) -> None:
        """A run's ``value`` is in ``row`` and ``column`` (from 0) of ``sheet``."""
        self._places.setdefault(key, (sheet, column, {}))[2][repetition] = (row, value)

    def cell(self, key: RunKey, repetition: str) -> str:
        """``J5``: the run with this ``repetition``, on its sheet."""
        _, column, rows = self._places[key]
        return xl_rowcol_to_cell(rows[repetition][0], column)

    def ranges(self, *keys: RunKey) -> str:
        """``'Redis'!J5:J7``; runs that are not adjacent in several ranges with commas."""
        parts = []
        for sheet, column, rows in (self._places[key] for key in keys):
            numbers = enumerate(row for row, _value in rows.values())
            # Adjacent rows are as far from their places in the list.
            for _, part in groupby(numbers, lambda item: item[1] - item[0]):
                cells = [xl_rowcol_to_cell(row, column) for _, row in part]
                parts.append(f"{quoted(sheet)}!{':'.join(dict.fromkeys((cells[0], cells[-1])))}")
        return ",".join(parts)

    def formula(self, statistic: Statistic, value: float) -> str:
        """The formula of a ``statistic``; "" if it does not give ``value``.

        A ratio is of the repetitions that both stores have, which may not be all of them.
        """
        name, function = FUNCTIONS[statistic.kind]
        parts, result = [], 1.0
        for keys in filter(None, (statistic.keys, statistic.base)):
            places = [self._places[key][2].values() for key in keys if key in self._places]
            numbers = [number for _row, number in chain.from_iterable(places)]
            if len(places) < len(keys) or (name == "GEOMEAN" and min(numbers) <= 0):
                return ""
            parts.append(f"{name}({self.ranges(*keys)})")
            result = function(numbers) if len(parts) == 1 else result / function(numbers)
        return "=" + "/".join(parts) if math.isclose(result, value, rel_tol=TOLERANCE) else ""
