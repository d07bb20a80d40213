"""A line of a forest plot inside a table: marks on a logarithmic axis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite, log

# One line is as wide as so many times its smallest ratio at most: else one store far from the
# others would leave these no room. What is beyond has an arrow at the end.
MOST_SPAN = 12.0
# At the ends, as a factor.
ROOM = 1.12
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
FEWEST_TICKS = 3


@dataclass(frozen=True)
class RatioAxis:
    """The ends of the axis, ratios without unit, around 1."""

    first: float
    last: float

    def place(self, ratio: float) -> float:
        """Return the place of a ratio from 0 (first) to 1 (last), at an end what is beyond it."""
        share = log(ratio / self.first) / log(self.last / self.first)
        return min(max(share, 0.0), 1.0)

    def has(self, ratio: float) -> bool:
        return self.first <= ratio <= self.last

    @property
    def ticks(self) -> list[float]:
        """Return round ratios on the axis, 1 among them."""
        shown = [tick for tick in TICKS if self.has(tick)]
        return shown if len(shown) >= FEWEST_TICKS else sorted({*shown, *self._fine()})

    def _fine(self) -> Iterable[float]:
        return (tick for tick in (0.7, 0.8, 0.9, 1.1, 1.25, 1.5) if self.has(tick))


@dataclass(frozen=True)
class Strip:
    """The marks of one line: all are ratios, None for what is not known.

    ``value`` has the interval ``low`` to ``high``; ``published`` is the source's, a hollow mark.
    Between 1/``floor`` and ``floor`` is the noise band. ``faint``: nothing is decided.
    ``labelled``: the line of the axis, which has the numbers of its ticks and no marks.
    """

    axis: RatioAxis
    value: float | None = None
    low: float | None = None
    high: float | None = None
    published: float | None = None
    floor: float = 1.0
    faint: bool = False
    labelled: bool = False

    @property
    def cut(self) -> bool:
        """Return whether a mark is beyond the axis, and an arrow."""
        marks = (self.value, self.published)
        return any(mark is not None and not self.axis.has(mark) for mark in marks)


def axis_of(ratios: Iterable[float], most: float = MOST_SPAN) -> RatioAxis:
    """Return the axis that shows 1 and all ``ratios``, or those near 1 if they are far apart.

    Its last ratio is at most so many times its first one.
    """
    known = [ratio for ratio in ratios if isfinite(ratio) and ratio > 0]
    first, last = min([1.0, *known]), max([1.0, *known])
    if last / first > most:
        # The side that reaches farther from 1 is cut.
        first, last = max(first, 1 / most), min(last, most)
        if last / first > most:
            share = log(most) / log(last / first)
            first, last = first**share, last**share
    return RatioAxis(first / ROOM, last * ROOM)
