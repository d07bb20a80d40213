"""From measurements to values over repetitions.

What is averaged: for each store, workload, parameters, operation and metric the plain mean over
repetitions, with n, the standard deviation (n - 1), the coefficient of variation (sd / mean), the
smallest and the largest value. A percentile is averaged like any other value, as the thesis did;
the report names it so. Rates (ops/s) have their geometric mean too, which is what is shown of them
(``shown_mean``) but where a table of the source is reproduced.

Which cells count: those that are measured and not invalid. An invalid cell (more failed operations
than the study expects) describes another mixture of operations; tables and figures show it with
its reason. A cell that is missing is not in n, and nothing takes its place.

Which phase counts: the run phase, or the load phase where a workload has no run phase
(insert-only).

The combined row: a workload with several operations has one more, named like ``read+update``. In
each repetition its latencies are the plain mean of the operations' values, not weighted by how many
operations there were (the thesis's definition), and its counts are their sum. These values of the
repetitions are then summarised like all others. A repetition that lacks the value of one operation
has no combined value. read-modify-write is left out: its reads and updates have rows of their own
and would count twice.

The mean of the workloads: one more workload, named ``mean``, with the mean of a repetition's
throughputs over all workloads, of the parameters that are shown of each. It exists where the
repetition has a value for each. It is the plain mean in a study with a source, next to whose values
and claims it stands, and the geometric one in others (``mean_over_workloads``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kvstudy.analyse.tidy.files import CELL, SETTING, SUMMARY, SUMMARY_KEYS, counting, path_of
from kvstudy.errors import DataError
from kvstudy.libraries import pd
from kvstudy.stats.intervals import geometric_mean
from kvstudy.study.cells import SHORTEST_SECONDS
from kvstudy.study.metrics import PRINTED, RATE_UNIT
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

OPERATIONS = ["overall", "read", "update", "insert", "scan", "read-modify-write"]
COUNTS = ["operations", "failed"]
# Of pandas, or a function of a series.
Mean = str | Callable[..., float]


def summarise(
    measurements: pd.DataFrame,
    cells: pd.DataFrame,
    stores: list[str],
    workloads: list[str],
    shown: Mapping[str, str] | None = None,
    mean: Mean = "mean",
) -> pd.DataFrame:
    """Summarise ``measurements`` over repetitions.

    Rows are of ``stores`` only, and in the order of them and of ``workloads`` (the study's).
    Columns as of ``SUMMARY``; sd and cv are NaN for n = 1, cv also for a mean of 0, the geometric
    mean for what is no rate.
    Raises DataError when measurements and cells contradict each other.
    """
    values = per_repetition(measurements, cells, workloads, shown, mean)
    values = values[values["store"].isin(stores)]
    groups = values.groupby(SUMMARY_KEYS, sort=False)["value"]
    summary = groups.agg(n="count", mean="mean", sd="std", min="min", max="max").reset_index()
    rates = values[values["unit"] == RATE_UNIT].groupby(SUMMARY_KEYS, sort=False)["value"]
    means = rates.agg(geometric_mean).rename("geometric").reset_index()
    summary = summary.merge(means, how="left", on=SUMMARY_KEYS)
    summary["cv"] = summary["sd"] / summary["mean"].where(summary["mean"] != 0)
    return _ordered(summary[SUMMARY.columns], stores, workloads)


def per_repetition(
    measurements: pd.DataFrame,
    cells: pd.DataFrame,
    workloads: list[str],
    shown: Mapping[str, str] | None = None,
    mean: Mean = "mean",
) -> pd.DataFrame:
    """The values that count, one per repetition, with the combined rows and the mean's.

    ``shown`` are the parameters of each workload that the mean is of; left out, there is
    a ``mean`` where every workload has one set of them. Columns are those of ``measurements``.
    Raises as ``summarise``.
    """
    _check(measurements, cells)
    values = measurements.merge(counting(cells)[CELL], on=CELL)
    values = values[values["phase"] == values["workload"].map(measured_phases(measurements))]
    means = over_workloads(throughputs(values), workloads, shown, mean)
    return pd.concat([values, _combined(values), means], ignore_index=True).dropna(subset="value")


def shown_mean(summary: pd.DataFrame) -> pd.Series:
    """The mean of each row of ``summary`` that fits it: the geometric one of rates, else the plain.

    A rate is work by time, and rates are compared by ratios: of geometric means, the ratio is the
    mean of the ratios.
    """
    return summary["geometric"].fillna(summary["mean"])


def mean_over_workloads(study: Study) -> Mean:
    """Return how throughputs are averaged over workloads."""
    return "mean" if study.source else geometric_mean


def short_settings(values: pd.DataFrame, column: str) -> set[tuple[str, str, str]]:
    """Store, workload and parameters of runs below ``SHORTEST_SECONDS`` in the mean.

    ``column`` of ``values`` has their run times in ms, in one row or in several of a setting.
    """
    times = values.query("operation == 'overall' and metric == 'runtime'")
    means = times.groupby(SETTING, observed=True)[column].mean()
    return set(means.index[means < 1000 * SHORTEST_SECONDS])


def throughputs(values: pd.DataFrame) -> pd.DataFrame:
    """The rows of ``values`` that are the throughput of a whole phase."""
    return values[(values["operation"] == "overall") & (values["metric"] == "throughput")]


def over_workloads(
    rows: pd.DataFrame,
    workloads: list[str],
    shown: Mapping[str, str] | None,
    mean: Mean = "mean",
) -> pd.DataFrame:
    """The ``mean`` over all workloads, one per store and repetition.

    ``rows`` are of one metric, one for each cell and parameters.
    """
    if shown is not None:
        rows = rows[rows["parameters"] == rows["workload"].map(shown)]
    sets = rows.groupby("workload")["parameters"].nunique()
    if len(workloads) < 2 or (sets > 1).any():
        return rows.head(0)
    groups = rows.groupby(["store", "repetition", "metric", "unit"], sort=False)["value"]
    means = groups.agg(n="count", value=mean).reset_index()
    means = means[means["n"] == len(workloads)]
    return means.assign(workload=MEAN, parameters="all", phase="all", operation="overall")[
        rows.columns
    ]


def _check(measurements: pd.DataFrame, cells: pd.DataFrame) -> None:
    value = [*CELL, "phase", "operation", "metric"]
    both = cells[[*CELL, "status"]].merge(
        measurements[CELL].drop_duplicates(), on=CELL, how="outer", indicator=True
    )
    unplanned = both["_merge"] == "right_only"
    empty = (both["status"] == "measured") & (both["_merge"] == "left_only")
    twice = "is twice: {row.phase} {row.operation} {row.metric}"
    for rows, problem in (
        (measurements[measurements.duplicated(value)], twice),
        (both[unplanned], "is not among the planned cells, but has measurements"),
        (both[empty], "is measured, but has no measurements"),
    ):
        for row in rows.head(1).itertuples():
            words = problem.format(row=row)
            raise DataError(f"{path_of(row)} {words}; parse the raw logs again")


def measured_phases(measurements: pd.DataFrame) -> dict[str, str]:
    """Return the measured phase of each workload."""
    with_run = set(measurements.loc[measurements["phase"] == "run", "workload"].unique())
    names = measurements["workload"].unique()
    return {name: "run" if name in with_run else "load" for name in names}


def _combined(values: pd.DataFrame) -> pd.DataFrame:
    singles = values[~values["operation"].isin(["overall", "read-modify-write"])]
    combined = []
    for _, rows in singles.groupby(["store", "workload", "parameters"], sort=False):
        operations = sorted(rows["operation"].unique(), key=operation_rank)
        if len(operations) < 2:
            continue
        groups = rows.groupby([*CELL, "phase", "metric", "unit"], sort=False)["value"]
        both = groups.agg(n="count", mean="mean", sum="sum").reset_index()
        both = both[both["n"] == len(operations)]
        both["value"] = both["sum"].where(both["metric"].isin(COUNTS), both["mean"])
        combined.append(both.assign(operation="+".join(operations))[values.columns])
    return pd.concat(combined) if combined else values.head(0)


def operation_rank(operation: str) -> tuple[bool, int]:
    """Return the position of the operation among others."""
    known = operation in OPERATIONS
    return "+" in operation, OPERATIONS.index(operation) if known else len(OPERATIONS)


def _ordered(summary: pd.DataFrame, stores: list[str], workloads: list[str]) -> pd.DataFrame:
    def rank(column: pd.Series) -> pd.Series:
        if column.name == "operation":
            return column.map(operation_rank)
        order = {"store": stores, "workload": workloads, "metric": PRINTED}.get(column.name)
        if order is None:
            return column
        return column.map(lambda name: order.index(name) if name in order else len(order))

    keys = ["workload", "parameters", "store", "operation", "metric"]
    return summary.sort_values(keys, key=rank, kind="stable").reset_index(drop=True)
