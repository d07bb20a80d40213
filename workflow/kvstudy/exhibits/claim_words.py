"""The words of claims: what a part is about, and its value."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan
from typing import Self

from kvstudy.analyse.claims.quantities import READS, SHARE, THREADS
from kvstudy.analyse.claims.subjects import BEST
from kvstudy.language.current import N_, _, ngettext
from kvstudy.language.locale import decimal, decimal_mark
from kvstudy.language.reasons import reason, sentence, split_codes
from kvstudy.layout.numbers import amount, ends, grouped, sign, significant
from kvstudy.libraries import pd
from kvstudy.stats.power import MOST
from kvstudy.study.base import SIZES
from kvstudy.study.metrics import METRICS
from kvstudy.study.model import Study
from kvstudy.study.parts import MEAN

SPACE = "\N{NO-BREAK SPACE}"
# Between the two sides of a ratio.
SIDES = {"of": "", "by": "/", "before": N_("before")}
LIMITS = {"at-least": N_("at least {}"), "at-most": N_("at most {}")}


@dataclass(frozen=True)
class ClaimNames:
    """Titles of stores and short names of workloads."""

    stores: dict[str, str]
    workloads: dict[str, str]

    @classmethod
    def of(cls, study: Study, titles: dict[str, str]) -> Self:
        """Return the names in a study, whose stores have these ``titles``."""
        names = {use.name: use.short for use in study.workloads}
        return cls(titles, names | {MEAN: _("Arithmetic mean")})


def label(subject: str, names: ClaimNames) -> str:
    """``A: Redis / Memcached``: the words of a ``claims.subjects``; itself where it is none."""
    codes = dict(split_codes(subject))
    if not codes:
        return subject
    common = ", ".join(_described(codes.pop("in", {}), names))
    divided = ""
    for code, between in SIDES.items():
        if code in codes:
            side = " ".join(_described(codes.pop(code), names))
            divided += f"{SPACE}{_(between)} {side}" if between else side
    text = f"{common}: {divided}" if common and divided else common or divided
    return "; ".join(filter(None, [text, *(_clause(*code) for code in codes.items())]))


def _clause(code: str, values: dict[str, str]) -> str:
    """Return the words of a limit, of a size with its ends, or of how many ratios it is one."""
    if code in LIMITS:
        return _(LIMITS[code]).format(f"{grouped(values['amount'])} {sign(values['unit'])}")
    if code == "over":
        size, *limits = values.values()
        return _("{} {} to {}").format(_(size), *map(grouped, limits)) if limits else _(size)
    return sentence(reason(code, **values))


def _described(values: dict[str, str], names: ClaimNames) -> list[str]:
    """Return the words of what operands have in common, or of what sets them apart."""
    titles = {"workload": names.workloads, "store": names.stores}
    words = []
    for key, value in values.items():
        if key in SIZES:
            words.append(_(BEST_SIZES[key]) if value == BEST else amount(key, int(value)))
        elif key == "metric":
            words.append(_(METRICS[value].phrase) if value in METRICS else _(value))
        else:
            words.append(titles[key].get(value, value) if key in titles else _(value))
    return words


def number(value: float, low: float = nan, high: float = nan, unit: str = "") -> str:
    """``1.05 [1.02, 1.08]``, with the ``unit`` of a value; NaN ends are those of one run."""
    single = pd.isna(low)
    if unit == THREADS:
        count = _count(value) + ("" if single else _in_brackets(_count(low), _count(high)))
        return _("{} threads").format(count)
    if value == inf and unit == READS:
        return _("never")
    factor, shown_unit = _scale(value, unit)
    interval = "" if single else _in_brackets(*ends(value * factor, low * factor, high * factor))
    return f"{grouped(significant(value * factor))}{interval}{shown_unit}"


def _in_brackets(low: str, high: str) -> str:
    """The interval, which stays on one line with its value."""
    return f"{SPACE}[{low}{';' if decimal_mark() == ',' else ','}{SPACE}{high}]"


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
BEST_SIZES = {
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
