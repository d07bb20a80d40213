"""Of values measured at several sizes, those that a report shows one of.

A *set* are the records, operations and threads of a cell; ``study.cells.shown`` names the
one of each workload that tables and figures show which have a value per store.
"""

from __future__ import annotations

from collections.abc import Mapping

from kvstudy.libraries import pd
from kvstudy.study.base import SIZES
from kvstudy.study.combinations import shown_combination
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN


def only(frame: pd.DataFrame, shown: Mapping[str, str]) -> pd.DataFrame:
    """The rows of ``frame`` (columns workload, parameters) with the shown parameters.

    The mean of the workloads is of those that have one set; its rows stay.
    """
    wanted = frame["workload"].map(shown)
    return frame[(frame["parameters"] == wanted) | (frame["workload"] == MEAN)]


def published_only(published: pd.DataFrame, study: Study) -> pd.DataFrame:
    """The published values (``read_published``) of the sizes that are shown.

    A value without a size is one of all sizes.
    """
    wanted = {use.name: shown_combination(study, use) for use in study.workloads}
    keep = pd.Series(True, index=published.index)
    for size in SIZES:
        numbers = published["workload"].map(
            {name: float(getattr(one, size)) for name, one in wanted.items()}
        )
        keep &= published[size].isna() | numbers.isna() | (published[size] == numbers)
    return published[keep]
