"""Labels for the values behind a part of a claim."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan

from kvstudy.analyse.claims.quantities import READS, SHARE, THREADS, Proposition, Quantity
from kvstudy.analyse.claims.selection import Operand, ParameterGrid
from kvstudy.analyse.tidy.numbers import amount, ends, grouped, significant
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal, decimal_mark
from kvstudy.language.reasons import sentence
from kvstudy.libraries import pd
from kvstudy.stats.power import MOST
from kvstudy.study.base import SIZES
from kvstudy.study.metrics import METRICS

# Claims are of throughput where they do not say.
_PHRASES = {name: metric.phrase for name, metric in METRICS.items()} | {"throughput": ""}
SPACE = "\N{NO-BREAK SPACE}"


@dataclass(frozen=True)
class ClaimNames:
    """Titles of stores, short names of workloads, and the study's parameter sets.

    Sizes are those that were ``measured``, or those of the study: at another scale they differ.
    """

    stores: dict[str, str]
    workloads: dict[str, str]
    grid: ParameterGrid
    measured: bool = False


def label(part: Proposition, quantity: Quantity | None, names: ClaimNames) -> str:
    """``A: Redis / Memcached``: what is common first, then what is divided."""
    operands = list(quantity.of if quantity and quantity.of else part.of)
    if part.over:
        return _over(part, operands, names)
    # Of many couples: what all have in common.
    text = sides(operands[0::2], operands[1::2], names, _(part.between))
    limits = [_(form).format(amount) for form, amount in part.limits]
    return "; ".join(filter(None, [text, *limits, sentence(part.several)]))


def number(value: float, low: float = nan, high: float = nan, unit: str = "") -> str:
    """``1.05 [1.02, 1.08]``, with the ``unit`` of a value; NaN ends are those of one run."""
    single = pd.isna(low)
    if unit == THREADS:
        count = _count(value) + ("" if single else _in_brackets(_count(low), _count(high)))
        return _("{} threads").format(count)
    if value == inf and unit == READS:
        return _("never")
    factor, sign = _scale(value, unit)
    interval = "" if single else _in_brackets(*ends(value * factor, low * factor, high * factor))
    return f"{grouped(significant(value * factor))}{interval}{sign}"


def _in_brackets(low: str, high: str) -> str:
    """The interval, which stays on one line with its value."""
    return f"{SPACE}[{low}{';' if decimal_mark() == ',' else ','}{SPACE}{high}]"


def _over(part: Proposition, operands: list[Operand], names: ClaimNames) -> str:
    counts = sorted({_numbers(operand, part.over, names).pop() for operand in operands} - {None})
    span = over = _(part.over)
    if counts:
        ends = (grouped(str(count)) for count in (counts[0], counts[-1]))
        span = _("{} {} to {}").format(over, *ends)
    described: dict[tuple, Operand] = {}
    for operand in operands:
        described.setdefault(
            tuple((_described(operand, names) | {part.over: ""}).values()), operand
        )
    above, *below = described.values()
    return f"{sides([above], below, names, without=part.over)}; {span}"


def sides(
    above: list[Operand],
    below: list[Operand],
    names: ClaimNames,
    between: str = "/",
    without: str = "",
) -> str:
    """Return the common label of both sides, then the differences; without ``below`` all of it."""
    common, one, other = [], [], []
    described = [[_described(operand, names) for operand in side] for side in (above, below)]
    for key in described[0][0]:
        if key == without or (key in SIZES and not _worth(key, [*above, *below], names)):
            continue
        mine, theirs = (_joined({words[key] for words in side}) for side in described)
        if mine == theirs or not below:
            common.append(mine)
        elif None not in (mine, theirs):
            one.append(mine)
            other.append(theirs)
    text = ", ".join(filter(None, common))
    if not any(one):
        return text
    divided = f"{SPACE}{between} ".join(" ".join(filter(None, side)) for side in (one, other))
    return f"{text}: {divided}" if text else divided


def _joined(words: set[str | None]) -> str | None:
    """The one word of a side; None where its operands differ."""
    return words.pop() if len(words) == 1 else None


def _worth(size: str, operands: list[Operand], names: ClaimNames) -> bool:
    """Return whether the label should name the size: the study has several, or not this one."""
    known = [(each, names.grid.values(each.workload, size)) for each in operands]
    return any(
        len(numbers) > 1 or getattr(each.candidates[0], size) not in [None, *numbers]
        for each, numbers in known
    )


def _described(operand: Operand, names: ClaimNames) -> dict[str, str | None]:
    """Return the parts of an operand's label; None for a size that it does not have."""
    whole = operand.operation in ("overall", "all")
    words = {
        "workload": names.workloads.get(operand.workload, operand.workload),
        "store": names.stores.get(operand.store, operand.store),
        "metric": _(_PHRASES.get(operand.metric, operand.metric)),
        "operation": "" if whole else _(operand.operation),
    }
    for size in SIZES:
        number, *others = _numbers(operand, size, names)
        words[size] = number and amount(size, number)
        if others:
            words[size] = _(BEST[size])
    return words


def _numbers(operand: Operand, size: str, names: ClaimNames) -> set[int | None]:
    """The numbers of one size among which the operand's best value is taken."""
    return {
        dict(each.measured).get(size) if names.measured and each.measured else getattr(each, size)
        for each in operand.candidates
    }


def runs_words(runs: int, would_decide: float) -> str:
    """``3 runs; about 12 might decide``, what belongs to "undecided".

    ``would_decide`` is NaN where one run shows no spread, or more than MOST were needed.
    """
    if runs < 2:
        return _("one run") if runs else _("no common repetition")
    text = ngettext("{} run", "{} runs", runs).format(runs)
    if isnan(would_decide):
        return _("{}; more than {} might settle it").format(text, MOST)
    return _("{}; about {} might settle it").format(text, f"{would_decide:.0f}")


# What a trend is of.
SIZE_WORDS = [N_("records"), N_("operations"), N_("threads")]
BEST = {
    "records": N_("best number of records"),
    "operations": N_("best number of operations"),
    "threads": N_("best number of threads"),
}


def _scale(value: float, unit: str) -> tuple[float, str]:
    """Return the factor and the unit to show the value with."""
    if unit in ("us", "ms"):
        us = 1 if unit == "us" else 1000
        if value * us >= 1e6:
            return us / 1e6, " s"
        in_ms = value * us >= 1000 or unit == "ms"
        return (us / 1000, " ms") if in_ms else (1, " µs")
    units = {"ops/s": (1e-3, " kops/s"), SHARE: (100, " %"), READS: (1, _(" reads per write"))}
    return units.get(unit, (1, ""))


def _count(value: float) -> str:
    return _("above all sizes") if value == inf else decimal(f"{value:g}")
