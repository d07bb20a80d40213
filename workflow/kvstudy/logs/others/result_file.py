"""The content of one result file of another benchmark."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from kvstudy.errors import DataError

# Units of values: of the first one larger is faster, of the second one smaller.
OPERATIONS_PER_SECOND, SECONDS = "ops/s", "s"
Run = Mapping[str, float]


@dataclass(frozen=True)
class ResultFile:
    """The values of one file, in the ``unit``: for each of its ``runs`` one value per test.

    ``system`` is the measured system's name if the file has one. ``conditions`` are settings that
    must be equal for two files to be comparable, by test; ``notes`` are said of the whole import.
    """

    unit: str
    runs: list[Run]
    system: str = ""
    conditions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def parse_json(text: str) -> Any:
    """Return the content; DataError with line and column for JSON that is cut or damaged."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise DataError(
            f"line {error.lineno}, column {error.colno}: is no JSON ({error.msg}); the file is cut "
            "or damaged: copy it again"
        ) from None


def positive_number(value: object, name: str) -> float:
    """Return ``value`` as a number; DataError, with its ``name``, unless it is above 0."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise DataError(f"{name}: {value!r} is no number") from None
    if isinstance(value, bool) or not isfinite(number) or number <= 0:
        raise DataError(f"{name}: is {value}, which is no measured value: it must be above 0")
    return number
