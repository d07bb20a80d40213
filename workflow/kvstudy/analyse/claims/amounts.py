"""Values in claims: a number with its unit, such as ``10 ms``."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from kvstudy.language.reasons import reason
from kvstudy.study.metrics import metric_of
from kvstudy.study.units import UNIT_FACTORS

_FORM = r"(\d+(?:\.\d+)?) ?(us|ms|s|ops/s|kops/s|%)"
UNITS = "With its unit: 10 ms (us, ms, s), 5 kops/s (ops/s), 4 %. Without: ops/s, or a share."


def _check_form(value: object) -> object:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
    if isinstance(value, str) and (match := re.fullmatch(_FORM, value)):
        number = float(match[1])
    if not number > 0:
        raise ValueError("must be a number above 0 with its unit, like 10 ms, 5 kops/s or 4 %")
    return value


Amount = Annotated[
    str | Annotated[float, Field(allow_inf_nan=False)],
    BeforeValidator(_check_form),
    WithJsonSchema({"anyOf": [{"type": "string", "pattern": f"^{_FORM}$"}, {"type": "number"}]}),
]


def amount_of(metric: str, key: str, amount: str | float) -> float:
    """Return the amount in the unit in which values of the metric are judged.

    ValueError, which names the ``key``, for the unit of something else, and for a time without
    one: whether it is microseconds or milliseconds nobody can see.
    """
    number, unit = _split(metric, amount)
    factors = {to: by for (of, to), by in UNIT_FACTORS.items() if of == metric_of(metric).unit}
    if not unit:
        raise ValueError(f"{key}: {number} has no unit; write {number} {' or '.join(factors)}")
    if unit not in factors:
        raise ValueError(f"{key}: {metric} is not in {unit}; give {' or '.join(factors)}")
    return float(number) / (100 if unit == "%" else factors[unit])


def limit_code(code: str, metric: str, amount: str | float) -> str:
    """Return the limit that is the amount: ``at-least amount=10 unit=ms``."""
    number, unit = _split(metric, amount)
    return reason(code, amount=number, unit=unit)


def _split(metric: str, amount: str | float) -> tuple[str, str]:
    """Return the number and its unit; "" for a time without one."""
    if isinstance(amount, str):
        return re.fullmatch(_FORM, amount).groups()
    unit = metric_of(metric).unit
    if unit == "%":
        return f"{amount * 100:g}", unit
    return f"{amount:.15g}", "" if unit in ("us", "ms") else unit
