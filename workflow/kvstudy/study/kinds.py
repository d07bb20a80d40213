"""The kinds of tables and figures, each with its class.

Classes are imported when a study uses their kind: they take a tenth of a second to load.
"""

from __future__ import annotations

import importlib
from typing import Annotated, Any, Union

from pydantic import Field, GetJsonSchemaHandler, TypeAdapter
from pydantic_core import CoreSchema, core_schema

from kvstudy.study.base import Strict
from kvstudy.study.naming import did_you_mean


class Kinds:
    """The kinds in a ``package``: the module and class of each by its name.

    As the annotation of a field of a model it validates an exhibit by its ``kind``.
    """

    def __init__(self, package: str, classes: dict[str, str]):
        self.classes = {name: f"{package}.{place}" for name, place in classes.items()}
        self.names = sorted(classes)

    def __getitem__(self, name: str) -> type[Strict]:
        module, _, class_name = self.classes[name].rpartition(".")
        return getattr(importlib.import_module(module), class_name)

    @property
    def for_studies(self) -> list[str]:
        """The kinds that a study may name."""
        return [name for name in self.names if not self[name].by_itself]

    def validate(self, value: object) -> Strict:
        """The part that the keys and values in ``value`` are; pydantic's errors where they fail."""
        if isinstance(value, Strict):
            return value
        if not isinstance(value, dict):
            raise ValueError("must be keys and values")
        if "kind" not in value:
            raise ValueError("kind: is missing; add it")
        kind = str(value["kind"])
        if kind not in self.names or self[kind].by_itself:
            hint = did_you_mean(kind, self.for_studies)
            raise ValueError(f"kind: unknown kind '{kind}'{hint}")
        return self[kind].model_validate(value)

    def __get_pydantic_core_schema__(self, source: object, handler: object) -> CoreSchema:
        dump = core_schema.plain_serializer_function_ser_schema(lambda part: part.model_dump())
        return core_schema.no_info_plain_validator_function(self.validate, serialization=dump)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        union = Union[tuple(self[name] for name in self.for_studies)]  # noqa: UP007
        kinds = TypeAdapter(Annotated[union, Field(discriminator="kind")])
        return handler(kinds.core_schema)


FIGURES = Kinds(
    "kvstudy.exhibits.figures",
    {
        "averages": "bars.AveragesFigure",
        "bars": "bars.Bars",
        "box": "latencies.Box",
        "break-even": "rounds.BreakEvenPlot",
        "curves": "curves.Curves",
        "delay": "delay.DelayPlot",
        "heatmap": "heatmap.Heatmap",
        "open-loop": "open_loop.OpenLoopFigure",
        "ratios": "ratios.RatioPlot",
        "relative": "rounds.RelativePlot",
        "run-order": "run_order.RunOrder",
        "scatter": "scatter.Scatter",
        "separation": "separation.SeparationPlot",
        "spectrum": "latencies.Spectrum",
        "time": "time.TimeStrips",
        "tradeoff": "tradeoff.Tradeoff",
        "transcript": "transcript.Transcript",
    },
)
Figure = Annotated[Strict, FIGURES]
TABLES = Kinds(
    "kvstudy.exhibits.tables",
    {
        "audit": "source.AuditTable",
        "bottleneck": "stores.BottleneckTable",
        "break-even": "rounds.BreakEvenTable",
        "claims": "claims.ClaimsTable",
        "comparison": "comparison.ComparisonTable",
        "grid": "grid.GridTable",
        "machine": "setting.MachineTable",
        "open-loop": "latencies.OpenLoopTable",
        "operations": "setting.OperationsTable",
        "path": "path.PathTable",
        "percentiles": "latencies.PercentilesTable",
        "properties": "setting.PropertiesTable",
        "ranking": "pairs.RankingTable",
        "ratios": "pairs.RatiosTable",
        "relative": "rounds.RelativeTable",
        "results": "results.ResultsTable",
        "runs": "stores.RunsTable",
        "scaling": "sizes.ScalingTable",
        "scoreboard": "source.Scoreboard",
        "store": "stores.StoreTable",
        "summary": "summary.SummaryTable",
        "sweep": "sizes.SweepTable",
        "trimmed": "stores.TrimmedTable",
        "validity": "stores.ValidityTable",
    },
)
Table = Annotated[Strict, TABLES]
