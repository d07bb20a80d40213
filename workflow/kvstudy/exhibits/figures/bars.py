"""Bars of values, and of their averages over all sizes."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from kvstudy.analyse.findings.spread import level_of
from kvstudy.exhibits.bar_chart import BarFigure, with_broken
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.reasons import reason
from kvstudy.layout.grid import Statistic
from kvstudy.layout.looks import StyleSheet
from kvstudy.layout.numbers import OTHER_SIZE_TEXT
from kvstudy.libraries import pd
from kvstudy.stats.intervals import geometric_mean, log_t_interval
from kvstudy.study.base import Metric, Name, Operation, Unit, check_unit
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study
from kvstudy.study.naming import check_known
from kvstudy.study.parts import MEAN
from kvstudy.study.units import converted

if TYPE_CHECKING:
    from kvstudy.analyse.run import Run
    from kvstudy.analyse.tidy.results import Results

# Store, workload, operation and metric of a bar.
Key = tuple[str, str, str, str]
# The interval of two runs is wider than any axis.
FEWEST_FOR_INTERVAL = 3
AVERAGES = {N_("Mean"): "mean", N_("Median"): "median"}
# The mean of each metric that fits it.
MEANS = {"runtime": "mean", "throughput": geometric_mean}


class Bars(BarFigure):
    """A bar chart: groups along the x axis, one bar per store in each group.

    The groups are the workloads, or the metrics when there are several.
    """

    in_template = True

    kind: Literal["bars"] = Field(description="A bar chart.")
    workloads: list[Name] = Field(
        description="Their names; mean stands for the mean throughput of all workloads."
    )
    operation: Operation | Literal["overall", "all"] = Field(
        description="overall: the whole phase. all: the workload's operations combined "
        "(plain mean over operations), or its only operation."
    )
    metrics: list[Metric]
    unit: Unit

    @model_validator(mode="after")
    def _one_axis(self) -> Bars:
        for metric in self.metrics:
            check_unit(metric, self.unit)
        if len(self.workloads) > 1 and len(self.metrics) > 1:
            raise ValueError("several workloads and several metrics do not fit on one axis")
        return self

    def check(self, study: Study, path: Path, key: str) -> None:
        """Raise InputError for an unknown workload, or the mean of no throughput."""
        for name in self.workloads:
            if name != MEAN or self.metrics != ["throughput"]:
                check_known(f"{path}: {key}.workload", "workload", name, study.workload_names)

    @property
    def in_overview(self) -> bool:
        """Return whether the figure has several workloads; those with one are in its section."""
        return len(self.workloads) > 1

    @property
    def shows_runtime(self) -> bool:
        return "runtime" in self.metrics

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per bar, in the order of drawing; empty places are rows without a value.

        ``panel`` is measured (imported, where others measured) or published (only where
        the study has published values, and not run times of another number of operations),
        ``group`` the place on the x axis. In ``unit`` are ``value``, the geometric mean of ``runs``
        (of each of ``n`` repetitions, with spaces between), their ``min`` and ``max`` and, from
        three of them on, the ends ``low`` and ``high`` of their 95 % interval; NaN for published
        values. ``broken`` is
        yes or no, ``note`` says why there is no bar, ``inconsistent`` is
        yes where the audit of the source finds the value inconsistent, ``other_size`` where the
        store has its own number of records or operations; ``made_of`` is ``Statistic.text``.
        """
        here = "imported" if run.study.imported else "measured"
        of_another_size = self.shows_runtime and any(
            map(run.results.of_another_size, self.workloads)
        )
        like = run.results.has_published and not of_another_size
        return self._bars(run, [here, "published"] if like else [here])

    def published_rows(self, run: Run) -> pd.DataFrame:
        rows = self._bars(run, ["published"])
        # A store without any bar is told in the text, not by an empty place in each group.
        return rows[rows["store"].isin(rows.dropna(subset="value")["store"])]

    def _bars(self, run: Run, panels: list[str]) -> pd.DataFrame:
        study, results, rows = run.study, run.results, []
        several = len(self.workloads) > 1
        places = product(panels, self.workloads, self.metrics, study.store_names)
        for panel, workload, metric, store in places:
            group = study.workload(workload).short if several else METRICS[metric].short
            operation = self.operation
            if operation == "all":
                operation = results.all_operations(workload) or ""
            row = {"panel": panel, "group": group, "store": store, "unit": self.unit}
            if panel == "published":
                row |= _published(results, (store, workload, operation, metric), self.unit)
            elif metric == "runtime" and (store, workload) in run.other_sizes:
                row["note"] = OTHER_SIZE_TEXT
            else:
                row |= _measured(
                    results, (store, workload, operation, metric), self.unit, level_of(study)
                )
                row["other_size"] = "yes" if (store, workload) in run.other_sizes else "no"
                # Combined operations have no line of their own in a log.
                if "value" in row and workload != MEAN and "+" not in operation:
                    key = (store, workload, run.headline[workload], operation, metric)
                    row["made_of"] = Statistic("geometric", (key,)).text
            rows.append(row)
        return with_broken(rows)

    @property
    def value_name(self) -> str:
        several = len(self.metrics) > 1
        name = _("Value") if several else _(METRICS[self.metrics[0]].short)
        if self.metrics[0].startswith("latency"):
            name = _("Latency") if several else _("Latency, {}").format(name.lower())
        return name

    def bars(self, table: pd.DataFrame, styles: StyleSheet) -> pd.DataFrame:
        # Groups are the workloads, or the metrics where there are several.
        workloads = {styles.study.workload(name).short: name for name in self.workloads}
        metrics = {METRICS[metric].short: metric for metric in self.metrics}
        groups = table["group"]
        workload = [workloads.get(group, self.workloads[0]) for group in groups]
        metric = [metrics.get(group, self.metrics[0]) for group in groups]
        return table.assign(workload=workload, metric=metric)

    def titles(self, table: pd.DataFrame, looks: StyleSheet) -> dict[str, str]:
        numbers = sorted({int(n) for n in table["n"].dropna()})
        here = _("{}: mean of {} runs") if numbers else "{}"
        if numbers == [1]:
            here = _("{}: one run")
        span = "\N{EN DASH}".join(map(str, numbers))
        titles = {
            "published": looks.published,
            "imported": here.format(_("Imported"), span),
            "measured": here.format(_("Measured"), span),
        }
        return {panel: titles[panel] for panel in table["panel"].unique()}


class AveragesFigure(BarFigure):
    """Mean and median over all sizes, a bar for each store."""

    in_template = True
    cells = "every size"
    dot = N_("one size")

    kind: Literal["averages"] = Field(
        description="Mean (of throughput the geometric one) and median of a value over all sizes "
        "of a workload, a bar for each store; sizes as in a heatmap, and only those that every "
        "measured store has."
    )
    workloads: Annotated[list[Name], Field(min_length=1)] = Field(description="Their names.")
    metric: Literal["runtime", "throughput"] = Field(default="runtime", description="The metric.")
    unit: Unit

    @model_validator(mode="after")
    def _fits(self) -> AveragesFigure:
        check_unit(self.metric, self.unit)
        return self

    def rows(self, run: Run) -> pd.DataFrame:
        """One row per bar, with the columns of ``Bars.rows``.

        ``panel`` is the workload's name, ``group`` Mean (of throughput the geometric one) or
        Median. ``n`` are the sizes behind
        the value, ``runs`` their values, ``min`` and ``max`` the range of these. They are the
        sizes that every store has which was measured at all, so that all bars of a panel are of
        the same work; ``note`` says why there is no bar, or how many sizes are left out.
        """
        values = run.swept.values(self.metric, "overall", self.unit)
        stores, rows = run.study.store_names, []
        for workload in self.workloads:
            sizes = list(run.swept.grid(workload)["parameters"])
            mine = values[(values["workload"] == workload) & values["parameters"].isin(sizes)]
            wide = mine.pivot(index="parameters", columns="store", values="value")
            common = wide[[store for store in stores if store in wide]].dropna()
            left_out = len(sizes) - len(common)
            some = reason("without-sizes", left_out=left_out, sizes=len(sizes)) if left_out else ""
            for (group, average), store in product(AVERAGES.items(), stores):
                row = {"panel": workload, "group": group, "store": store, "unit": self.unit}
                if store not in common:
                    labels = {run.swept.label(store, workload, size) for size in sizes}
                    row["note"] = labels.pop() if len(labels) == 1 else "no-valid-value"
                elif common.empty:
                    row["note"] = "no-common-size"
                else:
                    column = common[store]
                    if average == "mean":
                        average = MEANS[self.metric]
                    row |= {"value": column.agg(average), "min": column.min(), "max": column.max()}
                    row |= {"n": len(column), "runs": " ".join(map(str, column)), "note": some}
                rows.append(row)
        return with_broken(rows)

    @property
    def value_name(self) -> str:
        return _(METRICS[self.metric].short)

    def bars(self, table: pd.DataFrame, styles: StyleSheet) -> pd.DataFrame:
        return table.assign(workload=table["panel"], metric=self.metric)

    def titles(self, table: pd.DataFrame, looks: StyleSheet) -> dict[str, str]:
        """The workload, and how many sizes are behind the bars."""
        titles = {}
        for workload, most in table.groupby("panel", sort=False)["n"].max().fillna(0).items():
            sizes = ngettext("{} size", "{} sizes", int(most)).format(int(most))
            of = sizes if most else _("no size")
            titles[workload] = f"{looks.study.workload(workload).short}: {of}"
        return titles

    def hover(self, row: dict, styles: StyleSheet) -> dict:
        words = _("{} of {} sizes").format(row["group"], f"{row['n']:.0f}")
        return super().hover(row, styles) | {"runs": "" if pd.isna(row["n"]) else words}


def _published(results: Results, key: Key, unit: str) -> dict[str, object]:
    value = results.published(*key, unit)
    if value is None:
        return {"note": N_("not published")}
    return {"value": value, "inconsistent": "yes" if results.inconsistent(*key) else "no"}


def _measured(results: Results, key: Key, unit: str, level: float) -> dict[str, object]:
    value = results.measured(*key)
    if value is None:
        return {"note": results.state(*key[:2]).label or "not measured"}
    runs = [converted(run, value.unit, unit) for run in results.runs(*key).values()]
    # Of latencies too: a bar and its whisker are of the same mean.
    row = {"value": geometric_mean(runs), "min": min(runs), "max": max(runs)}
    row |= {"n": value.n, "runs": " ".join(map(str, runs))}
    if len(runs) >= FEWEST_FOR_INTERVAL and min(runs) > 0:
        interval = log_t_interval(runs, level)
        row |= {"low": interval.low, "high": interval.high}
    return row
