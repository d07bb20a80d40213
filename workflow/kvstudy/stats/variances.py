"""How far the runs of each cell spread, learnt from all cells of a run together.

Three runs of one cell say little of their spread, and by chance some of them lie close together.
The other cells of the same machine say more: a store that varies under one workload mostly varies
under the others, and a workload is restless for all stores. So the variance of each cell is drawn
to what its store and its workload make likely, the more so the fewer runs it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kvstudy.libraries import np

# Standard deviations of the parts of ln σ², before any run is seen: what all cells share, what a
# store adds, what a workload adds, what a cell has of its own. A factor of e³ = 20 in σ² is no
# surprise between stores or workloads, one of √e = 1.6 between cells of equal store and workload.
# They are chosen by simulation: docs/decisions.md has what they cost and hold.
SHARED, OF_STORE, OF_WORKLOAD, OF_CELL = 5.0, 3.0, 2.0, 0.5
# Of ln x; below it lies the rounding of a printed throughput.
SMALLEST_VARIANCE = 1e-12
STEPS, LONGEST_STEP, SMALL_STEP = 60, 1.0, 1e-4


@dataclass(frozen=True)
class Variances:
    """ln σ² of the runs' ln x in each cell, and how uncertain that is.

    ``logs`` has the shape (..., workloads, stores), ``covariance`` (..., cells, cells) with the
    stores of the first workload first. ``residuals`` are those of the runs, in standard deviations
    of their own, shape (..., workloads, stores, repetitions); ``maker`` makes them of independent
    normal numbers, shape (..., workloads, runs, runs).
    """

    logs: np.ndarray
    covariance: np.ndarray
    residuals: np.ndarray
    maker: np.ndarray

    def error(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The root of the sum of weight · σ² over cells, and its degrees of freedom.

        ``weights`` has the shape (..., workloads, stores), 1/n for the mean of n runs. ln of the
        sum has the variance g'Vg, with V the covariance and g each cell's share of the sum; a
        multiple of χ² with df degrees of freedom has 2/df.
        """
        parts = weights * np.exp(self.logs)
        total = parts.sum((-2, -1))
        shares = (parts / total[..., None, None]).reshape(*total.shape, -1)
        spread = np.einsum("...i,...ij,...j->...", shares, self.covariance, shares)
        return np.sqrt(total), 2 / spread


def fit(logs: np.ndarray, same: Sequence[int], paired: bool = True) -> Variances:
    """The variances of runs whose logarithms are ``logs``.

    ``logs`` has the shape (..., workloads, stores, repetitions) and NaN for runs that are not
    there. ``same`` numbers the stores; those that are one store under two names have one number.
    The runs of a repetition are ``paired``: what they share is no spread.

    ln x = μ(workload, store) + β(workload, repetition) + ε with ε ~ N(0, σ²(workload, store)), and
    ln σ² has a normal prior (see ``OF_STORE``). The result is the mode of restricted likelihood
    times prior, by Fisher scoring, and the inverse of the information there. With one cell and a
    flat prior that is s² with n - 1 degrees of freedom, and ``Variances.error`` that of the t test.

    Source: Patterson and Thompson 1971 (restricted likelihood); Smyth 2004 (moderated t).
    """
    *some, workloads, stores, repetitions = logs.shape
    runs = stores * repetitions
    values = logs.reshape(*some, workloads, runs)
    there = np.isfinite(values)
    values = np.where(there, values, 0.0)
    of_store = np.eye(stores).repeat(repetitions, axis=0)
    design = of_store
    if paired:
        of_repetition = np.tile(np.eye(repetitions), (stores, 1))
        design = np.hstack([of_store, of_repetition[:, 1:]])

    def residuals(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The weighted ones, and the matrix that makes them of the weighted values."""
        root = np.exp(-(theta @ of_store.T) / 2) * there
        weighted = root[..., None] * design
        turned = np.swapaxes(weighted, -1, -2)
        inverse = np.linalg.pinv(turned @ weighted, rcond=1e-10, hermitian=True)
        maker = there[..., None] * np.eye(runs) - weighted @ inverse @ turned
        return np.einsum("...ij,...j->...i", maker, root * values), maker

    known = np.zeros((*some, workloads, stores))
    rest, maker = residuals(known)
    freedom = np.trace(maker, axis1=-2, axis2=-1)
    start = (rest**2).sum(-1) / np.maximum(freedom, 1)
    start = np.log(np.maximum(start, SMALLEST_VARIANCE))
    measured = (freedom > 0.5).astype(float)
    centre = (start * measured).sum(-1) / np.maximum(measured.sum(-1), 1)
    start = np.where(measured > 0, start, centre[..., None])
    logs_of = np.repeat(start[..., None], stores, axis=-1)
    precision = np.linalg.inv(_prior(workloads, same))
    flat = (*some, workloads * stores)
    for _ in range(STEPS):
        rest, maker = residuals(logs_of)
        slope = ((rest**2) @ of_store - np.diagonal(maker, axis1=-2, axis2=-1) @ of_store) / 2
        shared = of_store.T @ maker**2 @ of_store / 2
        information = precision + _diagonal(shared)
        slope = slope.reshape(flat) - (logs_of.reshape(flat) - centre[..., None]) @ precision
        step = np.linalg.solve(information, slope[..., None])[..., 0]
        step = step.clip(-LONGEST_STEP, LONGEST_STEP).reshape(logs_of.shape)
        logs_of = logs_of + step
        if abs(step).max() < SMALL_STEP:
            break
    alone = np.sqrt(np.maximum(np.diagonal(maker, axis1=-2, axis2=-1), 1e-12))
    standard = np.where(there & (alone > 1e-5), rest / alone, np.nan).reshape(logs.shape)
    return Variances(logs_of, np.linalg.inv(information), standard, maker)


def planned_freedom(workloads: int, stores: int, repetitions: int) -> float:
    """Degrees of freedom of the ratio of two stores' error, in a run that is still to be measured.

    Of a run whose cells all spread alike and whose repetitions have all stores.
    """
    own = 1 - 1 / stores
    block = np.full((stores, stores), 1 / stores**2)
    np.fill_diagonal(block, own**2)
    blocks = np.repeat((repetitions - 1) / 2 * block[None], workloads, axis=0)
    precision = np.linalg.inv(_prior(workloads, range(stores)))
    covariance = np.linalg.inv(precision + _diagonal(blocks))
    shares = np.zeros(workloads * stores)
    shares[:2] = 0.5
    return float(2 / (shares @ covariance @ shares))


def _prior(workloads: int, same: Sequence[int]) -> np.ndarray:
    """Covariance of ln σ² over the cells before any run is seen."""
    one_store = np.equal.outer(np.array(same), np.array(same)).astype(float)
    of_workload = np.eye(workloads)
    everywhere = np.ones((workloads, workloads))
    return (
        SHARED**2
        + OF_STORE**2 * np.kron(everywhere, one_store)
        + OF_WORKLOAD**2 * np.kron(of_workload, np.ones(one_store.shape))
        + OF_CELL**2 * np.eye(workloads * len(same))
    )


def _diagonal(blocks: np.ndarray) -> np.ndarray:
    """The matrices (..., k, s, s) as blocks of one, shape (..., k·s, k·s)."""
    *some, count, size, _ = blocks.shape
    places = np.eye(count)[:, None, :, None]
    return (blocks[..., :, :, None, :] * places).reshape(*some, count * size, count * size)
