"""The looks of stores and lines: colours, hatches, shapes and dashes of print, page and legends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kvstudy.language.current import _

if TYPE_CHECKING:
    import pandas as pd

    from kvstudy.analyse.run import Run
    from kvstudy.study.model import Study

DARK = "0.15"
# Hatches tell the stores apart in grey print, as Matplotlib calls them; the first is plain. Each
# with its lines in a square of six pixels. Those of circles come last: an SVG has hundreds of
# them for each bar, and is ten times as large.
HATCHES = {
    "": "",
    "////": "M-1,1l2,-2M0,6l6,-6M5,7l2,-2",
    "xxxx": "M0,6l6,-6M0,0l6,6",
    "----": "M0,3h6",
    "\\\\\\\\": "M-1,5l2,2M0,0l6,6M5,-1l2,2",
    "++++": "M0,3h6M3,0v6",
    "..": "M1.5,1.5h0.01M4.5,4.5h0.01",
    "oo": "M3,1.5a1.5,1.5 0 1 0 0.01,0",
}
# A place that has no value.
NOTHING = "////"
# Shapes of points, as Matplotlib calls them, each with its outline from -1 to 1.
SHAPES = {
    "o": "M1,0A1,1 0 1 1 -1,0A1,1 0 1 1 1,0Z",
    "s": "M-0.9,-0.9H0.9V0.9H-0.9Z",
    "D": "M0,-1.1L0.8,0L0,1.1L-0.8,0Z",
    "^": "M0,-1L1,0.8H-1Z",
    "v": "M0,1L1,-0.8H-1Z",
    "<": "M-1,0L0.8,-1V1Z",
    ">": "M1,0L-0.8,-1V1Z",
    "P": "M-0.35,-1H0.35V-0.35H1V0.35H0.35V1H-0.35V0.35H-1V-0.35H-0.35Z",
    "*": "M0,-1L0.24,-0.31L0.95,-0.31L0.36,0.12L0.59,0.81L0,0.38L-0.59,0.81L-0.36,0.12"
    "L-0.95,-0.31L-0.24,-0.31Z",
    "X": "M-0.9,-0.6L-0.6,-0.9L0,-0.3L0.6,-0.9L0.9,-0.6L0.3,0L0.9,0.6L0.6,0.9L0,0.3"
    "L-0.6,0.9L-0.9,0.6L-0.3,0Z",
    "|": "M-0.15,-1H0.15V1H-0.15Z",
}
SHAPES["x"] = SHAPES["X"]
MARKERS = "osD^vP*X"
# Dashes and gaps of lines in points; told apart in grey print too.
LINES = SOLID, DASHED, DOTTED, MIXED = (), (5, 1.5), (1.5, 1), (5, 1.5, 1, 1.5)


@dataclass(frozen=True)
class Style:
    """The style of a store or a line, and its legend entry; None means absent.

    What has a ``hatch`` is a filled area, ``hollow`` points are not filled.
    """

    title: str
    color: str
    hatch: str | None = None
    marker: str | None = None
    line: tuple[float, ...] | None = None
    store: str | None = None
    hollow: bool = False


# What is of no store: marks and texts, notes, lines and bands behind the values.
INK, NOTE = Style("", DARK), Style("", "0.35")
THIN, BEHIND = Style("", "0.6", line=SOLID), Style("", "0.9")


def styles(titles: dict[str, str], colors: dict[str, str]) -> dict[str, Style]:
    """The look of each store, in the study's order."""
    forms = ([*HATCHES], MARKERS, LINES)
    return {
        store: Style(title, colors[store], *(form[index % len(form)] for form in forms), store)
        for index, (store, title) in enumerate(titles.items())
    }


@dataclass(frozen=True)
class StyleSheet:
    """The names and colours in figures, the same in all figures of a study."""

    study: Study
    stores: dict[str, Style]

    @classmethod
    def of(cls, run: Run) -> StyleSheet:
        """Return the style sheet of the stores of a ``run``."""
        return cls(run.study, styles(run.titles, {n: s.color for n, s in run.stores.items()}))

    @property
    def titles(self) -> dict[str, str]:
        """The stores as people read them, by their names."""
        return {name: look.title for name, look in self.stores.items()}

    def legend(self, table: pd.DataFrame, *forms: str) -> list[Style]:
        """The looks of the stores in ``table`` with these ``forms`` (hatch, marker, line) alone."""
        others = dict.fromkeys({"hatch", "marker", "line"} - {*forms})
        present = set(table["store"])
        return [replace(look, **others) for store, look in self.stores.items() if store in present]

    @property
    def published(self) -> str:
        """Return the label of published values, with the source's authors if there is a source."""
        source = self.study.source
        return (
            _("Published {}").format(f"({source.author}, {source.year})" if source else "").strip()
        )
