"""The values of a run at all of its sizes, along lines over one size and as grids of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from kvstudy.analyse.tidy.files import SETTING
from kvstudy.analyse.tidy.results import (
    RepetitionStatus,
    Results,
    of_sizes,
    only,
    published_only,
    read_published,
    state_of,
)
from kvstudy.analyse.tidy.summary import shown_mean
from kvstudy.libraries import pd
from kvstudy.study.base import ALL, MEASURED, PUBLISHED, SIZES
from kvstudy.study.cells import Cell, by_combination, shown
from kvstudy.study.combinations import Combination, Series, threads_of
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.units import converted

COLUMNS = [
    *["side", "store", "workload", "parameters", *SIZES, "operation", "metric", "unit"],
    *["value", "low", "high", "n", "note", "inconsistent"],
]


@dataclass(frozen=True)
class Swept:
    """All of ``summary.csv``, ``cells.csv`` and ``published.csv`` of a run of ``study``."""

    study: Study
    scale: float
    summary: pd.DataFrame
    cells: pd.DataFrame
    published: pd.DataFrame | None

    def along(self, line: Series, operation: str, metric: str, plain: bool = False) -> pd.DataFrame:
        """The values of the line's points, measured ones and then those published.

        ``operation`` may be ``ALL``, and means ``plain`` (see ``values``). Columns: side (measured,
        published), store, workload, parameters (of the cell), records, operations, threads (as the
        study gives them), operation, metric, unit, value (mean over the repetitions), low, high
        (range of the runs), n, note (why there is no value), inconsistent (yes: by the audit of the
        source). Points without a published value have no such row.
        """
        cells = self._cells_of[line.workload]
        points = pd.DataFrame(
            [
                [*(getattr(point, size) for size in SIZES), cells[point].parameters]
                for point in line.points
            ],
            columns=[*SIZES, "parameters"],
        ).assign(store=line.store, workload=line.workload, operation=operation, metric=metric)
        values = self.values(metric, operation, plain=plain)
        measured = points.merge(values, how="left", on=SETTING)
        missing = measured["n"].isna()
        measured = measured.assign(side=MEASURED, inconsistent="no", note="")
        places = measured.loc[missing, SETTING].itertuples(index=False)
        measured.loc[missing, "note"] = [self.label(*place) for place in places]
        measured = measured.fillna({"unit": "", "n": 0}).astype({"n": int})
        # At a small scale, several points are one cell.
        names = ["store", "workload", "operation", "metric"]
        published = points.merge(self._published, on=names, suffixes=("", "_published"))
        sizes = {size: published[f"{size}_published"] for size in SIZES}
        published = published[of_sizes(published, sizes)]
        # What a source gives for no certain size is one value, not one of each point.
        over = [size for size in SIZES if points[size].nunique() > 1]
        certain = published[[f"{size}_published" for size in over]].notna().all(axis=1)
        headline = shown(self.study, self.scale)[line.workload]
        published = published[certain | (published["parameters"] == headline)]
        inconsistent = published["inconsistent"].map({True: "yes", False: "no"})
        published = published.assign(side=PUBLISHED, inconsistent=inconsistent, n=0, note="")
        published = published.assign(low=math.nan, high=math.nan)
        return pd.concat([measured, published], ignore_index=True)[COLUMNS]

    def shown(self, repetitions: Callable[[], pd.DataFrame]) -> Results:
        """The values of the sizes that are shown; ``repetitions`` as for ``Results``."""
        one = shown(self.study, self.scale)
        return Results(
            only(self.summary, one),
            only(self.cells, one),
            None if self.published is None else published_only(self.published, self.study),
            lambda: only(repetitions(), one),
        )

    def operations(self, workload: str) -> list[str]:
        """The single operations that have values, measured or published."""
        frames = [self.summary] + ([] if self.published is None else [self.published])
        names = [
            name
            for frame in frames
            for name in frame.loc[frame["workload"] == workload, "operation"].unique()
        ]
        return list(dict.fromkeys(name for name in names if name != "overall" and "+" not in name))

    def grid(self, workload: str) -> pd.DataFrame:
        """The sizes of the workload but for those with threads that are under ``also`` only.

        Columns as of ``sizes``.
        """
        every = sizes(self.study, self.scale)
        threads = threads_of(self.study, self.study.workload(workload))
        return every[(every["workload"] == workload) & every["threads"].isin(threads)]

    def values(
        self, metric: str, operation: str, unit: str | None = None, plain: bool = False
    ) -> pd.DataFrame:
        """Values of all settings: store, workload, parameters, n, value, low, high, unit.

        A value is the ``shown_mean``, or the ``plain`` one. In ``unit``, if one is given; ``low``
        and ``high`` are the range of the ``n`` runs. The ``operation`` ``ALL`` is, of latencies,
        the mean over all single operations. It is weighted by how many there were of each kind, and
        has no range; the reads and updates of read-modify-writes count by themselves.
        """
        if operation == ALL:
            operations = self._all_operations(metric)
        else:
            rows = self.summary
            rows = rows[(rows["operation"] == operation) & (rows["metric"] == metric)]
            rows = rows.assign(value=rows["mean"] if plain else shown_mean(rows))
            names = {"min": "low", "max": "high"}
            operations = rows.rename(columns=names)[
                [*SETTING, "n", "value", *names.values(), "unit"]
            ]
        if unit is None:
            return operations
        # The models check that ``unit`` fits.
        factor = (
            operations["unit"].map(lambda from_unit: converted(1, from_unit, unit)).astype(float)
        )
        scaled = {name: operations[name] * factor for name in ("value", "low", "high")}
        return operations.assign(**scaled, unit=unit)

    @cached_property
    def published_values(self) -> pd.DataFrame:
        """The published values of each setting: those of its sizes, and of no certain size.

        Columns: store, workload, parameters, operation, metric, unit, value, inconsistent. Those of
        the mean of the workloads have the parameters "all".
        """
        planned = [
            [workload, cell.parameters, *(getattr(one, size) for size in SIZES)]
            for workload, cells in self._cells_of.items()
            for one, cell in cells.items()
        ]
        planned.append([MEAN, "all", *[math.nan] * len(SIZES)])
        sized = pd.DataFrame(planned, columns=["workload", "parameters", *SIZES])
        rows = self._published.merge(sized, on="workload", suffixes=("", "_planned"))
        rows = rows[of_sizes(rows, {size: rows[f"{size}_planned"] for size in SIZES})]
        keys = [*SETTING, "operation", "metric"]
        return rows.drop_duplicates(keys, keep="last")[[*keys, "unit", "value", "inconsistent"]]

    def published_elsewhere(self, workload: str) -> pd.DataFrame:
        """The sizes at which the source published values and the study has no cells: ``SIZES``.

        NaN for a size that the source does not tell.
        """
        rows = self._published
        rows = rows[(rows["workload"] == workload) & rows["store"].isin(self.study.store_names)]
        fits = pd.Series(False, index=rows.index)
        for point in self._cells_of[workload]:
            numbers = ([getattr(point, size)] * len(rows) for size in SIZES)
            columns = (pd.Series(values, rows.index, dtype=float) for values in numbers)
            fits |= of_sizes(rows, dict(zip(SIZES, columns, strict=True)))
        return rows.loc[~fits, list(SIZES)].drop_duplicates().sort_values(list(SIZES))

    def reason(self, store: str, workload: str, parameters: str) -> str:
        """Return the full reason why the setting has no value."""
        return "; ".join(self._state(store, workload, parameters).problems) or "not measured"

    def label(self, store: str, workload: str, parameters: str) -> str:
        """The same in a word: not measured, failed or invalid."""
        return self._state(store, workload, parameters).label or "not measured"

    def _state(self, store: str, workload: str, parameters: str) -> RepetitionStatus:
        setting = (self.cells[SETTING] == [store, workload, parameters]).all(axis=1)
        return state_of(self.cells[setting])

    @cached_property
    def _published(self) -> pd.DataFrame:
        rows = read_published(None) if self.published is None else self.published
        return rows.dropna(subset="value")

    @cached_property
    def _cells_of(self) -> dict[str, dict[Combination, Cell]]:
        study = self.study
        return {use.name: by_combination(study, use, self.scale) for use in study.workloads}

    def _all_operations(self, metric: str) -> pd.DataFrame:
        rows = self.summary
        single = ~rows["operation"].isin(["overall", "read-modify-write"])
        rows = rows[single & ~rows["operation"].astype(str).str.contains("+", regex=False)]
        keys = [*SETTING, "operation"]
        means = rows[rows["metric"] == metric][[*keys, "mean", "unit", "n"]]
        counts = rows[rows["metric"] == "operations"][[*keys, "mean"]]
        both = means.merge(counts.rename(columns={"mean": "count"}), on=keys)
        both["sum"] = both["mean"] * both["count"]
        sums = both.groupby(SETTING, sort=False).agg(
            sum=("sum", "sum"), count=("count", "sum"), unit=("unit", "first"), n=("n", "min")
        )
        sums = sums[sums["count"] > 0].reset_index()
        sums = sums.assign(value=sums["sum"] / sums["count"], low=math.nan, high=math.nan)
        return sums[[*SETTING, "n", "value", "low", "high", "unit"]]


def sizes(study: Study, scale: float = 1.0) -> pd.DataFrame:
    """One row per workload and parameters, in the study's order.

    Columns: workload, parameters (their name in all files), records, operations (0 where
    there is no run phase), threads.
    """
    columns = ["workload", "parameters", *SIZES]
    rows = []
    for use in study.workloads:
        # Cells that differ in nothing but the scale's floors have one name.
        cells = {cell.parameters: cell for cell in by_combination(study, use, scale).values()}
        numbers = [[getattr(cell, name) for name in columns] for cell in cells.values()]
        rows += sorted(numbers, key=lambda row: row[2:])
    return pd.DataFrame(rows, columns=columns)
