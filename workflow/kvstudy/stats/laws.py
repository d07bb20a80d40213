"""Laws of queues: Little's law of one table, and the universal scalability law over threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from kvstudy.language.reasons import reason
from kvstudy.libraries import np, optimize
from kvstudy.stats.intervals import finite, positive

IMPOSSIBLE_ABOVE = 1.02
CLIENT_BELOW = 0.7
# Below this a coefficient is 0.
NOTHING = 1e-9
LEAST_COUNTS = 6
# A fit whose typical point is further off than this describes something else.
POOR_FIT = 0.10
SATURATED = 0.95


def weighted_latency(latencies: Mapping[str, float], operations: Mapping[str, float]) -> float:
    """Mean latency of all operations, in the unit of ``latencies``: Σ R_i·n_i / Σ n_i.

    ``latencies`` are mean latencies by kind of operation, ``operations`` how many
    there were of each; where a source gives no counts, the workload's shares do.

    ValueError: a negative or missing number, no operations at all.
    """
    times = finite(latencies.values(), "latencies")
    counts = finite((operations[kind] for kind in latencies), "operations")
    if (times < 0).any() or (counts < 0).any() or not counts.any():
        raise ValueError("latencies and operations cannot be below 0, nor all operations 0")
    return float(times @ counts / counts.sum())


def in_call(throughput: float, latency: float, threads: float) -> float:
    """U = X·R/N, Little's law: the share of the threads' time inside calls to the store.

    For N client threads with one call at a time. ``throughput`` X in ops/s, ``latency`` R in µs,
    the mean weighted by operations (see ``weighted_latency``). Above
    ``IMPOSSIBLE_ABOVE`` the numbers contradict each other: threads cannot be in calls for more
    than all of the time. Below ``CLIENT_BELOW`` they were elsewhere: starting, in the client's
    own code, or held back by a target.

    Source: Little 1961. ValueError: one that is not a number above 0.
    """
    positive([throughput, latency, threads], "throughput, latency and threads")
    return float(throughput * latency * 1e-6 / threads)


@dataclass(frozen=True)
class Scalability:
    """X(N) = λN/(1 + σ(N - 1) + κN(N - 1)), fitted to measured throughput.

    ``single`` is λ, the throughput of one thread (ops/s); ``contention`` σ, the
    share of work that only one thread can do, 0 to 1; ``coherency`` κ >= 0, the
    cost of the threads agreeing. ``knee`` is N* = √((1 - σ)/κ), the thread count
    of the largest throughput; None where X(N) does not fall (κ is 0, or too small
    for the counts to tell). ``off`` is the root mean square of (measured - fitted)/fitted.
    ``doubts`` says why the fit or its knee should not be relied on.
    """

    single: float
    contention: float
    coherency: float
    knee: float | None
    off: float
    doubts: tuple[str, ...]


def fit_scalability(threads: Sequence[float], throughput: Sequence[float]) -> Scalability:
    """Fit the universal scalability law to one or more runs per thread count.

    Least squares on X in ops/s over λ > 0, 0 <= σ <= 1, κ >= 0; λ is fitted too,
    so a measurement at N = 1 has no special weight.

    Source: Gunther 2007, *Guerrilla Capacity Planning*.
    ValueError: fewer than six thread counts, a number that is not above 0, no convergence.
    """
    counts, rates = positive(threads, "threads"), positive(throughput, "throughput")
    if np.unique(counts).size < LEAST_COUNTS:
        raise ValueError(
            f"{np.unique(counts).size} thread counts; the law needs at least {LEAST_COUNTS}"
        )
    scale = rates.max()
    try:
        coefficients, _ = optimize.curve_fit(
            _law,
            counts,
            rates / scale,
            p0=_start(counts, rates / scale),
            bounds=([0, 0, 0], [np.inf, 1, np.inf]),
            x_scale="jac",
            xtol=1e-12,
            ftol=1e-12,
            gtol=1e-12,
            max_nfev=10_000,
        )
    except RuntimeError as error:
        raise ValueError(f"the scalability law does not fit these points: {error}") from None
    # The search stays a little above a bound, by another amount on another processor.
    contention, coherency = (float(each) if each > NOTHING else 0.0 for each in coefficients[1:])
    single = float(coefficients[0] * scale)
    fitted = _law(counts, single, contention, coherency)
    off = float(np.sqrt(np.mean((rates / fitted - 1) ** 2)))
    # Below this the law falls by less than a thousandth up to the largest count.
    flat = coherency * counts.max() ** 2 < 1e-3
    knee = None if flat or contention >= 1 else sqrt((1 - contention) / coherency)
    doubts = tuple(_doubts(counts, contention, knee, off))
    return Scalability(single, contention, coherency, knee, off, doubts)


def saturation(threads: Sequence[float], throughput: Sequence[float]) -> float | None:
    """The smallest thread count with 95 % of the largest mean throughput.

    The mean of the runs of a count is geometric. None when only the largest count gets
    there: throughput was still rising, and saturation is beyond what was measured.

    ValueError: one thread count, a number that is not above 0.
    """
    counts, rates = positive(threads, "threads"), positive(throughput, "throughput")
    distinct = np.unique(counts)
    if distinct.size < 2:
        raise ValueError("one thread count cannot show where throughput saturates")
    means = np.exp([np.log(rates[counts == count]).mean() for count in distinct])
    first = int(np.argmax(means >= SATURATED * means.max()))
    return None if first == distinct.size - 1 else float(distinct[first])


def _law(threads, single, contention, coherency):
    return single * threads / (1 + contention * (threads - 1) + coherency * threads * (threads - 1))


def _start(counts: np.ndarray, rates: np.ndarray) -> tuple[float, float, float]:
    """First guess: N/X = (1 + σ(N - 1) + κN(N - 1))/λ is linear in its terms."""
    terms = np.column_stack([np.ones_like(counts), counts - 1, counts * (counts - 1)])
    (a, b, c), _ = optimize.nnls(terms, counts / rates)
    a = max(a, 1e-6)
    return 1 / a, min(b / a, 1.0), c / a


def _doubts(counts: np.ndarray, contention: float, knee: float | None, off: float) -> Iterator[str]:
    if off > POOR_FIT:
        yield reason("off-law")
    if contention > 1 - 1e-6:
        yield reason("contention-bound")
    if knee is not None and knee > counts.max():
        yield reason("knee-beyond", knee=f"{knee:.0f}", most=f"{counts.max():g}")
    if knee is not None and knee < counts.min():
        yield reason("knee-below", knee=f"{knee:.1f}", least=f"{counts.min():g}")
