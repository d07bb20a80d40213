"""The analysis of a run: statistics applied to its tidy tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kvstudy.analyse.tidy.files import CsvTable

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class AnalysisTable(CsvTable):
    """A table of a run's analysis; ``files.TABLES`` has them all.

    ``make`` gives its rows from the ``analyse.run.Run`` and the tables that are before it there.
    """

    step: str = "analyse"
    make: Callable[[object, dict[str, pd.DataFrame]], pd.DataFrame] | None = None
