"""Models of the difference between published mean latencies and those measured here.

Each has one fitted constant: what a published mean is *times* the measured one, or by how much
time it is longer, once per operation or once per round trip of the operation. The constant is
the median over the means (of the ratios, or of the differences), so that a few of them do not
decide it. The errors are those of the same means that it was fitted to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kvstudy.libraries import np
from kvstudy.stats.intervals import positive

# Fewer means fit any of the models.
FEWEST_MEANS = 6
# A model describes the means when it errs by no more than this in the median.
DESCRIBES = 0.10


class Difference(StrEnum):
    """The models of the difference between published and measured means."""

    FACTOR = "factor"
    OPERATION = "operation"
    ROUND_TRIP = "round-trip"


@dataclass(frozen=True)
class LatencyModel:
    """A kind of ``difference`` with its fitted ``constant``: a factor, or us.

    ``median_error`` and ``worst_error`` are of the modelled means relative to the ``n``
    published ones, 0.1 for 10 %.
    """

    difference: Difference
    constant: float
    median_error: float
    worst_error: float
    n: int

    @property
    def describes(self) -> bool:
        """Return whether at least half of the means are within ``DESCRIBES``."""
        return self.median_error <= DESCRIBES

    def modelled(self, measured: np.ndarray, round_trips: np.ndarray) -> np.ndarray:
        """The published means (us) of ``measured`` ones (us) with so many ``round_trips``."""
        return _modelled(self.difference, self.constant, measured, round_trips)


def fit_latency_models(
    published: Iterable[float], measured: Iterable[float], round_trips: Iterable[float]
) -> list[LatencyModel]:
    """Fit a model of each ``Difference`` to means in us, the one that errs least first.

    Where every operation takes one round trip, the last two are the same, and the last is left
    out. None for less than ``FEWEST_MEANS``. ValueError: a value that is not a number above 0.
    """
    numbers = [list(values) for values in (published, measured, round_trips)]
    if len(numbers[0]) < FEWEST_MEANS:
        return []
    names = ("published means", "measured means", "round trips")
    wanted, means, trips = map(positive, numbers, names)
    models = []
    for difference in Difference:
        if difference == Difference.ROUND_TRIP and (trips == 1).all():
            continue
        constants = {
            Difference.FACTOR: wanted / means,
            Difference.OPERATION: wanted - means,
            Difference.ROUND_TRIP: (wanted - means) / trips,
        }
        constant = float(np.median(constants[difference]))
        errors = np.abs(_modelled(difference, constant, means, trips) / wanted - 1)
        of_means = float(np.median(errors)), float(errors.max()), len(wanted)
        models.append(LatencyModel(difference, constant, *of_means))
    return sorted(models, key=lambda model: (model.median_error, model.worst_error))


def _modelled(
    difference: Difference, constant: float, measured: np.ndarray, round_trips: np.ndarray
) -> np.ndarray:
    if difference == Difference.FACTOR:
        return constant * measured
    return measured + constant * (1 if difference == Difference.OPERATION else round_trips)
