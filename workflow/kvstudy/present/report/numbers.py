"""How values look in running text: three digits that count, and a unit."""

from __future__ import annotations

from kvstudy.analyse.tidy.numbers import grouped, significant
from kvstudy.language.current import ngettext
from kvstudy.language.locale import decimal
from kvstudy.present.report.escape import Markup

NARROW = "\N{NARROW NO-BREAK SPACE}"


def plain(value: float) -> Markup:
    """``value`` with three significant digits."""
    return Markup(grouped(significant(value)))


def as_unit(value: float, kind: str) -> Markup:
    """``value`` as ``kops`` (given in ops/s) or ``latency`` (given in us), with its unit."""
    factor, unit = _scale(value, kind)
    return Markup(f"{plain(value * factor)}{NARROW}{unit}")


def as_range(low: float, high: float, mean: float, kind: str) -> Markup:
    """``low`` to ``high`` in the unit that their ``mean`` has."""
    factor, unit = _scale(mean, kind)
    return Markup(f"{plain(low * factor)}\N{EN DASH}{plain(high * factor)}{NARROW}{unit}")


def as_duration(seconds: float) -> Markup:
    """Seconds as seconds, minutes or hours and minutes."""
    if seconds < 100:
        return Markup(f"{plain(seconds)}{NARROW}s")
    minutes = round(seconds / 60)
    if minutes < 100:
        return Markup(f"{minutes}{NARROW}min")
    return Markup(f"{minutes // 60}{NARROW}h {minutes % 60}{NARROW}min")


def as_bytes(count: float) -> Markup:
    """Bytes, whole."""
    unit = ngettext("bytes", "bytes", round(count))
    return Markup(f"{grouped(f'{count:.0f}')}{NARROW}{unit}")


def as_percent(share: float) -> Markup:
    """A share between 0 and 1 as per cent."""
    return Markup(decimal(f"{share * 100:.4g}{NARROW}%"))


def as_rough_percent(share: float) -> Markup:
    """A measured share between 0 and 1 as per cent, with one decimal."""
    return Markup(decimal(f"{share * 100:.1f}{NARROW}%"))


def as_correlation(value: float) -> Markup:
    """A correlation between -1 and 1 with two decimals."""
    sign = "\N{MINUS SIGN}" if value < 0 else ""
    return Markup(decimal(f"{sign}{abs(value):.2f}"))


def as_p_value(value: float) -> Markup:
    """A p-value with two decimals; the smallest only as a bound."""
    return Markup(decimal("< 0.01" if value < 0.01 else f"{value:.2f}"))


def _scale(value: float, kind: str) -> tuple[float, str]:
    if kind == "kops":
        return 1e-3, "kops/s"
    if kind == "latency":
        return (1e-3, "ms") if value >= 1000 else (1, "µs")
    raise ValueError(f"{kind!r} is neither 'kops' nor 'latency'")
