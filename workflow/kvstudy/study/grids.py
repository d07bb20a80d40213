"""Figures of workloads that are measured at several sizes, and of single operations."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kvstudy.study.base import AnyFigure, Metric, Name, Operation

Unit = Literal["ops/s", "kops/s", "s", "ms", "us"]
UNITS = {"throughput": ["ops/s", "kops/s"], "runtime": ["s", "ms"]}
LATENCIES = ["us", "ms", "s"]


class Heatmap(AnyFigure):
    """A panel for each store: records and operations down, client threads across."""

    kind: Literal["heatmap"] = Field(
        description="A value of a workload at all of its sizes, a panel for each store: records "
        "and operations down, client threads across. Sizes under `also` with other threads are "
        "left out."
    )
    workload: Name = Field(description="The workload.")
    metric: Metric = Field(default="throughput", description="What is shown.")
    operation: Operation | None = Field(
        default=None,
        description="For latencies: of this operation; left out, the mean over all single "
        "operations, whatever their kind.",
    )
    unit: Unit

    @model_validator(mode="after")
    def _fits(self) -> Heatmap:
        latency = self.metric.startswith("latency")
        if latency and self.operation is None and self.metric != "latency_mean":
            raise ValueError(
                f"{self.metric} of all operations together is not recorded; name an operation, or "
                "take latency_mean"
            )
        if not latency and self.operation is not None:
            raise ValueError(f"{self.metric} is of the whole phase; leave out the operation")
        _check_unit(self.metric, self.unit)
        return self


class Box(AnyFigure):
    """Latencies of single operations: a box for each kind of operation and store."""

    kind: Literal["box"] = Field(
        description="Latencies of a workload's single operations, a box for each kind and store: "
        "quartiles, whiskers from the 5th to the 95th percentile, points at the 1st and the 99th; "
        "from the histograms, which keep a latency within 0.1 %."
    )
    workload: Name = Field(description="The workload.")
    operations: list[Operation] = Field(default=[], description="Which; left out: all.")
    unit: Literal["us", "ms", "s"] = "us"


class Averages(AnyFigure):
    """Mean and median over all sizes, a bar for each store."""

    kind: Literal["averages"] = Field(
        description="Mean and median of a value over all sizes of a workload, a bar for each "
        "store; sizes as in a heatmap, and only those that every measured store has."
    )
    workloads: Annotated[list[Name], Field(min_length=1)] = Field(description="Their names.")
    metric: Literal["runtime", "throughput"] = Field(
        default="runtime", description="What is shown."
    )
    unit: Unit

    @model_validator(mode="after")
    def _fits(self) -> Averages:
        _check_unit(self.metric, self.unit)
        return self


def _check_unit(metric: str, unit: str) -> None:
    fitting = UNITS.get(metric, LATENCIES if metric.startswith("latency") else [])
    if unit not in fitting:
        raise ValueError(
            f"{metric} has no unit {unit!r}"
            + (f"; give {' or '.join(fitting)}" if fitting else "; show another metric")
        )
