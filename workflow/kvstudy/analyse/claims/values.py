"""The values that claims are asked of: those measured here, and those of the source."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from kvstudy.analyse.audit.files import misfits
from kvstudy.analyse.claims.selection import OF_MEAN, Operand, ParameterGrid, ParameterSet
from kvstudy.analyse.claims.verdicts import Verdict
from kvstudy.analyse.findings.pairs import floor_of
from kvstudy.analyse.findings.spread import Spread, level_of
from kvstudy.analyse.tidy.files import CELL, SETTING, counting
from kvstudy.analyse.tidy.probes import records_of, updating
from kvstudy.analyse.tidy.summary import short_settings, throughputs
from kvstudy.language.reasons import reason
from kvstudy.libraries import np, pd
from kvstudy.stats.intervals import LEVEL, Interval, error_rate, geometric_mean, trimmed_mean
from kvstudy.study.base import SIZES
from kvstudy.study.controls import is_compared
from kvstudy.study.parts import MEAN

Runs = dict[str, float]
# What depends on how many operations there are.
EXTREMES = ("latency_min", "latency_max")
# Store, workload, sizes (a slug, or the numbers of a published value).
Setting = tuple[str, str, object]
# Operation and metric.
Which = tuple[str, str]


class UnknownValue(Exception):
    """There is no such value; ``verdict`` and ``reason`` say what follows from that."""

    def __init__(self, verdict: Verdict, reason: str) -> None:
        super().__init__(reason)
        self.verdict, self.reason = verdict, reason


@dataclass(eq=False)
class Values:
    """Values by setting, operation and metric: one number per repetition.

    ``why`` shows what became of the cells of a setting that has none. ``paired`` is false for
    imported logs, whose repetitions only have the same number. ``in_rounds`` are settings whose
    runs are rounds inside a cell, which have no counterpart in another cell. ``client_bound`` are
    settings, as are ``short``: those whose cells take less than ``SHORTEST_SECONDS`` in the mean,
    and means over such ones.
    ``averaged`` are the workloads, each with its slug, that a mean over workloads is of, which is
    ``plain`` or geometric; intervals have the ``level``.
    ``floor`` is the noise floor, where it is known. Of a source,
    ``inconsistent`` are (setting, operation, metric) whose values its audit finds inconsistent, and
    ``misfits`` rows of audit.csv that do not fit, by the statement that makes them, the gravest of
    each. ``other_sizes`` are stores and workloads whose cells have another size than the workload's
    others. ``updating`` are workloads whose updates change one field of a record, ``records`` what
    becomes of a store's records then, where that is known.
    """

    runs_of: dict[Setting, dict[Which, Runs]]
    why: dict[Setting, str] = field(default_factory=dict)
    paired: bool = True
    in_rounds: set[Setting] = field(default_factory=set)
    client_bound: set[Setting] = field(default_factory=set)
    short: set[Setting] = field(default_factory=set)
    averaged: tuple[tuple[str, str], ...] = ()
    plain: bool = True
    level: float = LEVEL
    floor: float | None = None
    other_sizes: set[tuple[str, str]] = field(default_factory=set)
    updating: set[str] = field(default_factory=set)
    records: dict[str, str] = field(default_factory=dict)
    by_slug: bool = True
    inconsistent: set[tuple[Setting, str, str]] = field(default_factory=set)
    misfits: dict[str, Mapping[str, object]] = field(default_factory=dict)

    def doubts(self, operand: Operand) -> bool:
        """Return whether the audit of the source finds the operand's value inconsistent."""
        setting = self.setting(operand)
        operation = self._operation(self.runs_of.get(setting, {}), operand.operation)
        return (setting, operation, operand.metric) in self.inconsistent

    def misfit(self, statement: str, workloads: set[str]) -> Mapping[str, object] | None:
        """Return the misfit of ``statement`` (J4/1), as a whole or for one of the workloads."""
        names = {statement, *(f"{statement}/{workload}" for workload in workloads)}
        # The gravest is first.
        return next((row for name, row in self.misfits.items() if name in names), None)

    def setting(self, operand: Operand, sizes: ParameterSet | None = None) -> Setting:
        """Return the setting of the operand's values, for its ``sizes`` or its best ones."""
        if operand.workload == MEAN:
            return operand.store, MEAN, OF_MEAN.slug
        sizes = sizes or self.best(operand)
        numbers = tuple(getattr(sizes, size) for size in SIZES)
        return operand.store, operand.workload, sizes.slug if self.by_slug else numbers

    def best(self, operand: Operand) -> ParameterSet:
        """The parameter set of the operand: the one, or the best that has values."""
        if len(operand.candidates) == 1:
            return operand.candidates[0]
        means = {}
        for sizes in operand.candidates:
            with contextlib.suppress(UnknownValue):
                means[sizes] = geometric_mean(self._runs(operand, sizes).values())
        if not means:
            return operand.candidates[0]
        return (max if operand.larger_is_better else min)(means, key=means.__getitem__)

    def side_by_side(self, *operands: Operand) -> bool:
        """Return whether the runs of the operands are paired."""
        settings = {self.setting(operand) for operand in operands}
        return self.paired and not (len(settings) > 1 and settings & self.in_rounds)

    def unequal(self, *operands: Operand) -> bool:
        """Return whether an update does different work on the compared stores."""
        updating = self.updating | ({MEAN} if self.updating else set())
        stores = {operand.store for operand in operands if operand.workload in updating}
        return len({self.records[store] for store in stores if store in self.records}) > 1

    def unlike_extremes(self, *operands: Operand) -> bool:
        """Return whether minima or maxima of cells with different sizes are compared."""
        extremes = any(operand.metric in EXTREMES for operand in operands)
        other_sizes = {
            (operand.store, operand.workload) in self.other_sizes for operand in operands
        }
        return extremes and len(other_sizes) > 1

    def runs(self, operand: Operand) -> Runs:
        """One value above 0 per repetition; UnknownValue when there are none."""
        return self._runs(operand, self.best(operand))

    def spread(self, operand: Operand) -> Spread:
        """Return the spread of the operand's metric over all settings."""
        setting = self.setting(operand)
        operation = self._operation(self.runs_of.get(setting, {}), operand.operation)
        return self._spread(operation, operand.metric)

    @cache  # noqa: B019 (one for each run that is judged)
    def _spread(self, operation: str, metric: str) -> Spread:
        runs: dict[tuple[str, object], dict[str, Runs]] = {}
        for setting, values in self.runs_of.items():
            store, *where = setting
            # Rounds inside a cell are hundreds, and each cell has its own.
            if setting in self.in_rounds or not is_compared(store):
                continue
            if (operation, metric) in values:
                runs.setdefault(tuple(where), {})[store] = values[operation, metric]
        return Spread(runs, self.paired, self.averaged, self.plain, self.level)

    def failed_share(self, operand: Operand) -> Interval:
        """The share of failed operations, as a source prints it or of all repetitions together.

        Under the workload ``mean`` it is of all workloads. UnknownValue when it is not known.
        """
        settings = [self.setting(operand)]
        printed = self.runs_of.get(settings[0], {}).get((operand.operation, "failed_share"), {})
        for per_cent in printed.values():
            return Interval(per_cent / 100, None, None, 1)
        if operand.workload == MEAN:
            settings = [setting for setting in self.runs_of if setting[0] == operand.store]
        failed = total = 0.0
        for setting in settings:
            values = self.runs_of.get(setting, {})
            operation = self._operation(values, operand.operation)
            if (operation, "failed") in values:
                failed += sum(values[operation, "failed"].values())
                total += sum(values[operation, "operations"].values())
        if not total:
            raise self._unknown(operand, settings[0] if settings else ())
        return error_rate(round(failed), round(total), self.level)

    def _runs(self, operand: Operand, sizes: ParameterSet) -> Runs:
        setting = self.setting(operand, sizes)
        values = self.runs_of.get(setting, {})
        runs = values.get((self._operation(values, operand.operation), operand.metric), {})
        if not runs:
            raise self._unknown(operand, setting)
        if min(runs.values()) <= 0:
            raise UnknownValue(Verdict.UNDECIDED, "zero")
        return runs

    def _operation(self, values: dict[Which, Runs], operation: str) -> str:
        """Resolve ``all``: the combined row, or the only operation."""
        if operation != "all":
            return operation
        names = {name for name, _ in values} - {"overall"}
        combined = [name for name in names if "+" in name]
        return max(combined or names, key=len) if combined or len(names) == 1 else ""

    def _unknown(self, operand: Operand, setting: Setting | tuple) -> UnknownValue:
        if setting in self.runs_of:
            metric = operand.metric.replace("_", " ")
            why = reason("no-value-of", metric=metric, operation=operand.operation)
        elif operand.store not in {store for store, *_ in self.why}:
            why = "not-a-store"
        else:
            missing = "not measured" if operand.workload == MEAN else "not-a-size"
            why = self.why.get(setting, missing)
        return UnknownValue(Verdict.NOT_MEASURED, why)


def measured_values(run) -> Values:
    """Return the values of a ``Run``; rounds in its cells replace values of the same operation."""
    study, cells = run.study, run.cells
    why = dict.fromkeys(cells[SETTING].itertuples(index=False, name=None), "not measured")
    invalid = cells[cells["invalid"] != ""].drop_duplicates(SETTING)
    for *setting, words in invalid[[*SETTING, "invalid"]].itertuples(index=False):
        why[tuple(setting)] = reason("invalid", why=words)
    runs_of = _by_setting(run.values, run.values["parameters"])
    in_rounds = set()
    rounds = run.rounds.merge(counting(cells)[CELL], on=CELL)
    for _, rows in rounds.groupby("workload", sort=False):
        of_rounds, inside = _of_rounds(rows)
        for setting, metrics in _by_setting(of_rounds, of_rounds["parameters"]).items():
            runs_of.setdefault(setting, {}).update(metrics)
            in_rounds |= {setting} if inside else set()
    bound = run.analysis.bottleneck.query("limit == 'client'")
    # Not from summary.csv: a look during the run is taken before it is written.
    short = short_settings(run.values, "value") - in_rounds
    # So does a mean of workloads, if one of them does.
    short |= {
        (store, MEAN, OF_MEAN.slug)
        for store, workload, slug in short
        if slug == run.headline.get(workload)
    }
    return Values(
        runs_of,
        why,
        paired=study.imported is None,
        in_rounds=in_rounds,
        client_bound=set(bound[SETTING].itertuples(index=False, name=None)),
        short=short,
        averaged=tuple(run.headline.items()),
        plain=run.study.source is not None,
        level=level_of(study),
        floor=floor_of(run.analysis.floor),
        other_sizes=run.other_sizes,
        updating=updating(study),
        records=records_of(run.probes, study.store_names),
    )


def _of_rounds(rounds: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """Rates and mean latencies of one workload, from the sums of latencies of its rounds.

    Of single cells they are those of the rounds that count, and the second is true. Where some
    setting has several cells the cell is the run, with the trimmed mean of its rounds.
    """
    times = rounds[(rounds["counted"] == "yes") & (rounds["operations"] > 0)]
    times = times.assign(us=times["ns"] / times["operations"] / 1000)
    inside = times.groupby(SETTING)["repetition"].nunique().max() == 1
    if inside:
        times["repetition"] = times["repetition"].astype(str) + times["round"].map(".{:g}".format)
    else:
        cells = times.groupby([*CELL, "operation"], sort=False)["us"]
        times = cells.agg(lambda each: trimmed_mean(each).value).reset_index()
    rates = times.assign(metric="throughput", value=1e6 / times["us"])
    return pd.concat([rates, times.assign(metric="latency_mean", value=times["us"])]), inside


def published_values(
    published: pd.DataFrame,
    grid: ParameterGrid,
    workloads: list[str],
    checks: pd.DataFrame | None = None,
) -> Values:
    """Return the source's values: published.csv, with the shown sizes where it gives none.

    ``published`` is as ``audit.files.judged_values`` gives it, ``checks`` is audit.csv. The
    mean of all workloads is computed where the source does not print it.
    """
    rows = published.dropna(subset="value")
    if len(workloads) > 1:
        rows = pd.concat([rows, _means(rows, workloads)], ignore_index=True)
    sizes = [
        OF_MEAN.slug if row["workload"] == MEAN else _numbers(row, grid)
        for row in rows.to_dict("records")
    ]
    return Values(
        _by_setting(rows.assign(repetition="source"), sizes),
        by_slug=False,
        inconsistent={
            ((row.store, row.workload, numbers), row.operation, row.metric)
            for numbers, row in zip(sizes, rows.itertuples(), strict=True)
            if row.inconsistent
        },
        misfits={} if checks is None else misfits(checks),
    )


def _means(rows: pd.DataFrame, workloads: list[str]) -> pd.DataFrame:
    """The mean throughputs over all workloads, where the source has each and not the mean."""
    speeds = throughputs(rows)
    printed = speeds.loc[speeds["workload"] == MEAN, "store"]
    speeds = speeds[speeds["workload"].isin(workloads) & ~speeds["store"].isin(printed)]
    return pd.DataFrame(
        {
            **{"store": store, "workload": MEAN, "operation": "overall", "metric": "throughput"},
            **{"value": np.mean(of["value"].to_numpy()), "inconsistent": of["inconsistent"].any()},
        }
        for store, of in speeds.groupby("store", sort=False)
        if len(of) == len(workloads)
    )


def _numbers(row: dict[str, object], grid: ParameterGrid) -> tuple[int | None, ...]:
    """The sizes of a published value; those that the source does not give are as shown."""
    shown = grid.shown.get(row["workload"], OF_MEAN)
    return tuple(
        getattr(shown, size) if pd.isna(row.get(size)) else int(row[size]) for size in SIZES
    )


def _by_setting(rows: pd.DataFrame, sizes: Iterable[object]) -> dict[Setting, dict[Which, Runs]]:
    settings: dict[Setting, dict[Which, Runs]] = {}
    names = ["store", "workload", "operation", "metric", "repetition", "value"]
    # As lists: a column of Arrow's texts takes ten times as long row by row.
    columns = (rows[name].tolist() for name in names)
    for size, store, workload, operation, metric, repetition, value in zip(
        sizes, *columns, strict=True
    ):
        runs = settings.setdefault((store, workload, size), {})
        runs.setdefault((operation, metric), {})[str(repetition)] = value
    return settings
