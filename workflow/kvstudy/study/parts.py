"""The parts of a study: its source, stores, workloads and parameters."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from kvstudy.language.current import _
from kvstudy.language.locale import Text
from kvstudy.study.base import Count, Counts, Name, Operation, ShownSizes, Sizes, Strict

# The name of a store's mean over all workloads, where a workload's name could stand.
MEAN = "mean"

# YCSB's measurementtype that also keeps each single latency.
RAW_TYPE = "hdrhistogram+raw"
# As many clients as a store needs.
AUTO = "auto"
MOST_CLIENTS = 64
# Of a run that is looked at after each.
MOST_REPETITIONS = 100
# In us, of a second: some clients give up after ten, and an operation can take several requests.
LONGEST_DELAY = 1_000_000
Network = Literal["loopback", "host", "bridge", "proxy", "nat"]


class PrintedForm(Strict):
    """The number format of a source, to reproduce its tables cell by cell."""

    decimal_mark: Literal[".", ","] = Field(default=".", description="The decimal mark.")
    group_mark: Literal["", " ", ",", "."] = Field(
        default="", description="The separator of groups of three digits."
    )
    decimals: dict[str, int] = Field(
        default={}, description="Decimals of metrics with a fixed number of decimals."
    )
    most_decimals: int = Field(
        default=2, ge=0, description="Maximum decimals of all other values, without trailing zeros."
    )

    def text(self, metric: str, value: float) -> str:
        """``value`` as the source prints it, but where ``published.csv`` says otherwise."""
        marks = {ord(","): self.group_mark, ord("."): self.decimal_mark}
        return self.digits(metric, value).translate(marks)

    def digits(self, metric: str, value: float) -> str:
        """``value`` with as many decimals as the source prints: 1,234.56."""
        fixed = self.decimals.get(metric)
        text = f"{value:,.{self.most_decimals if fixed is None else fixed}f}"
        return text.rstrip("0").rstrip(".") if fixed is None and "." in text else text


class MachineRow(Strict):
    """One line of the source's machine table."""

    component: Text = Field(description="For example CPU.")
    name: str = Field(description="Its product name or version.")
    details: Text = Field(default="", description="Sizes, clock rates and the like.")


class Source(Strict):
    """The publication that the study reproduces."""

    key: Name = Field(description="Key of the source in report/references.bib.")
    author: Text = Field(description="Its authors, as the report names them.")
    title: str = Field(description="Its title.")
    year: int = Field(description="Its year.")
    published_as: Text = Field(description="Kind of publication and place, for example a thesis.")
    difference: Text = Field(
        default="",
        description="What this study does otherwise, such as shorter runs: a caveat on the first "
        "page, behind 'Otherwise than in the source:'.",
    )
    machine: list[MachineRow] = Field(
        default=[], description="The machine of the source, one row per component."
    )
    printed: PrintedForm = Field(
        default=PrintedForm(), description="How its tables print numbers (`source: published`)."
    )


class _Use(Strict):
    """A bare name in the file is short for the first key."""

    @model_validator(mode="before")
    @classmethod
    def _bare_name(cls, value: object) -> object:
        return {next(iter(cls.model_fields)): value} if isinstance(value, str) else value


class StoreUse(_Use):
    """A store of the study; a bare name in the file is short for ``store: ...``."""

    store: Name = Field(description="Name of a folder under envs/stores/.")
    name: Name = Field(
        default_factory=lambda keys: keys["store"],
        description="Name in results and in this file; needed when a store appears twice.",
    )
    title: Text = Field(default="", description="Name in text, tables and figures.")
    options: dict[Name, Name] = Field(
        default={}, description="Choices among the store's options, for example a consistency."
    )
    records: Count | None = Field(
        default=None, description="Overrides the study's and the workloads', for a slow store."
    )
    operations: Count | None = Field(
        default=None, description="Overrides the study's and the workloads', for a slow store."
    )
    delay: Annotated[int, Field(ge=0, le=LONGEST_DELAY)] | None = Field(
        default=None,
        description="How long each request of the measured phase waits on its way to the server "
        "(µs), as on a slower network. 0: it passes through the program that delays, at once.",
    )
    network: Network | None = Field(
        default=None,
        description="How clients reach the server, where the study compares that. loopback: it "
        "is a program of this machine. Else it is a container, reached on the host's network "
        "(host), at its address on Docker's bridge (bridge), at a port published on 127.0.0.1, "
        "which docker-proxy carries (proxy), or at one published on the bridge's address, which "
        "the kernel forwards (nat). Default: as the provider of config/config.yaml runs it.",
    )


def _short(keys: dict[str, str]) -> str:
    return keys["name"].replace("-", " ").capitalize()


def _title(keys: dict[str, str]) -> str:
    short = _short(keys)
    return _("Workload {}").format(short) if len(short) == 1 else short


class WorkloadUse(_Use):
    """A workload of the study; a bare name in the file is short for ``name: ...``."""

    name: Name = Field(description="Name of a file under workloads/, or any with ``file``.")
    file: Name = Field(
        default_factory=lambda keys: keys["name"],
        description="Name of a file under workloads/; needed when it appears twice.",
    )
    title: Text = Field(default_factory=_title, description="Name in tables and figures.")
    short: Text = Field(default_factory=_short, description="Name on an axis.")
    records: Counts | None = Field(default=None, description="Overrides the study's.")
    operations: Counts | None = Field(default=None, description="Overrides the study's.")
    threads: Counts | None = Field(default=None, description="Overrides the study's.")
    seconds: Count | None = Field(default=None, description="Overrides the study's.")
    stores: list[Name] = Field(
        default=[], description="Only these stores, if others do not support it. Default: all."
    )
    also: list[Sizes] = Field(
        default=[], description="Further sizes, in addition to all combinations of those above."
    )
    shown: ShownSizes | None = Field(default=None, description="Overrides the study's.")
    properties: dict[str, str | int | float | bool] = Field(
        default={}, description="Further YCSB properties, which override those of file and study."
    )

    @property
    def property_texts(self) -> dict[str, str]:
        """The properties as YCSB reads them."""
        return _texts(self.properties)


class Parameters(Strict):
    """Sizes of a cell. A list makes one cell per value (all combinations)."""

    records: Counts = Field(description="Records loaded before the run.")
    operations: Counts = Field(
        description="Operations of the run phase; workloads with operationcount=0 have none."
    )
    threads: Counts = Field(default=1, description="Client threads of YCSB.")
    clients: Annotated[int, Field(ge=1, le=MOST_CLIENTS)] | Literal["auto"] = Field(
        default=1,
        description="Number of YCSB clients, processes that start together and share threads, "
        "operations and, if they insert, keys. `auto`: the number for each store "
        "and workload beyond which doubling gains less than 5 %, determined by "
        "trial cells.",
    )
    shown: ShownSizes = Field(
        default=ShownSizes(),
        description="With several sizes: those in tables and figures that have one value for "
        "each store and workload. Control cells have only these sizes.",
    )
    seconds: Count | None = Field(
        default=None, description="Timed cells: the run phase ends after this many seconds."
    )
    properties: dict[str, str | int | float | bool] = Field(
        default={}, description="Further YCSB properties, the same for every cell."
    )

    raw_latencies: bool = Field(
        default=False,
        description="Keep the latency of every single operation of the measured phase with the "
        "raw logs (about 3 MB per million, compressed). This reduces throughput, "
        "see docs/guide.md.",
    )

    @property
    def several(self) -> int | str | None:
        """The clients of each cell where there are several, or may be."""
        return None if self.clients == 1 else self.clients

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
    """The origin of imported logs; omitted values are unknown."""

    folder: str = Field(default="", description="Name of the folder of the logs.")
    machine: str = Field(default="", description="The measured machine.")
    measured_by: str = Field(default="", description="Who measured.")


class UntilDecided(Strict):
    """As many repetitions as it takes to decide every comparison."""

    first: Annotated[int, Field(ge=2, le=MOST_REPETITIONS)] = Field(
        alias="from", description="The minimum; the first look is after it."
    )
    last: Annotated[int, Field(ge=3, le=MOST_REPETITIONS)] = Field(
        alias="to", description="The maximum, with which the run ends even if it is undecided."
    )
    margin: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None,
        description="Equivalence margin: two stores are equal if their ratio is between 1/(1 + "
        "margin) and 1 + margin. Default: 0.1.",
    )

    @model_validator(mode="after")
    def _several_looks(self) -> UntilDecided:
        if self.first >= self.last:
            raise ValueError(f"from ({self.first}) must be less than to ({self.last})")
        return self


class ExpectedFailures(Strict):
    """Failed or missed operations that the study declares as part of the result."""

    store: Name = Field(description="The store whose operations fail.")
    kind: Literal["failures", "misses"] = Field(
        default="failures",
        description="failures: YCSB reports the operation as failed. misses: YCSB reports OK, "
        "but the server's counter shows that there was no such record.",
    )
    workload: Name | None = Field(default=None, description="Default: every workload.")
    records: list[Count] | None = Field(
        default=None, description="Numbers of records of the cells; default: any."
    )
    operation: Operation = Field(description="The operation that fails.")
    up_to: Annotated[float, Field(gt=0, le=1)] = Field(
        description="Share of the operations that may fail."
    )
    reason: Text = Field(description="The reason, shown in the report.")

    @model_validator(mode="after")
    def _only_reads_miss(self) -> ExpectedFailures:
        if self.kind == "misses" and self.operation not in ("read", "scan"):
            raise ValueError(
                f"kind misses: a server counts misses of read and scan, not of {self.operation}"
            )
        return self


class OpenLoop(Strict):
    """Further cells at fixed rates, after all others and the trial cells that set the rates."""

    loads: list[Annotated[float, Field(gt=0, le=1)]] = Field(
        default=[0.5, 0.8],
        min_length=1,
        description="Shares of the throughput of a trial cell, a closed-loop cell that only sets "
        "the rates.",
    )
    workloads: list[Name] = Field(
        default=[], description="Names of workloads; default: all with a run phase."
    )

    @field_validator("loads")
    @classmethod
    def _whole_percents(cls, loads: list[float]) -> list[float]:
        percents = [load * 100 for load in loads]
        if any(abs(percent - round(percent)) > 1e-9 for percent in percents):
            raise ValueError("give whole per cents, like 0.5 or 0.85")
        if len(set(percents)) < len(percents):
            raise ValueError("a load appears twice; name each once")
        return loads

    @property
    def percents(self) -> list[int]:
        """The loads in per cent."""
        return [round(load * 100) for load in self.loads]
