"""The base of all kinds of figures, and reading their CSV files."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from kvstudy.language.reasons import sentence
from kvstudy.layout.looks import StyleSheet
from kvstudy.layout.plot import Plot
from kvstudy.libraries import pd
from kvstudy.study.exhibits import AnyFigure

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run

# Columns with words; all others have numbers.
WORDS = [
    *["panel", "group", "store", "unit", "broken", "note", "workload", "parameters", "repetition"],
    *["operation", "strip", "verdict", "side", "metric", "saturated", "one", "other", "decision"],
    *["in_floor", "origin", "time", "runs", "difference"],
]


class DrawnFigure(AnyFigure):
    """A figure: its rows, and what is drawn of them.

    The rows come as ``read_figure`` gives them, with notes in the reader's language.
    """

    # The texts of ``hover``, each with its label in English.
    texts: ClassVar[dict[str, str]] = {}

    def rows(self, run: Run) -> pd.DataFrame:
        """Return the figure's data for a run: its CSV, and everything that is drawn."""
        raise NotImplementedError

    def published_rows(self, run: Run) -> pd.DataFrame:
        """Return the figure's data for a ``run`` with published values only."""
        return pd.DataFrame()

    def nothing(self, table: pd.DataFrame) -> str:
        """Return the text in place of an empty ``table``; "" if there is something to show."""
        return ""

    def plot(self, table: pd.DataFrame, styles: StyleSheet) -> Plot:
        """Return what is drawn of a ``table`` that is not empty."""
        raise NotImplementedError

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        """Return the ``title`` and the ``texts`` of a ``row`` of a panel."""
        raise NotImplementedError


def read_figure(path: Path) -> pd.DataFrame:
    """Read a figure's CSV: exact numbers, and words, which may be empty."""
    # Only what is empty has no value: a workload may be called null.
    words = dict.fromkeys(WORDS, str)
    table = pd.read_csv(path, dtype=words, keep_default_na=False, na_values=[""])
    columns = [name for name in WORDS if name in table]
    return table.fillna(dict.fromkeys(columns, "")).astype(dict.fromkeys(columns, str))


def plot_of(figure: DrawnFigure, table: pd.DataFrame, looks: StyleSheet) -> Plot:
    """Return what both forms show of a ``table``, with notes in the reader's language.

    Where there is nothing to show, it is a plot without panels.
    """
    if words := figure.nothing(table):
        return Plot(note=words, caption=figure.caption)
    if "note" in table:
        table = table.assign(note=table["note"].map(sentence))
    return replace(
        figure.plot(table, looks),
        caption=figure.caption,
        workload=getattr(figure, "workload", None),
        texts=figure.texts,
        hover=partial(figure.hover, styles=looks),
    )
