"""What a study's source says it found (``claims.yaml`` beside study.yaml).

A claim has one or more statements; each is of a kind that the measured and the published
values can be asked about. These models validate the file, and they are the source of its
JSON schema.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, model_validator

from kvstudy.language.texts import Text
from kvstudy.study.base import Count, Name, Size, Strict
from kvstudy.study.metrics import SHOWN
from kvstudy.study.naming import did_you_mean

Metric = Literal[*(name for name in SHOWN if name != "operations"), "failed_share"]
Asked = Literal[
    *("read", "update", "insert", "scan", "read-modify-write", "delete"),
    *("overall", "all"),
]


def _known(kind: str, names: tuple[str, ...]) -> BeforeValidator:
    """Each name must be one of ``names``; the error suggests the nearest."""

    def check(value: object) -> object:
        for name in value if isinstance(value, list) else [value]:
            if name is not None and name not in names:
                raise ValueError(f"unknown {kind} '{name}'{did_you_mean(str(name), list(names))}")
        return value

    return BeforeValidator(check)


def _sizes(value: object) -> object:
    """Numbers, or one of the two words."""
    numbers = value if isinstance(value, list) else [value]
    if value not in (None, "all", "best") and not all(
        isinstance(number, int) and number > 0 for number in numbers
    ):
        raise ValueError("give a number above 0, several in a list, all or best")
    return value


# Names or one name; each of several makes a part of the statement.
Names = Name | list[Name]
Operations = Annotated[Asked | list[Asked] | None, _known("operation", get_args(Asked))]
Metrics = Annotated[Metric | list[Metric] | None, _known("metric", get_args(Metric))]
Sizes = Annotated[Count | list[Count] | Literal["all", "best"] | None, BeforeValidator(_sizes)]
Factor = Annotated[float, Field(gt=0)]
# How far the source's own values may be from a number in its text, which is rounded.
ROUNDED = 0.05
# Of a claim.
ID = r"[A-Z][A-Za-z0-9-]*"


class Selection(Strict):
    """Which values; what is left out is any store named elsewhere, and the shown sizes."""

    store: Names | None = Field(
        default=None, description="Names of the study's stores; several: the claim is of each."
    )
    workload: Names | None = Field(
        default=None, description="Workloads of the study, or mean; several: the claim is of each."
    )
    operation: Operations = Field(
        default=None,
        description="overall: the whole phase, for throughput and run time if left out. all: the "
        "workload's operations combined, or its only one; for latencies if left out.",
    )
    metric: Metrics = Field(
        default=None, description="Left out: throughput. Several: the claim is of each."
    )
    records: Sizes = Field(
        default=None,
        description="Full-size number or numbers; all: each that the study has; best: the one at "
        "which the value is best. Left out: what tables and figures show.",
    )
    operations: Sizes = Field(default=None, description="As records.")
    threads: Sizes = Field(default=None, description="As records.")


class Order(Selection):
    """Stores, best first."""

    kind: Literal["order"] = Field(description="Stores, best first.")
    stores: Annotated[list[Name], Field(min_length=2)] = Field(description="Best first.")


class Extreme(Selection):
    """One store is the best, or the worst, of all."""

    kind: Literal["best", "worst"] = Field(
        description="``store`` is the best, or the worst, of the study's stores."
    )
    store: Name = Field(description="The store.")


class _Quotient(Selection):
    """A value by another. What the sides do not say themselves stands beside them."""

    of: Selection = Field(description="What is divided; its keys go before those beside it.")
    to: Selection = Field(description="What it is divided by.")
    take: Literal["each", "smallest", "largest", "mean"] = Field(
        default="each",
        description="What the claim is of, when there are several: each of them, the smallest or "
        "largest of all, or for each store and workload the geometric mean over the sizes.",
    )


class TimesAs(_Quotient):
    """``of`` is so many times ``to``."""

    kind: Literal["ratio"] = Field(description="A is so many times B.")
    times: Factor = Field(description="Not 1: that is kind equal. A loss of 10 % is 0.9.")
    within: Factor = Field(
        default=ROUNDED,
        description="By what share the source's own values may be off, since its text rounds.",
    )

    @model_validator(mode="after")
    def _no_equality(self) -> TimesAs:
        if self.times == 1:
            raise ValueError("times 1 is a claim of equality; use kind: equal, with a margin")
        return self


class Equal(_Quotient):
    """``of`` and ``to`` are equal, or what differs between them has no effect."""

    kind: Literal["equal"] = Field(description="A and B are equal, or something has no effect.")
    margin: Factor = Field(default=0.1, description="What still counts as equal, as a share.")


class _Limits(Strict):
    at_least: Factor | None = Field(default=None, description="The smallest that fits the claim.")
    at_most: Factor | None = Field(default=None, description="The largest that fits the claim.")

    @model_validator(mode="after")
    def _some_limit(self):
        if self.at_least is None and self.at_most is None:
            raise ValueError("has no limit; give at_least, at_most or both")
        if None not in (self.at_least, self.at_most) and self.at_least > self.at_most:
            raise ValueError(f"at_least {self.at_least:g} is above at_most {self.at_most:g}")
        return self


class Factors(_Quotient, _Limits):
    """``of`` is at least or at most so many times ``to``."""

    kind: Literal["factor"] = Field(description="A is at least, or at most, so many times B.")


class Bound(Selection, _Limits):
    """A value itself has a limit."""

    kind: Literal["bound"] = Field(
        description="A value is at least, or at most, so large: ops/s, ms (run time), us "
        "(latency), a share."
    )


class Value(Selection):
    """A rate or a time that the source names: it can only be asked of the source itself."""

    kind: Literal["value"] = Field(
        description="A value of the source's machine: only the source's own data are asked."
    )
    value: Factor = Field(description="In ops/s, ms (run time), us (latency) or as a share.")
    within: Factor = Field(default=ROUNDED, description="As for ratio.")


class Trend(Selection):
    """A value, or ``of`` by ``to``, rises or falls with a size."""

    kind: Literal["trend"] = Field(description="A value or a ratio rises or falls with a size.")
    goes: Literal["up", "down"] = Field(description="Which way.")
    over: Size = Field(description="With what.")
    until_saturation: bool = Field(
        default=False, description="Up to the thread count at which throughput saturates."
    )
    of: Selection | None = Field(default=None, description="For the trend of a ratio; with to.")
    to: Selection | None = Field(default=None, description="What it is divided by.")

    @model_validator(mode="after")
    def _whole(self) -> Trend:
        if (self.of is None) != (self.to is None):
            raise ValueError("of and to belong together; give both or none")
        if getattr(self, self.over) in (None, "best") or isinstance(getattr(self, self.over), int):
            raise ValueError(f"{self.over}: give all or several, over which the trend is")
        if self.until_saturation and (self.over != "threads" or self.of):
            raise ValueError("until_saturation: only for a value over threads")
        return self


class Saturation(Selection, _Limits):
    """The thread count from which on throughput hardly rises."""

    kind: Literal["saturation"] = Field(
        description="The fewest threads with 95 % of the largest throughput, within limits. "
        "The threads that were measured must reach beyond the limits."
    )


class First(Selection):
    """One store saturates with fewer threads than the others."""

    kind: Literal["saturates-first"] = Field(
        description="``store`` saturates with fewer threads than each other store of the study."
    )
    store: Name = Field(description="The store.")


class BreakEven(Selection):
    """From how many reads per write a cache pays off.

    One write to the database and a deletion in the cache; the first read asks both and
    writes to the cache, all others ask the cache only.
    """

    kind: Literal["break-even"] = Field(
        description="A cache pays off from so many reads per write on: each write deletes in the "
        "cache, and the first read after it fills it."
    )
    cache: Name = Field(description="The store that is the cache.")
    database: Name = Field(description="The store behind it.")
    reads: Annotated[float, Field(gt=1)] = Field(description="Reads per write.")
    within: Factor = Field(default=ROUNDED, description="As for ratio.")


Statement = Annotated[
    Order
    | Extreme
    | TimesAs
    | Factors
    | Equal
    | Bound
    | Value
    | Trend
    | Saturation
    | First
    | BreakEven,
    Field(discriminator="kind"),
]


class Claim(Strict):
    """One thing that the source says it found."""

    id: Annotated[str, Field(pattern=rf"^{ID}$")] = Field(description="Short name, for example J1.")
    claim: Text = Field(description="What is claimed, in plain words.")
    place: Text = Field(description="Where in the source: section, table, figure or page.")
    said: Literal["quoted", "derived"] = Field(
        description="quoted: the source says so. derived: it follows from the source's numbers."
    )
    note: Text = Field(default="", description="What a reader must know about it.")
    statements: Annotated[list[Statement], Field(min_length=1)] = Field(
        description="All of them must hold for the claim to hold."
    )


class Claims(Strict):
    """The claims of a study's source."""

    claims: Annotated[list[Claim], Field(min_length=1)] = Field(
        description="In the order of the report."
    )
