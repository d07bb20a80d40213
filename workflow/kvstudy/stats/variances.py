"""Moderated variances: the spread of each cell, estimated from all cells of a run.

Three runs of one cell say little of their spread, and by chance some of them lie close together.
The other cells of the same machine say more: a store that varies under one workload mostly varies
under the others, and a workload is restless for all stores. So the variance of each cell is drawn
to what its store and its workload make likely, the more so the fewer runs it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from kvstudy.libraries import np

# Standard deviations of the parts of ln σ², before any run is seen: what all cells share, what a
# store or a workload adds, what a cell has of its own. A factor of e³ = 20 in σ² is no surprise
# between stores or workloads, one of √e = 1.6 between cells of equal store and workload. They are
# chosen by simulation: docs/decisions.md has what they cost and hold.
SHARED, OF_STORE, OF_WORKLOAD, OF_CELL = 5.0, 3.0, 3.0, 0.5
# Of ln x, so 0.1 %: runs that lie closer together are rounded, as latencies in whole microseconds
# are, or lucky. It is added to the square of each residual, lest equal runs have a variance of 0.
SMALLEST_VARIANCE = 1e-6
STEPS, LONGEST_STEP, SMALL_STEP, ROUNDING = 100, 2.0, 1e-4, 1e-9


@dataclass(frozen=True)
class Projection:
    """The residuals of runs, without the effects that their weighted least squares give them.

    ln x of a run is the sum of an effect of its store and, where they are paired, one of its
    repetition. The effects of the repetitions are eliminated from the normal equations: those that
    stay are as many as the stores, however many repetitions there are.

    ``roots`` of the weights have the shape (..., stores, repetitions), 0 for no run. ``scales``,
    (..., repetitions), are 1 by the weight of all runs of a repetition and ``shares`` what part of
    it each run has, both 0 without pairs. ``inverse`` is that of the stores' normal equations,
    (..., stores, stores), and ``determinant``, up to a constant, ln of that of all.
    """

    roots: np.ndarray
    shares: np.ndarray
    scales: np.ndarray
    inverse: np.ndarray
    determinant: np.ndarray

    def residuals(self, values: np.ndarray) -> np.ndarray:
        """Return the residuals of ``values``, both in standard deviations of the runs."""
        weighted = self.roots * values
        means = weighted.sum(-2) * self.scales
        sums = weighted.sum(-1) - (self.roots**2 @ means[..., None])[..., 0]
        effects = self.inverse @ sums[..., None]
        means = means[..., None, :] - _turned(effects) @ self.shares
        return (self.roots > 0) * values - self.roots * (effects + means)

    def variances(self) -> np.ndarray:
        """Return the variance of each residual of runs with variance 1."""
        alone = np.diagonal(self.products, axis1=-3, axis2=-2)
        leverage = self.scales[..., None, :] + np.swapaxes(alone, -1, -2)
        return (self.roots > 0) - self.roots**2 * leverage

    @cached_property
    def products(self) -> np.ndarray:
        """The products x'Gx of the rows x of two runs of a repetition, G the ``inverse``.

        A run's row is 1 for its store, less the shares of all stores in its repetition. The shape
        is (..., stores, stores, repetitions).
        """
        across = self.inverse @ self.shares
        both = (self.shares * across).sum(-2)[..., None, None, :]
        return self.inverse[..., None] - across[..., None, :] - across[..., None, :, :] + both

    def rows(self, runs: np.ndarray) -> np.ndarray:
        """Return the sum of ``runs`` times their rows for each store, (..., stores, stores)."""
        return runs.sum(-1)[..., None] * np.eye(runs.shape[-2]) - runs @ _turned(self.shares)


@dataclass(frozen=True)
class Variances:
    """ln σ² of the runs' ln x in each cell, and how uncertain that is.

    ``logs`` has the shape (..., workloads, stores), ``covariance`` (..., cells, cells) with the
    stores of the first workload first. ``residuals`` are those of the runs, in standard deviations
    of their own, shape (..., workloads, stores, repetitions), as the ``projection`` makes them.
    """

    logs: np.ndarray
    covariance: np.ndarray
    residuals: np.ndarray
    projection: Projection

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
    times prior, and the inverse of the expected information there. With one cell and a
    flat prior that is s² with n - 1 degrees of freedom, and ``Variances.error`` that of the t test.

    Source: Patterson and Thompson 1971 (restricted likelihood); Smyth 2004 (moderated t).
    """
    *some, workloads, stores, _repetitions = logs.shape
    likelihood = _Likelihood(logs, paired)
    start, counts = likelihood.pooled()
    centre = (start * (counts > 0)).sum(-1) / np.maximum((counts > 0).sum(-1), 1)
    start = np.where(counts > 0, start, centre[..., None])
    precision = np.linalg.inv(_prior(workloads, same))

    def offset(theta: np.ndarray) -> np.ndarray:
        return (theta - centre[..., None, None]).reshape(*some, workloads * stores)

    def height(theta: np.ndarray, likely: np.ndarray) -> np.ndarray:
        away = offset(theta)
        return likely - np.einsum("...i,ij,...j->...", away, precision, away) / 2

    theta = np.repeat(start[..., None], stores, axis=-1)
    at = likelihood.at(theta)
    top, damping = height(theta, at.value), np.full((*some, 1, 1), 1e-3)
    for _ in range(STEPS):
        # Newton's steps, which may lead away from the top, the more damped the less they gained.
        information = precision + _diagonal(at.information)
        damped = precision + _diagonal(at.curvature) + damping * information
        slope = at.slope.reshape(*some, -1) - offset(theta) @ precision
        step = np.linalg.solve(damped, slope[..., None])[..., 0]
        step = step.clip(-LONGEST_STEP, LONGEST_STEP).reshape(theta.shape)
        step_result = likelihood.at(theta + step)
        reached = height(theta + step, step_result.value)
        better = (reached >= top - ROUNDING)[..., None, None]
        theta = np.where(better, theta + step, theta)
        top = np.where(better[..., 0, 0], reached, top)
        at = _Point(
            *(
                np.where(_like(better, of), of, before)
                for of, before in zip(step_result, at, strict=True)
            )
        )
        damping = np.where(better, damping / 4, damping * 8).clip(1e-6, 1e6)
        if abs(np.where(better, step, LONGEST_STEP)).max() < SMALL_STEP:
            break
    information = precision + _diagonal(at.information)
    projection = likelihood.projection(theta)
    alone = np.sqrt(np.maximum(projection.variances(), 0))
    # Of a run that is the only one of its kind nothing is left.
    standard = np.full(logs.shape, np.nan)
    residuals = projection.residuals(projection.roots * likelihood.values)
    np.divide(residuals, alone, out=standard, where=alone > 1e-5)
    return Variances(theta, np.linalg.inv(information), standard, projection)


class _Point(NamedTuple):
    """The restricted likelihood at some variances.

    ``value`` is its logarithm; ``slope`` (..., workloads, stores), ``curvature`` and the expected
    ``information`` (..., workloads, stores, stores) are those of ln σ².
    """

    value: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray
    information: np.ndarray


class _Likelihood:
    """The restricted likelihood of ``values``, (..., workloads, stores, runs), NaN for none."""

    def __init__(self, values: np.ndarray, paired: bool):
        self.paired, self.finite = paired, np.isfinite(values)
        self.values = np.where(self.finite, values, 0.0)
        # Of stores that no run tells apart there are fewer unknowns than equations.
        *_, equations = self._equations(self.finite.astype(float))
        self.rank = np.linalg.matrix_rank(equations, rtol=1e-9, hermitian=True)
        equal = self.projection(np.zeros(values.shape[:-1]))
        self.free = equal.variances().sum(-1)
        self.squares = (equal.residuals(self.values) ** 2).sum((-2, -1))

    def pooled(self) -> tuple[np.ndarray, np.ndarray]:
        """ln σ² of each workload if its stores had one, and its degrees of freedom."""
        freedom = self.free.sum(-1).round(6)
        variance = self.squares / np.maximum(freedom, 1)
        return np.log(np.maximum(variance, SMALLEST_VARIANCE)), freedom

    def projection(self, theta: np.ndarray) -> Projection:
        """Return the projection of runs with the variances exp(``theta``)."""
        roots = np.exp(-theta / 2)[..., None] * self.finite
        scales, shares, equations = self._equations(roots**2)
        sizes, vectors = np.linalg.eigh(equations)
        kept = np.arange(sizes.shape[-1]) >= sizes.shape[-1] - self.rank[..., None]
        sizes = np.where(kept, sizes, 1)
        inverse = (vectors * (kept / sizes)[..., None, :]) @ _turned(vectors)
        determinant = np.log(sizes).sum(-1) - np.log(np.where(scales > 0, scales, 1)).sum(-1)
        return Projection(roots, shares, scales, inverse, determinant)

    def _equations(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Scales and shares, as in ``Projection``, and the stores' normal equations."""
        totals = weights.sum(-2) * self.paired
        scales = np.divide(1, totals, out=np.zeros_like(totals), where=totals > 0)
        shares = weights * scales[..., None, :]
        identity = np.eye(weights.shape[-2])
        others = weights @ _turned(shares) * (1 - identity)
        # As a sum of what others have: the difference from 1 of a share near 1 has few digits.
        diagonal = others.sum(-1) if self.paired else weights.sum(-1)
        return scales, shares, diagonal[..., None] * identity - others

    def at(self, theta: np.ndarray) -> _Point:
        projection = self.projection(theta)
        roots, shares, inverse = projection.roots, projection.shares, projection.inverse
        weights, identity = roots**2, np.eye(roots.shape[-2])
        residuals = projection.residuals(roots * self.values)
        squares = (residuals**2).sum(-1)
        counts = self.finite.sum(-1)
        leverage = counts - projection.variances().sum(-1)
        # The information of two stores is half the sum of squares of the projection's block, which
        # is too large to be made: of a run's part in its repetition, and in the stores' equations.
        rows = np.eye(roots.shape[-2])[..., None] - shares[..., None, :, :]
        of_store = inverse[..., None, :, :] @ ((weights[..., None, :] * rows) @ _turned(rows))
        flat = (*of_store.shape[:-2], of_store.shape[-1] ** 2)
        blocks = of_store.reshape(flat) @ _turned(_turned(of_store).reshape(flat))
        pairs = weights[..., None, :] * shares[..., None, :, :] * projection.products
        blocks += shares @ _turned(shares) + 2 * pairs.sum(-1)
        information = (blocks + (counts - 2 * leverage)[..., None] * identity) / 2
        smallest = SMALLEST_VARIANCE * np.exp(-theta) * self.free
        value = -(
            (theta * counts).sum((-2, -1))
            + projection.determinant.sum(-1)
            + (squares + smallest).sum((-2, -1))
        )
        slope = (squares + smallest - counts + leverage) / 2
        runs = roots * residuals
        sums = projection.rows(runs)
        curvature = squares[..., None] * identity - sums @ inverse @ _turned(sums)
        curvature -= (runs * projection.scales[..., None, :]) @ _turned(runs)
        curvature -= information + (slope - smallest)[..., None] * identity
        return _Point(value / 2, slope, curvature, information)


def _turned(matrix: np.ndarray) -> np.ndarray:
    """The transposed matrix, (..., columns, rows)."""
    return np.swapaxes(matrix, -1, -2)


def _like(flags: np.ndarray, values: np.ndarray) -> np.ndarray:
    """``flags``, shape (..., 1, 1), with as many dimensions as ``values`` has."""
    leading = flags[..., 0, 0]
    return leading.reshape(leading.shape + (1,) * (values.ndim - leading.ndim))


def planned_freedom(workloads: int, stores: int, repetitions: int) -> float:
    """Degrees of freedom of the ratio of two stores' error, in a run that is still to be measured.

    Of a run whose cells all spread alike and whose repetitions have all stores.
    """
    share = 1 - 1 / stores
    block = np.full((stores, stores), 1 / stores**2)
    np.fill_diagonal(block, share**2)
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
