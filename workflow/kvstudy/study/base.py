"""The base of all models of a study file, so that each topic can have its own module."""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from kvstudy.language.current import N_
from kvstudy.study.metrics import SHOWN
from kvstudy.study.naming import NAME

Name = Annotated[str, Field(pattern=NAME, max_length=120)]
# YCSB counts in Java's int.
MOST = 2**31 - 1
Count = Annotated[int, Field(gt=0, le=MOST)]
Counts = Count | Annotated[list[Count], Field(min_length=1)]
# What cells of one store and workload may differ by.
Size = Literal["records", "operations", "threads"]
SIZES: tuple[Size, ...] = get_args(Size)
SIZE_TITLES: dict[Size, str] = {
    "records": N_("Records"),
    "operations": N_("Operations"),
    "threads": N_("Client threads"),
}
Operation = Literal["read", "update", "insert", "scan", "read-modify-write"]
# As people read them; delete is an operation of rounds only.
OPERATION_WORDS = [
    *[N_("read"), N_("update"), N_("insert"), N_("scan"), N_("read-modify-write"), N_("delete")],
    N_("all"),
]
# What values of a source and claims are of.
Asked = Literal[
    *("read", "update", "insert", "scan", "read-modify-write", "delete"), *("overall", "all")
]
# Of a claim.
CLAIM_ID = r"[A-Z][A-Za-z0-9-]*"
# What tables and figures show.
# All operations of a workload together; of latencies the mean over all single operations.
ALL = "all"
# Whose a value is; from when on the time of an operation counts.
MEASURED, PUBLISHED = "measured", "published"
SERVICE_TIME, INTENDED_TIME = "service", "intended"
Metric = Literal[tuple(SHOWN)]
Unit = Literal["ops/s", "kops/s", "s", "ms", "us"]


def as_list(value: object) -> list:
    """``value`` as a list: none, one, or several."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def check_unit(metric: str, unit: str) -> None:
    """ValueError for a unit that a figure cannot show ``metric`` in."""
    latency = ["us", "ms", "s"] if metric.startswith("latency") else []
    units = {"throughput": ["ops/s", "kops/s"], "runtime": ["s", "ms"]}.get(metric, latency)
    if unit not in units:
        remedy = f"give {' or '.join(units)}" if units else "show another metric"
        raise ValueError(f"{metric} has no unit {unit!r}; {remedy}")


class Strict(BaseModel):
    """Base of all models: an unknown key is a typing error, and yes is no number."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
        # A report has few of the kinds of tables and figures that there are.
        defer_build=True,
        # What is written can be read again.
        serialize_by_alias=True,
    )


class Sizes(Strict):
    """Sizes of further cells; what is left out is as in the workload's other cells."""

    records: Counts | None = Field(default=None, description="Records loaded before the run.")
    operations: Counts | None = Field(default=None, description="Operations of the run phase.")
    threads: Counts | None = Field(default=None, description="Client threads of YCSB.")


class ShownSizes(Strict):
    """The one set of sizes in tables and figures that have a value per store and workload."""

    records: Count | None = Field(default=None, description="Default: the last of the list.")
    operations: Count | None = Field(default=None, description="Default: the last of the list.")
    threads: Count | None = Field(default=None, description="Default: the last of the list.")
