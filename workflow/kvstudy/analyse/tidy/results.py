"""Measured and published values of one run, for tables and figures.

A *set* are the records, operations and threads of a cell. Of values measured at several, those
at the headline sizes (``study.cells.shown``) are in tables and figures with one value per store.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from kvstudy.analyse.tidy.files import counting
from kvstudy.analyse.tidy.summary import shown_mean
from kvstudy.language.current import N_
from kvstudy.language.reasons import reason
from kvstudy.libraries import pd
from kvstudy.study.base import SIZES
from kvstudy.study.combinations import shown_combination
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN
from kvstudy.study.published import COLUMNS, PRINTED, read_rows
from kvstudy.study.units import converted

# Whether the value is inconsistent with others of its source; ``audit.files`` shows, no file does.
INCONSISTENT = "inconsistent"
NUMBERS = ["value", *SIZES]
# The rate of all operations together.
THROUGHPUT = ("overall", "throughput")


@dataclass(frozen=True)
class RepetitionStatus:
    """The status of the repetitions of a store under a workload.

    ``label`` is "" when at least one repetition counts, else "not measured",
    "failed" or "invalid". ``problems`` has each reason once (``language.reasons``), with the
    repetitions that it concerns.
    """

    planned: int
    counted: int
    label: str
    problems: tuple[str, ...]


class Results:
    """Values of one run. ``published`` is None where the study has no source.

    ``repetitions`` gives ``summary.per_repetition``; it is called for single runs only, since not
    every step has their table.
    """

    def __init__(
        self,
        summary: pd.DataFrame,
        cells: pd.DataFrame,
        published: pd.DataFrame | None,
        repetitions: Callable[[], pd.DataFrame] | None = None,
    ) -> None:
        # Tables ask for each value.
        self.state = cache(
            lambda store, workload: state_of(
                cells[(cells["store"] == store) & (cells["workload"] == workload)]
            )
        )
        self._repetitions = cache(repetitions) if repetitions else None
        # Rows of the tables.
        self._measured: dict[tuple, Any] = {}
        self._published: dict[tuple, Any] = {}
        # In the order in which they are found.
        self._operations: dict[str, dict[str, None]] = defaultdict(dict)
        for row in summary.assign(shown=shown_mean(summary)).astype({"n": int}).itertuples():
            self._measured[row.store, row.workload, row.operation, row.metric] = row
            self._operations[row.workload][row.operation] = None
        self.has_published = published is not None and len(published) > 0
        for row in published.dropna(subset="value").itertuples() if self.has_published else ():
            self._published[row.store, row.workload, row.operation, row.metric] = row
            self._operations[row.workload][row.operation] = None

    def measured(self, store: str, workload: str, operation: str, metric: str) -> Any:
        """The row of ``summary.csv``, or None, and in ``shown`` the mean that fits it."""
        return self._measured.get((store, workload, operation, metric))

    def runs(self, store: str, workload: str, operation: str, metric: str) -> dict[str, float]:
        """The value of each repetition that counts."""
        return self._runs.get((store, workload, operation, metric), {})

    @cached_property
    def _runs(self) -> dict[tuple, dict[str, float]]:
        runs: dict[tuple, dict[str, float]] = defaultdict(dict)
        rows = self._repetitions()
        columns = ["store", "workload", "operation", "metric", "repetition", "value"]
        # As lists: a column of Arrow's texts takes ten times as long row by row.
        lists = (rows[name].tolist() for name in columns)
        for *key, repetition, value in zip(*lists, strict=True):
            runs[tuple(key)][repetition] = value
        return runs

    def failed_share(self, store: str, workload: str, operation: str) -> float | None:
        """Failed operations by all of that kind (0 to 1) over all repetitions that count.

        ``MEAN`` as workload takes all workloads together. None when there are none.
        """
        rows = self._repetitions().query("store == @store and operation == @operation")
        if workload != MEAN:
            rows = rows[rows["workload"] == workload]
        sums = rows.groupby("metric")["value"].sum()
        total = sums.get("operations", 0) + sums.get("failed", 0)
        return sums.get("failed", 0) / total if total else None

    def published(
        self, store: str, workload: str, operation: str, metric: str, unit: str | None = None
    ) -> float | None:
        """The published value, in ``unit`` if one is given, or None."""
        row = self._published.get((store, workload, operation, metric))
        return row and converted(row.value, row.unit, unit or row.unit)

    def inconsistent(self, store: str, workload: str, operation: str, metric: str) -> bool:
        """Return whether the audit of the source finds the published value inconsistent."""
        row = self._published.get((store, workload, operation, metric))
        return row is not None and row.inconsistent

    def published_ratio(self, one: str, other: str, workload: str) -> tuple[float, bool]:
        """The published throughput of ``one`` relative to ``other``; NaN where one has none.

        With it, whether the audit of the source finds one of the two values inconsistent.
        """
        rates = [self.published(store, workload, *THROUGHPUT) for store in (one, other)]
        if not all(rates):
            return math.nan, False
        inconsistent = any(
            self.inconsistent(store, workload, *THROUGHPUT) for store in (one, other)
        )
        return rates[0] / rates[1], inconsistent

    def of_another_size(self, workload: str) -> bool:
        """Return whether the published number of operations differs from all measured ones."""
        key = (workload, self.all_operations(workload) or "", "operations")
        stores = {store for store, *_of in self._published}
        counts = [(self.measured(store, *key), self.published(store, *key)) for store in stores]
        known = [here.mean / published for here, published in counts if here and published]
        return bool(known) and all(abs(ratio - 1) > 0.01 for ratio in known)

    def operations(self, workload: str) -> list[str]:
        """The workload's operations without ``overall``, the combined one last."""
        names = [name for name in self._operations.get(workload, ()) if name != "overall"]
        return sorted(names, key=lambda name: "+" in name)

    def all_operations(self, workload: str) -> str | None:
        """The combined operation, or the only one; None when nothing is known."""
        operations = self.operations(workload)
        return operations[-1] if operations else None


def state_of(rows: pd.DataFrame) -> RepetitionStatus:
    """Return the status of the planned repetitions in the ``rows`` of ``cells.csv``."""
    counted = counting(rows)
    if len(counted):
        label = ""
    elif (rows["status"] == "measured").any():
        label = N_("invalid")
    elif (rows["status"] == "failed").any():
        label = N_("failed")
    else:
        label = "not measured"
    reasons: dict[str, list[str]] = {} if len(rows) else {"not-planned": []}
    for row in rows.drop(counted.index).itertuples():
        why = row.reason.rstrip(".") or row.status
        if row.status == "measured":
            why = reason("invalid", why=row.invalid.rstrip("."))
        reasons.setdefault(why, []).append(row.repetition)
    problems = []
    for why, repetitions in reasons.items():
        if len(repetitions) < len(rows):
            why = reason("of-repetitions", why=why, repetitions=", ".join(repetitions))
        problems.append(why)
    return RepetitionStatus(len(rows), len(counted), label, tuple(problems))


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
    shown = {use.name: shown_combination(study, use) for use in study.workloads}
    sizes = {
        size: published["workload"].map({name: getattr(one, size) for name, one in shown.items()})
        for size in SIZES
    }
    return published[of_sizes(published, sizes)]


def of_sizes(published: pd.DataFrame, sizes: Mapping[str, pd.Series]) -> pd.Series:
    """Return a mask of values with the ``sizes`` in the same row, where both are known."""
    fits = pd.Series(True, index=published.index)
    for size, numbers in sizes.items():
        fits &= published[size].isna() | numbers.isna() | (published[size] == numbers)
    return fits


def read_published(path: Path | None) -> pd.DataFrame:
    """Read the published values; an empty value is one that the source left out.

    None of a source that printed no values.

    Units are those of ``measurements.csv``: ops/s, ms (run time), us (latency); and % for
    ``throughput_change`` (a store's against a comparison table's baseline) and
    ``failed_share`` (failed operations by all of that kind); and places, 1 is best, for
    ``throughput_rank``. The workload ``mean`` is the
    mean of all workloads. Columns are ``COLUMNS``, records, operations and threads (NaN: the
    value is of no certain size), printed ("" where the source prints the value itself) and
    inconsistent (False). Raises KvstudyError as ``read_rows`` does.
    """
    rows = read_rows(path) if path else []
    frame = pd.DataFrame(rows, columns=[*COLUMNS, *SIZES, PRINTED])
    numbers = {name: pd.to_numeric(frame[name].replace("", None)) for name in NUMBERS}
    frame = frame.assign(**numbers).astype(dict.fromkeys(NUMBERS, float))
    return frame.assign(**{INCONSISTENT: False})


def over_records(published: pd.DataFrame | None, workload: str) -> dict[tuple, tuple[float, str]]:
    """Values of ``workload`` by (store, operation, metric, records), each with its printed form.

    Also those that the source leaves empty, as NaN. A value without records is not among them.
    """
    if published is None:
        return {}
    rows = published[(published["workload"] == workload) & published["records"].notna()]
    return {
        (row.store, row.operation, row.metric, int(row.records)): (row.value, row.printed)
        for row in rows.itertuples()
    }
