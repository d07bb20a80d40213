"""Numbers of axes in the language of the figure."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from kvstudy.language.locale import decimal, decimal_mark


class Translated(ScalarFormatter):
    """Matplotlib's own numbers with the decimal mark of the language.

    Matplotlib's option for that needs the operating system to have the language.
    """

    def __call__(self, value: float, position: int | None = None) -> str:
        return decimal(super().__call__(value, position))


def with_decimal_mark(figure: Figure) -> None:
    """Give the language's decimal mark to the axes whose numbers Matplotlib writes itself."""
    if decimal_mark() == ".":
        return
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            if type(axis.get_major_formatter()) is ScalarFormatter:
                axis.set_major_formatter(Translated())
