"""The kinds of figures that a report may have; those of larger topics have files of their own."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from kvstudy.language.texts import Place, Text
from kvstudy.study.base import AnyFigure, Metric, Name, Operation, Strict
from kvstudy.study.curves import Curves
from kvstudy.study.grids import Averages, Box, Heatmap
from kvstudy.study.relative import BreakEvenPlot, RelativePlot
from kvstudy.study.source_parts import Slopes


class Bars(Strict):
    """A bar chart: groups along the x axis, one bar per store in each group.

    The groups are the workloads, or the metrics when there are several.
    """

    name: Name
    kind: Literal["bars"] = Field(description="A bar chart.")
    source: Place = Field(default="", description="Number of the figure in the source.")
    caption: Text = Field(description="Its caption in the report.")
    workloads: list[Name] = Field(
        description="Their names; mean stands for the mean throughput of all workloads."
    )
    operation: Operation | Literal["overall", "all"] = Field(
        description="overall: the whole phase. all: the workload's operations combined "
        "(plain mean over operations), or its only operation."
    )
    metrics: list[Metric]
    unit: Literal["ops/s", "kops/s", "s", "ms", "us"]

    @model_validator(mode="after")
    def _one_axis(self) -> Bars:
        if len(self.workloads) > 1 and len(self.metrics) > 1:
            raise ValueError("several workloads and several metrics do not fit on one axis")
        return self


class Transcript(Strict):
    """The commands and the output of one cell, as they were."""

    name: Name
    kind: Literal["transcript"] = Field(description="Commands and output of a cell.")
    source: Place = Field(default="", description="Number of the figure in the source.")
    caption: Text = Field(description="Its caption in the report.")
    store: Name
    workload: Name
    part: Literal["server", "load", "run"]


class RunOrder(AnyFigure):
    """The runs in the order of their measurement; a part of every report."""

    kind: Literal["run-order"] = Field(description="The runs in the order of measurement.")


class CpuBars(AnyFigure):
    """CPU time of client and server for one operation; a part of every report."""

    kind: Literal["cpu"] = Field(description="CPU time of client and server per operation.")


class RatioPlot(AnyFigure):
    """Throughput ratios of every two stores, before the noise floor; a part of every report."""

    kind: Literal["ratios"] = Field(description="Throughput of every two stores by each other.")


class TimeStrips(AnyFigure):
    """Throughput and busy cores over a workload's run time; a part of every report."""

    kind: Literal["time"] = Field(description="Throughput and busy cores over the run time.")
    workload: Name = Field(description="The workload.")


class Spectrum(AnyFigure):
    """All percentiles of a workload's latencies; a part of every report."""

    kind: Literal["spectrum"] = Field(description="All percentiles of a workload's latencies.")
    workload: Name = Field(description="The workload.")


class OpenLoopFigure(AnyFigure):
    """Service and intended latencies of a workload over the load."""

    workload: Name


WorkloadFigure = TimeStrips | Spectrum
Grids = Heatmap | Box | Averages
DrawnFigure = (
    Bars
    | Curves
    | Grids
    | RunOrder
    | CpuBars
    | RatioPlot
    | WorkloadFigure
    | OpenLoopFigure
    | Slopes
    | RelativePlot
    | BreakEvenPlot
)
Figure = Annotated[
    Bars
    | Curves
    | Grids
    | Transcript
    | RunOrder
    | CpuBars
    | RatioPlot
    | TimeStrips
    | Spectrum
    | Slopes
    | RelativePlot
    | BreakEvenPlot,
    Field(discriminator="kind"),
]
