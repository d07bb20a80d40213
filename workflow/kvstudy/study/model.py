"""What a study file (``config/studies/<study>/study.yaml``) may say.

These models validate the file, and they are the source of its JSON schema
(``workflow/schemas/study.schema.json``).
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    field_validator,
    model_validator,
)

# The name of a store's mean over all workloads, where a workload's name could stand.
MEAN = "mean"

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
Count = Annotated[int, Field(gt=0)]
Operation = Literal["read", "update", "insert", "scan", "read-modify-write"]
Metric = Literal[
    "throughput",
    "runtime",
    "operations",
    "latency_mean",
    "latency_min",
    "latency_max",
    "latency_p95",
    "latency_p99",
]


# YCSB's measurementtype that also keeps each single latency.
RAW_TYPE = "hdrhistogram+raw"


class Strict(BaseModel):
    """Base of all models: an unknown key is a typing error, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MachineRow(Strict):
    """One line of the source's machine table."""

    component: str = Field(description="For example CPU.")
    name: str = Field(description="Its product name or version.")
    details: str = Field(default="", description="Sizes, clock rates and the like.")


class Source(Strict):
    """The publication that the study reproduces."""

    key: Name = Field(description="Key of the source in report/references.bib.")
    author: str = Field(description="Its author, as the report names them.")
    title: str = Field(description="Its title.")
    year: int = Field(description="Its year.")
    published_as: str = Field(description="Kind of publication and place, for example a thesis.")
    machine: list[MachineRow] = Field(
        default=[], description="The machine of the source, one row per component."
    )


class StoreUse(Strict):
    """A store of the study; a bare name in the file is short for ``store: ...``."""

    store: Name = Field(description="Name of a folder under envs/stores/.")
    name: Name = Field(
        default="",
        description="Name in results and in this file; needed when a store stands there twice.",
    )
    title: str = Field(default="", description="Name in text, tables and figures.")
    options: dict[Name, Name] = Field(
        default={}, description="Choices that the store's folder offers, for example a consistency."
    )

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, value: object) -> object:
        return {"store": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _default_name(self) -> StoreUse:
        object.__setattr__(self, "name", self.name or self.store)
        return self


class WorkloadUse(Strict):
    """A workload of the study; a bare name in the file is short for ``name: ...``."""

    name: Name = Field(description="Name of a file under workloads/, or any with ``file``.")
    file: Name = Field(
        default="",
        description="Name of a file under workloads/; needed when it stands there twice.",
    )
    title: str = Field(default="", description="Name in tables and figures.")
    short: str = Field(default="", description="Name on an axis.")
    records: Count | None = Field(default=None, description="In place of the study's.")
    operations: Count | None = Field(default=None, description="In place of the study's.")
    threads: Count | None = Field(default=None, description="In place of the study's.")
    seconds: Count | None = Field(default=None, description="In place of the study's.")
    properties: dict[str, str | int | float | bool] = Field(
        default={}, description="Further YCSB properties, laid over those of file and study."
    )

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, value: object) -> object:
        return {"name": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _default_titles(self) -> WorkloadUse:
        plain = self.name.replace("-", " ")
        title = f"Workload {plain.upper()}" if len(plain) == 1 else plain.capitalize()
        object.__setattr__(self, "file", self.file or self.name)
        object.__setattr__(self, "title", self.title or title)
        object.__setattr__(self, "short", self.short or title.removeprefix("Workload "))
        return self

    @property
    def property_texts(self) -> dict[str, str]:
        """The properties as YCSB reads them."""
        return _texts(self.properties)


class Parameters(Strict):
    """Sizes of a cell. A list makes one cell per value (all combinations).

    No report can show such cells, so ``load_study`` takes lists of one value only.
    """

    records: Count | list[Count] = Field(description="Records loaded before the run.")
    operations: Count | list[Count] = Field(
        description="Operations of the run phase; workloads with operationcount=0 have none."
    )
    threads: Count | list[Count] = Field(default=1, description="Client threads of YCSB.")
    seconds: Count | None = Field(
        default=None, description="Timed cells: the run phase ends after this many seconds."
    )
    properties: dict[str, str | int | float | bool] = Field(
        default={}, description="Further YCSB properties, the same for every cell."
    )

    raw_latencies: bool = Field(
        default=False,
        description="Keep the latency of every single operation of the measured phase with the "
        "raw logs (about 3 MB per million, compressed). It costs throughput, see README.md.",
    )

    @property
    def property_texts(self) -> dict[str, str]:
        """The properties as YCSB reads them."""
        texts = _texts(self.properties)
        return texts | ({"measurementtype": RAW_TYPE} if self.raw_latencies else {})


def _texts(properties: dict[str, str | int | float | bool]) -> dict[str, str]:
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in properties.items()
    }


class Imported(Strict):
    """Where logs come from that were not measured by kvstudy; what is left out is not known."""

    folder: str = Field(default="", description="Name of the folder that held the logs.")
    machine: str = Field(default="", description="The machine that was measured on.")
    measured_by: str = Field(default="", description="Who measured.")


class ExpectedFailures(Strict):
    """Failed or missed operations that the study declares as part of the result."""

    store: Name = Field(description="The store whose operations fail.")
    kind: Literal["failures", "misses"] = Field(
        default="failures",
        description="failures: YCSB says that the operation failed. misses: it says OK, and the "
        "server counted that there was no such record.",
    )
    workload: Name | None = Field(default=None, description="Left out: every workload.")
    operation: Operation = Field(description="The operation that fails.")
    up_to: Annotated[float, Field(gt=0, le=1)] = Field(
        description="Share of the operations that may fail."
    )
    reason: str = Field(description="Why that is expected; the report gives it.")

    @model_validator(mode="after")
    def _only_reads_miss(self) -> ExpectedFailures:
        if self.kind == "misses" and self.operation not in ("read", "scan"):
            raise ValueError(
                f"kind misses: a server counts misses of read and scan, not of {self.operation}"
            )
        return self


class OpenLoop(Strict):
    """Further cells at fixed rates, after those that run as fast as they can."""

    loads: list[Annotated[float, Field(gt=0, le=1)]] = Field(
        default=[0.5, 0.8],
        min_length=1,
        description="Shares of the throughput that the store reached in the closed-loop cells.",
    )
    workloads: list[Name] = Field(
        default=[], description="Which; left out: all that have a run phase."
    )

    @field_validator("loads")
    @classmethod
    def _whole_percents(cls, loads: list[float]) -> list[float]:
        percents = [load * 100 for load in loads]
        if any(abs(percent - round(percent)) > 1e-9 for percent in percents):
            raise ValueError("give whole per cents, like 0.5 or 0.85")
        if len(set(percents)) < len(percents):
            raise ValueError("a load stands there twice; name each once")
        return loads

    @property
    def percents(self) -> list[int]:
        """The loads in per cent."""
        return [round(load * 100) for load in self.loads]


class AnyTable(Strict):
    """What every table of the report has."""

    name: Name
    source: str = Field(default="", description="Number of the table in the source.")
    caption: str = Field(description="Its caption in the report.")


class MachineTable(AnyTable):
    """What the cells were measured on, beside the machine of the source."""

    kind: Literal["machine"] = Field(description="What the cells were measured on.")


class ResultsTable(AnyTable):
    """Run time, throughput and latencies of one workload, one column per store."""

    kind: Literal["results"] = Field(
        description="Run time, throughput and latencies of a workload, one column per store."
    )
    workload: Name = Field(description="The workload.")


class ComparisonTable(AnyTable):
    """Throughput and failed operations of one store against another, per workload."""

    kind: Literal["comparison"] = Field(
        description="Throughput and failed operations of one store against another."
    )
    baseline: Name = Field(description="The store that is the 100 %.")
    store: Name = Field(description="The store that is compared with it.")


class OperationsTable(AnyTable):
    """What one operation makes each server do. A study that names none has it all the same."""

    kind: Literal["operations"] = Field(
        description="What one operation makes each server do; every study has one, also unnamed."
    )


class RatiosTable(AnyTable):
    """Throughput ratios of every two stores, per workload; a part of every report."""

    kind: Literal["ratios"] = Field(description="Throughput of every two stores by each other.")


class BottleneckTable(AnyTable):
    """What limits each store's throughput; a part of every report."""

    kind: Literal["bottleneck"] = Field(
        description="CPU of client and server, and whether the client is the limit."
    )


class TrimmedTable(AnyTable):
    """Trimmed means beside plain ones; a part of the report of a study that uses them."""

    kind: Literal["trimmed"] = Field(description="Trimmed means of throughput and run time.")


class PercentilesTable(AnyTable):
    """Percentiles from the histograms of all repetitions; a part of every report."""

    kind: Literal["percentiles"] = Field(
        description="Percentiles of a workload's latencies, all repetitions together."
    )
    workload: Name = Field(description="The workload.")


class RunsTable(AnyTable):
    """Intervals, spread, steadiness and CPU time; a part of every report."""

    kind: Literal["runs"] = Field(
        description="Intervals, spread, steadiness and CPU time of a workload's runs."
    )
    workload: Name = Field(description="The workload.")


class OpenLoopTable(AnyTable):
    """Latencies of a workload at fixed rates; a part of every report with open-loop cells."""

    kind: Literal["open-loop"] = "open-loop"
    workload: Name


class ValidityTable(AnyTable):
    """How many operations did what was asked; a part of every report."""

    kind: Literal["validity"] = Field(
        description="Failed and missed operations, goodput, agreement with the servers' counters."
    )


WorkloadTable = ResultsTable | PercentilesTable | RunsTable
Table = Annotated[
    MachineTable
    | ResultsTable
    | ComparisonTable
    | OperationsTable
    | RatiosTable
    | BottleneckTable
    | TrimmedTable
    | PercentilesTable
    | RunsTable
    | ValidityTable,
    Field(discriminator="kind"),
]


class Bars(Strict):
    """A bar chart: groups along the x axis, one bar per store in each group.

    The groups are the workloads, or the metrics when there are several.
    """

    name: Name
    kind: Literal["bars"] = Field(description="A bar chart.")
    source: str = Field(default="", description="Number of the figure in the source.")
    caption: str = Field(description="Its caption in the report.")
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
    source: str = Field(default="", description="Number of the figure in the source.")
    caption: str = Field(description="Its caption in the report.")
    store: Name
    workload: Name
    part: Literal["server", "load", "run"]


RATIOS = RatiosTable(name="ratios", kind="ratios", caption="Throughput of each two stores")
BOTTLENECK = BottleneckTable(
    name="bottleneck", kind="bottleneck", caption="What limits the throughput"
)
TRIMMED = TrimmedTable(
    name="trimmed", kind="trimmed", caption="Means without the smallest and the largest runs"
)
OPERATIONS = OperationsTable(
    name="operations", kind="operations", caption="What one operation means on each store"
)
VALIDITY = ValidityTable(
    name="validity", kind="validity", caption="Operations that did what was asked, and goodput"
)


class AnyFigure(Strict):
    """What every figure has that each report draws by itself."""

    name: Name
    source: str = Field(default="", description="Number of the figure in the source.")
    caption: str = Field(description="Its caption in the report.")


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
DrawnFigure = Bars | RunOrder | CpuBars | RatioPlot | WorkloadFigure | OpenLoopFigure
Figure = Annotated[
    Bars | Transcript | RunOrder | CpuBars | RatioPlot | TimeStrips | Spectrum,
    Field(discriminator="kind"),
]
AUTOMATIC_TABLES_OF_A_WORKLOAD = {
    RunsTable: "The runs behind the values, {}",
    PercentilesTable: "Percentiles of service time over all runs, {}",
}
AUTOMATIC_FIGURES = [
    RunOrder(
        name="run-order",
        kind="run-order",
        caption="The runs in the order of measurement, against the geometric mean of their setting",
    ),
    CpuBars(name="cpu", kind="cpu", caption="CPU time of client and server for one operation"),
    RatioPlot(
        name="ratios",
        kind="ratios",
        caption="Throughput of each two stores with 95 % intervals, and the noise floor (band)",
    ),
]
AUTOMATIC_FIGURES_OF_A_WORKLOAD = {
    TimeStrips: "The runs second by second, {}",
    Spectrum: "Latency by share of the operations, {}",
}


class Study(Strict):
    """One research question: stores x workloads x parameters x repetitions."""

    name: Name = Field(description="Name of the study's folder.")
    title: str = Field(description="Title of the report.")
    question: str = Field(description="What the study asks, in one or two sentences.")
    source: Source | None = Field(default=None, description="The publication it reproduces.")
    stores: Annotated[list[StoreUse], Field(min_length=1)] = Field(
        description="The stores, in the order of tables and figures."
    )
    workloads: Annotated[list[WorkloadUse], Field(min_length=1)] = Field(
        description="The workloads, in the order of tables and figures."
    )
    parameters: Parameters = Field(description="Sizes of the cells.")
    repetitions: Count = Field(description="Measurements of each cell, each on a fresh server.")
    seed: int = Field(default=1, description="Seed of the random order of the cells.")
    noise_floor: bool | Name = Field(
        default=True,
        description="Measure one store twice in every repetition, to see what chance alone "
        "makes of two equal stores: its name, true for the first one, or false.",
    )
    client_ceiling: bool = Field(
        default=True,
        description="Measure YCSB without a store too, to see what the client can do at most.",
    )
    second_client: bool = Field(
        default=False,
        description="Measure each store with two YCSB clients at a time too, each with half of the "
        "threads, under workloads that insert nothing: does the total rise, one client is the "
        "limit. Cells of one thread have none.",
    )
    trimmed_mean: bool = Field(
        default=False,
        description="Give trimmed means too: without the smallest and the largest fifth of the "
        "repetitions, as some sources do. Needs five repetitions.",
    )
    expected_failures: list[ExpectedFailures] = Field(
        default=[], description="Failed operations that are a part of the result."
    )
    open_loop: OpenLoop | None = Field(
        default=None,
        description="Open-loop cells, at fixed rates; `true`: two loads, all workloads.",
        json_schema_extra=lambda schema: schema["anyOf"].append({"type": "boolean"}),
    )
    tables: list[Table] = Field(default=[], description="Tables of the report, in order.")
    figures: list[Figure] = Field(default=[], description="Figures of the report, in order.")
    choices: list[str] = Field(
        default=[], description="What the source left open and what was chosen here."
    )
    imported: Imported | None = Field(
        default=None,
        description="Set (true, or its keys) when the cells come from `kvstudy import`: nothing is "
        "measured then, and a cell without a log is a gap.",
    )

    # How many of the tables and figures the file names; the others come with every report.
    _own_tables: int = PrivateAttr(0)
    _own_figures: int = PrivateAttr(0)

    @field_validator("imported", mode="before")
    @classmethod
    def _plain_yes_or_no(cls, value: object) -> object:
        return {True: {}, False: None}[value] if isinstance(value, bool) else value

    @field_validator("open_loop", mode="before")
    @classmethod
    def _on_or_off(cls, value: object) -> object:
        return ({} if value else None) if isinstance(value, bool) else value

    @model_validator(mode="after")
    def _enough_to_trim(self) -> Study:
        if self.trimmed_mean and self.repetitions < 5:
            raise ValueError(
                f"trimmed_mean needs 5 repetitions or more, there are {self.repetitions}"
            )
        return self

    @model_validator(mode="after")
    def _always_with_checks(self) -> Study:
        """Without these tables the others do not say what was compared, and how surely."""
        self._own_tables = len(self.tables)
        automatic = [OPERATIONS, RATIOS, BOTTLENECK, VALIDITY]
        if self.trimmed_mean:
            automatic.append(TRIMMED)
        tables = self._with_automatic(self.tables, automatic, AUTOMATIC_TABLES_OF_A_WORKLOAD)
        object.__setattr__(self, "tables", tables)
        return self

    @model_validator(mode="after")
    def _always_drawn(self) -> Study:
        """Figures of every report, unless the study names them itself."""
        self._own_figures = len(self.figures)
        automatic = list(AUTOMATIC_FIGURES)
        if not self.imported:
            order = f" (random order, seed {self.seed})"
            automatic = [
                each.model_copy(update={"caption": each.caption + order})
                if isinstance(each, RunOrder)
                else each
                for each in automatic
            ]
        figures = self._with_automatic(self.figures, automatic, AUTOMATIC_FIGURES_OF_A_WORKLOAD)
        object.__setattr__(self, "figures", figures)
        return self

    def _with_automatic(self, own: list, automatic: list, of_a_workload: dict[type, str]) -> list:
        """What the study names itself, and what every report has besides.

        ``of_a_workload`` are kinds that each workload has one of, with their captions.
        """
        found = list(own)
        found += [each for each in automatic if not any(type(has) is type(each) for has in own)]
        for use in self.workloads:
            for kind, caption in of_a_workload.items():
                if any(isinstance(each, kind) and each.workload == use.name for each in own):
                    continue
                word = get_args(kind.model_fields["kind"].annotation)[0]
                found.append(
                    kind(
                        name=f"{word}-{use.name}",
                        kind=word,
                        caption=caption.format(use.title),
                        workload=use.name,
                    )
                )
        return found

    @property
    def automatic_names(self) -> dict[str, set[str]]:
        """Names of the ``tables`` and ``figures`` that the file does not name itself."""
        tables = [*self.tables[self._own_tables :], *self.open_loop_tables]
        figures = [*self.figures[self._own_figures :], *self.open_loop_figures]
        return {
            "tables": {table.name for table in tables},
            "figures": {figure.name for figure in figures},
        }

    @property
    def drawn_figures(self) -> list[DrawnFigure]:
        """All but transcripts, which are text."""
        drawn = [figure for figure in self.figures if isinstance(figure, DrawnFigure)]
        return drawn + self.open_loop_figures

    @property
    def open_loop_tables(self) -> list[OpenLoopTable]:
        """One for each workload that has open-loop cells."""
        return [
            OpenLoopTable(
                name=f"open-loop-{name}",
                caption=f"Latency at fixed rates, {self.workload(name).title}",
                workload=name,
            )
            for name in (self.open_loop.workloads if self.open_loop else [])
        ]

    @property
    def open_loop_figures(self) -> list[OpenLoopFigure]:
        """One for each workload that has open-loop cells."""
        return [
            OpenLoopFigure(
                name=table.name,
                caption=f"Service time and intended time over the load, "
                f"{self.workload(table.workload).title}",
                workload=table.workload,
            )
            for table in self.open_loop_tables
        ]

    @property
    def store_names(self) -> list[str]:
        """What the study calls its stores, in its order."""
        return [use.name for use in self.stores]

    @property
    def workload_names(self) -> list[str]:
        """The workloads, in the order of tables and figures."""
        return [use.name for use in self.workloads]

    def workload(self, name: str) -> WorkloadUse:
        """The workload called ``name``, or their mean; KeyError when the study has none."""
        for use in self.workloads:
            if use.name == name:
                return use
        if name == MEAN and len(self.workloads) > 1:
            return WorkloadUse(name=MEAN, title="Mean of the workloads", short="Mean")
        raise KeyError(name)
