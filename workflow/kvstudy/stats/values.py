"""What numbers a statistic accepts; whatever else is refused, never skipped."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def finite(values: Iterable[float], what: str) -> np.ndarray:
    """``values`` as an array of floats, shape (n,), n >= 1.

    ValueError when there are none, or one is NaN or infinite. ``what`` names
    them in the message.
    """
    array = np.asarray(values if isinstance(values, np.ndarray) else list(values), dtype=float)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{what}: needs a row of at least one number, got shape {array.shape}")
    if not np.isfinite(array).all():
        wrong = array[~np.isfinite(array)][0]
        raise ValueError(f"{what}: {wrong} is among them; leave out what was not measured")
    return array


def positive(values: Iterable[float], what: str) -> np.ndarray:
    """As ``finite``, and all above 0: these have a logarithm."""
    array = finite(values, what)
    if (array <= 0).any():
        raise ValueError(f"{what}: {array.min():g} is among them; needs numbers above 0")
    return array
