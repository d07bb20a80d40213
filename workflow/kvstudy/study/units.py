"""Units of measured values, and how they convert into each other."""

UNIT_FACTORS = {(unit, unit): 1 for unit in ("ops/s", "ms", "us", "count", "%", "place")} | {
    ("ops/s", "kops/s"): 1e-3,
    ("ms", "s"): 1e-3,
    ("us", "ms"): 1e-3,
    ("us", "s"): 1e-6,
}


def converted(value: float, unit: str, wanted: str) -> float:
    """``value`` from ``unit`` to ``wanted``; KeyError when they measure different things."""
    return value * UNIT_FACTORS[unit, wanted]
