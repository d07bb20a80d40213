"""Text and values as the report's Markdown has them: escaped, grouped, with units."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import jinja2

from kvstudy.analyse.tidy.numbers import change, grouped, significant
from kvstudy.language.current import ngettext
from kvstudy.language.locale import decimal, list_of, long_date, plural
from kvstudy.language.reasons import sentence
from kvstudy.present import templates
from kvstudy.present.typeset.latex import breakable

NARROW = "\N{NARROW NO-BREAK SPACE}"


class Markup(str):
    """Text that already is Markdown; escaping leaves it alone."""

    __slots__ = ()


# Pandoc lets every ASCII symbol be escaped, so all of them are: no list of
# "special" ones to keep in step with pandoc's extensions.
_SYMBOL = re.compile(r"([!-/:-@\[-`{-~])")


def for_markdown(text: str) -> Markup:
    """``text`` on one line, meaning only itself in Markdown.

    Long words (paths in a reason, say) get places to break, so that no string
    from the data runs over the margin.
    """
    if isinstance(text, Markup):
        return text
    # Not at no-break spaces, as split() does: they hold the groups of a number together.
    words = [breakable(word) for word in re.split(r"[ \t\r\n]+", text.strip(" \t\r\n"))]
    return Markup(_SYMBOL.sub(r"\\\1", " ".join(words)))


def code(text: str) -> Markup:
    """``text`` as code in running Markdown."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    return Markup(f"{fence} {text} {fence}")


def listed(items: Iterable[str]) -> Markup:
    """``a``, ``a and b``, ``a, b and c``."""
    texts = [for_markdown(item) for item in items]
    if not texts:
        raise ValueError("an empty list; ask for its length before")
    return Markup(list_of(texts))


def distinct_numbers(values: Iterable[int]) -> Markup:
    """Each number once, in order: ``1, 2 and 4``."""
    return listed(grouped(str(value)) for value in sorted(set(values)))


def as_time(moment: datetime) -> Markup:
    """``20 November 2026, 19:46 (UTC)``."""
    zone = f" ({moment.tzname()})" if moment.tzinfo else ""
    return Markup(f"{long_date(moment)}, {moment:%H:%M}{zone}")


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


FILTERS = {
    "md": Markup,
    "code": code,
    "listed": listed,
    "numbers": distinct_numbers,
    "significant": plain,
    "as_unit": as_unit,
    "as_range": as_range,
    "as_percent": as_percent,
    "as_rough_percent": as_rough_percent,
    "bytes": as_bytes,
    "as_duration": as_duration,
    "as_time": as_time,
    "as_day": lambda moment: Markup(long_date(moment)),
    "rho": as_correlation,
    "p_value": as_p_value,
    "change": change,
    "shortest": lambda value: Markup(decimal(f"{value:g}")),
    # As a command takes it, whatever the language.
    "plain": lambda value: Markup(f"{value:g}"),
    "translated": sentence,
    "plural": plural,
}


def fill(folder: Path, name: str, values: dict[str, object]) -> str:
    """The template ``name`` of the text in ``folder``, filled in. Errors as ``templates.fill``'s.

    Strings are escaped, whole numbers grouped. A bare float is an error: how many digits it
    deserves is for the text to say.
    """
    environment = templates.environment(folder, finalize=_finalize)
    environment.filters |= FILTERS
    return templates.fill(environment, name, values)


def _finalize(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return Markup(grouped(str(value)))
    if isinstance(value, jinja2.Undefined):
        return str(value)  # raises, and names what is undefined
    if not isinstance(value, str):
        kind = type(value).__name__
        raise TypeError(f"{value!r} ({kind}) is not text; use a filter that says how to print it")
    return for_markdown(value)
