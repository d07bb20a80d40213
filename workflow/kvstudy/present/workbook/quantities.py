"""What the columns of values are called, and how their numbers look."""

from __future__ import annotations

from kvstudy.analyse.tidy.numbers import sign
from kvstudy.study.metrics import METRICS, PRINTED, metric_of

# The lines of the sheet that compares stores; the others are on the sheet after it.
MAIN = [*PRINTED, "goodput", "missed"]
_ORDER = list(METRICS)
FORMATS = {
    "ms": "#,##0",
    "ops/s": "#,##0.0",
    "us": "#,##0.0",
    "count": "#,##0",
    "%": "0.00",
}
OTHER_FORMAT = "0.000"


def header(metric: str, unit: str) -> str:
    """``Run time (ms)``; counts and shares have no unit."""
    title = metric_of(metric).title
    return title if unit in ("count", "share") else f"{title} ({sign(unit)})"


def unit_text(unit: str) -> str:
    """The unit for a column of units; counts have none."""
    return "" if unit in ("count", "share") else sign(unit)


def number_format(unit: str) -> str:
    """The number format of values in ``unit``."""
    return FORMATS.get(unit, OTHER_FORMAT)


def rank(metric: str) -> tuple[int, str]:
    """For sorting metrics."""
    return (_ORDER.index(metric) if metric in _ORDER else len(_ORDER), metric)
