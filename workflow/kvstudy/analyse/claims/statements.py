"""The kinds of statements that a claim is made of: a class each.

A class has what ``claims.yaml`` says (pydantic checks it, and makes the JSON schema of it),
what the study must have for it, and its parts: what can be asked of values one by one. A new
kind is one more class, in the union at the end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, combinations
from math import inf, nextafter
from sys import float_info
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from kvstudy.analyse.claims import quantities
from kvstudy.analyse.claims.amounts import UNITS, Amount, amount_of, limit_code
from kvstudy.analyse.claims.quantities import (
    Couple,
    Proposition,
    Step,
    part_of_ratio,
    part_over,
    series,
)
from kvstudy.analyse.claims.selection import ParameterGrid, Selection, couples, singles
from kvstudy.analyse.claims.verdicts import Judge, beyond_one
from kvstudy.errors import InputError
from kvstudy.language.reasons import reason
from kvstudy.stats.ratios import MARGIN, margin_bounds
from kvstudy.study.base import Name, Size, Strict, as_list

Factor = Annotated[float, Field(gt=0)]
# How far the source's own values may be from a number in its text, which is rounded.
ROUNDED = 0.05


class AnyStatement(Selection):
    """The base of all kinds of statements; ``_judge`` gives the verdict on each of its parts."""

    derived: bool = Field(
        default=False,
        description="true: the source does not say it, it is read out of its tables, like a limit "
        "of 5 %. It has a verdict of its own and decides nothing about the claim.",
    )

    # Keys by which the kind names its stores itself, whether its value may be 0, and whether it has
    # an interval, which gets narrower with the repetitions.
    own_stores: ClassVar[tuple[str, ...]] = ()
    takes_zero: ClassVar[bool] = False
    has_interval: ClassVar[bool] = True

    def parts(self, grid: ParameterGrid, stores: list[str]) -> list[Proposition]:
        """Return the propositions that must all hold. ``stores`` are the study's."""
        raise NotImplementedError

    def _series(self, size: str, grid: ParameterGrid, **fixed: object) -> list[list[Step]]:
        """The values over a size; ``fixed`` are keys that the kind brings."""
        return series([(one, None) for one in singles(self, grid, **fixed)], size)

    def _better(self, pairs: Iterable[tuple[str, str]], grid: ParameterGrid) -> list[Proposition]:
        """Return the propositions that each pair's first store is better, by ratio."""
        parts = []
        for pair in pairs:
            for a, b in zip(*(singles(self, grid, store=name) for name in pair), strict=True):
                both = (a, b) if a.larger_is_better else (b, a)
                parts.append(part_of_ratio(beyond_one(), *both))
        return parts

    @property
    def sides(self) -> dict[str, Selection]:
        """The two sides of a quotient, by their keys."""
        sides = {key: getattr(self, key, None) for key in ("of", "to")}
        return {key: side for key, side in sides.items() if side is not None}

    def names(self) -> Iterator[tuple[str, str, str]]:
        """Each store and workload: its key, store or workload, its name."""
        for prefix, selection in {"": self, **self.sides}.items():
            for kind in ("store", "workload"):
                key = f"{prefix}.{kind}" if prefix else kind
                yield from ((key, kind, name) for name in selection.values_of(kind))
        for key in self.own_stores:
            yield from ((key, "store", name) for name in as_list(getattr(self, key)))

    def check(self, key: str, stores: list[str]) -> None:
        """InputError (naming ``key``) for what is missing, or has no meaning for ``stores``."""
        sides = self.sides or {"": self}
        # Every value needs a workload and, where the kind does not bring it, a store.
        for needed in ("workload",) if self.own_stores else ("store", "workload"):
            for name, side in sides.items():
                if not side.values_of(needed) and not self.values_of(needed):
                    place = f"{key}.{name}.{needed}" if name else f"{key}.{needed}"
                    raise InputError(f"{place}: is missing; add it there or next to 'kind'")
        selections = [self, *self.sides.values()]
        if not self.takes_zero and any(
            "failed_share" in one.values_of("metric") for one in selections
        ):
            raise InputError(
                f"{key}.metric: failed_share may be 0 and has no ratio; use kind bound or value"
            )
        same = "of" in sides and sides["of"] == sides["to"]
        if same and all(len(sides["of"].values_of(of)) < 2 for of in ("store", "workload")):
            raise InputError(f"{key}: of and to are the same; let them differ in something")


class Order(AnyStatement):
    """Stores, best first."""

    own_stores = ("stores",)
    kind: Literal["order"] = Field(description="Stores, best first.")
    stores: Annotated[list[Name], Field(min_length=2)] = Field(description="Best first.")

    def check(self, key: str, stores: list[str]) -> None:
        super().check(key, stores)
        twice = [name for name in self.stores if self.stores.count(name) > 1]
        if twice:
            raise InputError(f"{key}.stores: '{twice[0]}' appears twice; name each once")

    def parts(self, grid: ParameterGrid, stores: list[str]) -> list[Proposition]:
        return self._better(combinations(self.stores, 2), grid)


class _OneOfAll(AnyStatement):
    """One store against each other of the study."""

    store: Name = Field(description="The store.")

    def check(self, key: str, stores: list[str]) -> None:
        super().check(key, stores)
        if stores == [self.store]:
            raise InputError(
                f"{key}.store: '{self.store}' is the study's only store, so there is none "
                "to compare it with; leave out the claim, or add a store to the study"
            )

    def _others(self, stores: list[str]) -> list[str]:
        return [store for store in stores if store != self.store]


class Extreme(_OneOfAll):
    """One store is the best, or the worst, of all."""

    kind: Literal["best", "worst"] = Field(
        description="``store`` is the best, or the worst, of the study's stores."
    )

    def parts(self, grid: ParameterGrid, stores: list[str]) -> list[Proposition]:
        pairs = [(self.store, other) for other in self._others(stores)]
        return self._better(pairs if self.kind == "best" else [pair[::-1] for pair in pairs], grid)


class Quotient(AnyStatement):
    """A value by another. What the sides do not say themselves is next to them."""

    of: Selection = Field(description="The dividend; its keys override those of the statement.")
    to: Selection = Field(description="The divisor.")
    take: Literal["each", "smallest", "largest", "mean"] = Field(
        default="each",
        description="What the claim is of, when there are several: each of them, the smallest or "
        "largest of all, or for each store and workload the geometric mean over the sizes.",
    )

    def parts(self, grid: ParameterGrid, stores: list[str]) -> list[Proposition]:
        pairs, verdict = couples(self, self.of, self.to, grid), self._judge()
        if self.take == "each":
            return [part_of_ratio(verdict, a, b) for a, b in pairs]
        groups: dict[tuple, list[Couple]] = defaultdict(list)
        for a, b in pairs:
            # A mean is of those that differ in sizes only.
            groups[(a.name, b.name) if self.take == "mean" else ()].append((a, b))
        find = {
            "mean": quantities.mean_ratio,
            "smallest": partial(quantities.extreme_ratio, choose=min),
            "largest": partial(quantities.extreme_ratio, choose=max),
        }[self.take]
        return [
            Proposition(
                partial(find, couples=of),
                verdict,
                tuple(chain(*of)),
                several=reason(f"{self.take}-of", n=len(of)),
            )
            for of in groups.values()
        ]


class TimesAs(Quotient):
    """``of`` is so many times ``to``."""

    kind: Literal["ratio"] = Field(description="A is so many times B.")
    times: Factor = Field(description="The factor, not 1 (use kind equal). A loss of 10 % is 0.9.")
    within: Factor = Field(
        default=ROUNDED,
        description="Tolerated relative error of the source's own values, because its text rounds.",
    )

    @model_validator(mode="after")
    def _no_equality(self) -> TimesAs:
        if self.times == 1:
            raise ValueError("times 1 is a claim of equality; use kind: equal, with a margin")
        return self

    def _judge(self) -> Judge:
        return beyond_one(self.times > 1, claimed=self.times, within=self.within)


class Equal(Quotient):
    """``of`` and ``to`` are equal, or what differs between them has no effect."""

    kind: Literal["equal"] = Field(description="A and B are equal, or something has no effect.")
    margin: Factor = Field(default=MARGIN, description="What still counts as equal, as a share.")

    def _judge(self) -> Judge:
        return Judge(*margin_bounds(self.margin), claimed=1)


def _check_limits(at_least: float | None, at_most: float | None) -> None:
    """ValueError for none of two limits, or for a lower one above the upper one."""
    if at_least is None and at_most is None:
        raise ValueError("has no limit; give at_least, at_most or both")
    if None not in (at_least, at_most) and at_least > at_most:
        raise ValueError("at_least is above at_most")


def _within(at_least: float | None, at_most: float | None, differs: bool = False) -> Judge:
    """Return the judge of what is within the limits, which still fit themselves."""
    above, below = at_least and nextafter(at_least, -inf), at_most and nextafter(at_most, inf)
    return Judge(above, below, differs=differs)


class _Limits(Strict):
    at_least: Factor | None = Field(
        default=None, description=("The smallest value that agrees with the claim.")
    )
    at_most: Factor | None = Field(
        default=None, description=("The largest value that agrees with the claim.")
    )

    @model_validator(mode="after")
    def _some_limit(self):
        _check_limits(self.at_least, self.at_most)
        return self

    def _judge(self) -> Judge:
        differs = (self.at_least or 0) >= 1 or (self.at_most or inf) <= 1
        return _within(self.at_least, self.at_most, differs)


class Factors(Quotient, _Limits):
    """``of`` is at least or at most so many times ``to``."""

    kind: Literal["factor"] = Field(description="A is at least, or at most, so many times B.")


class _Single(AnyStatement):
    """Each value itself; ``amounts`` are the keys that say how large it is."""

    takes_zero = True
    amounts: ClassVar[tuple[str, ...]]

    def _amounts_of(self, metric: str) -> list[float | None]:
        """Return the amounts in the unit in which values of the metric are judged."""
        amounts = ((key, getattr(self, key)) for key in self.amounts)
        return [None if one is None else amount_of(metric, key, one) for key, one in amounts]

    def _judge_of(self, metric: str) -> Judge:
        raise NotImplementedError

    @model_validator(mode="after")
    def _amounts_have_units(self):
        for metric in self.values_of("metric") or ["throughput"]:
            self._judge_of(metric)
        return self

    def parts(self, grid: ParameterGrid, stores: list[str]) -> list[Proposition]:
        return [
            Proposition(
                partial(quantities.value, operand=operand),
                self._judge_of(operand.metric),
                (operand,),
                limits=self._limits_of(operand.metric),
            )
            for operand in singles(self, grid)
        ]

    def _limits_of(self, metric: str) -> tuple[str, ...]:
        """Return codes of what the claim says of the value, which the table prints next to it."""
        return ()


class Bound(_Single):
    """A value itself has a limit."""

    amounts = ("at_least", "at_most")
    kind: Literal["bound"] = Field(description="A value is at least, or at most, a given one.")
    at_least: Amount | None = Field(default=None, description=f"The smallest that fits. {UNITS}")
    at_most: Amount | None = Field(default=None, description=f"The largest that fits. {UNITS}")

    def _judge_of(self, metric: str) -> Judge:
        limits = self._amounts_of(metric)
        _check_limits(*limits)
        return _within(*limits)

    def _limits_of(self, metric: str) -> tuple[str, ...]:
        given = {"at-least": self.at_least, "at-most": self.at_most}
        limits = given.items()
        return tuple(limit_code(code, metric, one) for code, one in limits if one is not None)


class AbsoluteValue(_Single):
    """A rate or a time that the source names: it can only be asked of the source itself."""

    kind: Literal["value"] = Field(
        description="A value of the source's machine: only the source's own data are asked."
    )
    amounts = ("value",)
    value: Amount = Field(description=f"How large it is. {UNITS}")
    within: Factor = Field(default=ROUNDED, description="As for ratio.")

    def _judge_of(self, metric: str) -> Judge:
        # Nothing measured elsewhere can tell.
        (claimed,) = self._amounts_of(metric)
        return Judge(claimed=claimed, within=self.within)


class Trend(AnyStatement):
    """A value, or ``of`` by ``to``, rises or falls with a size."""

    kind: Literal["trend"] = Field(description="A value or a ratio rises or falls with a size.")
    goes: Literal["up", "down"] = Field(description="The direction.")
    over: Size = Field(description="The size.")
    until_saturation: bool = Field(
        default=False, description="Up to the thread count at which throughput saturates."
    )
    of: Selection | None = Field(default=None, description="For the trend of a ratio; with to.")
    to: Selection | None = Field(default=None, description="The divisor.")

    @model_validator(mode="after")
    def _whole(self) -> Trend:
        if (self.of is None) != (self.to is None):
            raise ValueError("of and to belong together; give both or none")
        sizes = getattr(self, self.over)
        if sizes != "all" and not isinstance(sizes, list):
            raise ValueError(f"{self.over}: give all or several, over which the trend is")
        if self.until_saturation and (self.over != "threads" or self.of):
            raise ValueError("until_saturation: only for a value over threads")
        return self

    def parts(self, grid: ParameterGrid, stores: list[str]) -> list[Proposition]:
        if self.of:
            steps_of_each = series(couples(self, self.of, self.to, grid), self.over)
        else:
            steps_of_each = self._series(self.over, grid)
        find = partial(quantities.change, until_saturation=self.until_saturation)
        direction = beyond_one(above=self.goes == "up")
        return [part_over(self.over, find, direction, steps) for steps in steps_of_each]


class Saturation(AnyStatement, _Limits):
    """The thread count from which on throughput hardly rises."""

    has_interval = False
    kind: Literal["saturation"] = Field(
        description="The fewest threads with 95 % of the largest throughput, within limits. "
        "The threads that were measured must reach beyond the limits."
    )

    def parts(self, grid: ParameterGrid, stores: list[str]) -> list[Proposition]:
        limits = {"at_least": self.at_least, "at_most": self.at_most}
        find = partial(quantities.saturation_point, **limits)
        steps_of_each = self._series("threads", grid)
        return [part_over("threads", find, self._judge(), steps) for steps in steps_of_each]


class First(_OneOfAll):
    """One store saturates with fewer threads than the others."""

    has_interval = False
    kind: Literal["saturates-first"] = Field(
        description="``store`` saturates with fewer threads than each other store of the study."
    )

    def parts(self, grid: ParameterGrid, stores: list[str]) -> list[Proposition]:
        points = self._series("threads", grid, store=self.store)
        parts = []
        for other in self._others(stores):
            theirs = self._series("threads", grid, store=other)
            for first, second in zip(points, theirs, strict=True):
                find = partial(quantities.saturates_after, first=first, other=second)
                of = tuple(operand for _, operand, _ in (*second, *first))
                parts.append(Proposition(find, beyond_one(), of, over="threads"))
        return parts


class BreakEven(AnyStatement):
    """From how many reads per write a cache pays off.

    One write to the database and a deletion in the cache; the first read asks both and
    writes to the cache, all others ask the cache only.
    """

    own_stores = ("cache", "database")
    kind: Literal["break-even"] = Field(
        description="A cache pays off from so many reads per write on: each write deletes in the "
        "cache, and the first read after it fills it."
    )
    cache: Name = Field(description="The store that is the cache.")
    database: Name = Field(description="The store behind it.")
    reads: Annotated[float, Field(gt=1)] = Field(description="Reads per write.")
    within: Factor = Field(default=ROUNDED, description="As for ratio.")

    def parts(self, grid: ParameterGrid, stores: list[str]) -> list[Proposition]:
        of = {
            "delete": (self.cache, "delete"),
            "write": (self.cache, "insert"),
            "database": (self.database, "read"),
            "read": (self.cache, "read"),
        }
        costs = {
            name: singles(self, grid, store=store, operation=operation)[0]
            for name, (store, operation) in of.items()
        }
        find = partial(quantities.break_even, **costs)
        shown = (costs["read"], costs["database"])
        return [Proposition(find, self._judge(), shown, between="before")]

    def _judge(self) -> Judge:
        # Infinite means that none pay off.
        return Judge(1, float_info.max, self.reads, self.within)


Statement = Annotated[
    Order
    | Extreme
    | TimesAs
    | Factors
    | Equal
    | Bound
    | AbsoluteValue
    | Trend
    | Saturation
    | First
    | BreakEven,
    Field(discriminator="kind"),
]
