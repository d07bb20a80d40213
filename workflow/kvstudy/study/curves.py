"""Tables and figures over one size: threads, records or operations."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from kvstudy.study.base import AnyFigure, AnyTable, Metric, Name, Size, Sizes

WHERE = "The other sizes; a list makes a {} for each. Left out: those shown."


class SweepTable(AnyTable):
    """Throughput over a size: a row for each value, columns for stores and other sizes."""

    kind: Literal["sweep"] = Field(description="Throughput over threads, records or operations.")
    workload: Name = Field(description="The workload.")
    over: Size = Field(description="The size that the rows have.")
    where: Sizes = Field(default=Sizes(), description=WHERE.format("column"))


class Curves(AnyFigure):
    """Lines over a size: a panel for each metric, and one for published throughput."""

    kind: Literal["curves"] = Field(
        description="Throughput and latencies over threads, records or operations."
    )
    over: Size = Field(description="The size on the x axis.")
    workloads: list[Name] = Field(min_length=1, description="A line for each.")
    stores: list[Name] = Field(default=[], description="Left out: all of the study.")
    where: Sizes = Field(default=Sizes(), description=WHERE.format("line"))
    metrics: list[Metric] = Field(
        default=["throughput"],
        min_length=1,
        description="throughput, runtime, and latencies of single operations.",
    )
    operations: Literal["each", "together"] = Field(
        default="each",
        description="Of latencies. each: a panel for each kind of operation. together: one of the "
        "mean over all single operations, whatever their kind.",
    )
    saturation: bool = Field(
        default=False,
        description="Mark from how many threads on throughput is within 5 % of its largest.",
    )

    @model_validator(mode="after")
    def _fits(self) -> Curves:
        latencies = [metric for metric in self.metrics if metric.startswith("latency")]
        if self.operations == "together" and latencies != ["latency_mean"]:
            raise ValueError(
                "operations: together needs latency_mean among the metrics and no other latency, "
                "whose value for all operations together is not recorded"
            )
        return self


class ScalingTable(AnyTable):
    """Where throughput saturates; a part of every report with six thread counts or more."""

    kind: Literal["scaling"] = Field(
        description="Saturation and the universal scalability law, per store and workload."
    )
