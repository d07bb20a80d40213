"""Moderated variances: the spread of each cell, estimated from all cells of a run.

Three runs of one cell say little of their spread, and by chance some of them lie close together.
The other cells of the same machine say more: a store that varies under one workload mostly varies
under the others, and a workload is restless for all stores. So the variance of each cell is drawn
to what its store and its workload make likely, the more so the fewer runs it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
class Model:
    """ln x of each run as the sum of an effect of its store and one of its repetition.

    The first repetition has none, nor has any where they are not ``paired``. Effects have the shape
    (..., effects), with those of the stores first, and runs (..., stores, repetitions).
    """

    stores: int
    repetitions: int
    paired: bool

    @property
    def effects(self) -> int:
        return self.stores + (self.repetitions - 1 if self.paired else 0)

    def of_runs(self, effects: np.ndarray) -> np.ndarray:
        """Return what the effects add up to in each run: the design matrix times them."""
        runs = np.repeat(effects[..., : self.stores, None], self.repetitions, axis=-1)
        if self.paired:
            runs[..., 1:] += effects[..., None, self.stores :]
        return runs

    def of_stores(self, runs: np.ndarray) -> np.ndarray:
        """Return the transposed design matrix times the runs of each store, (..., stores, effects).

        A store's runs add to its own effect and to those of the repetitions.
        """
        of_store = runs.sum(-1)[..., None] * np.eye(self.stores)
        return np.concatenate([of_store, runs[..., 1:]], axis=-1) if self.paired else of_store

    def sums(self, runs: np.ndarray) -> np.ndarray:
        """Return the transposed design matrix times all runs, (..., effects)."""
        of_store = runs.sum(-1)
        if not self.paired:
            return of_store
        return np.concatenate([of_store, runs.sum(-2)[..., 1:]], axis=-1)

    def normal_matrix(self, weights: np.ndarray) -> np.ndarray:
        """Return the matrix of the normal equations, (..., effects, effects)."""
        return self.sums(weights[..., None, :, :] * self.of_runs(np.eye(self.effects)))


@dataclass(frozen=True)
class Projection:
    """The residuals of runs, without the effects that their weighted least squares give them.

    ``roots`` of the weights have the shape (..., workloads, stores, repetitions), 0 for no run;
    ``inverse`` is that of the normal equations, (..., workloads, effects, effects).
    """

    model: Model
    roots: np.ndarray
    inverse: np.ndarray

    def residuals(self, values: np.ndarray) -> np.ndarray:
        """Return the residuals of ``values``, both in standard deviations of the runs."""
        sums = self.model.sums(self.roots * values)
        effects = (self.inverse @ sums[..., None])[..., 0]
        return (self.roots > 0) * values - self.roots * self.model.of_runs(effects)

    def variances(self) -> np.ndarray:
        """Return the variance of each residual of runs with variance 1."""
        model, inverse = self.model, self.inverse
        diagonal = np.diagonal(inverse, axis1=-2, axis2=-1)
        leverage = model.of_runs(diagonal)
        if model.paired:
            leverage[..., 1:] += 2 * inverse[..., : model.stores, model.stores :]
        return (self.roots > 0) - self.roots**2 * leverage


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
    projection = Projection(likelihood.model, at.roots, at.inverse)
    alone = np.sqrt(np.maximum(projection.variances(), 0))
    # Of a run that is the only one of its kind nothing is left.
    standard = np.full(logs.shape, np.nan)
    np.divide(at.residuals, alone, out=standard, where=alone > 1e-5)
    return Variances(theta, np.linalg.inv(information), standard, projection)


class _Point(NamedTuple):
    """The restricted likelihood at some variances.

    ``value`` is its logarithm; ``slope`` (..., workloads, stores), ``curvature`` and the expected
    ``information`` (..., workloads, stores, stores) are those of ln σ²; ``residuals`` are as in
    ``Variances``, before they are divided by their own standard deviations, and ``roots`` and
    ``inverse`` as in ``Projection``.
    """

    value: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray
    information: np.ndarray
    residuals: np.ndarray
    roots: np.ndarray
    inverse: np.ndarray


class _Likelihood:
    """The restricted likelihood of ``values``, (..., workloads, stores, runs), NaN for none."""

    def __init__(self, values: np.ndarray, paired: bool):
        *_some, stores, repetitions = values.shape
        self.model = Model(stores, repetitions, paired)
        self.finite = np.isfinite(values)
        self.values = np.where(self.finite, values, 0.0)
        # Of stores or repetitions that no run tells apart there are fewer unknowns than columns.
        self.rank = np.linalg.matrix_rank(self.model.normal_matrix(self.finite), hermitian=True)
        self.free: np.ndarray | float = 0.0
        equal = self.at(np.zeros(values.shape[:-1]))
        self.free = Projection(self.model, equal.roots, equal.inverse).variances().sum(-1)
        self.squares = (equal.residuals**2).sum((-2, -1))

    def pooled(self) -> tuple[np.ndarray, np.ndarray]:
        """ln σ² of each workload if its stores had one, and its degrees of freedom."""
        freedom = self.free.sum(-1).round(6)
        variance = self.squares / np.maximum(freedom, 1)
        return np.log(np.maximum(variance, SMALLEST_VARIANCE)), freedom

    def at(self, theta: np.ndarray) -> _Point:
        model, identity = self.model, np.eye(self.model.stores)
        roots = np.exp(-theta / 2)[..., None] * self.finite
        sizes, vectors = np.linalg.eigh(model.normal_matrix(roots**2))
        kept = np.arange(sizes.shape[-1]) >= sizes.shape[-1] - self.rank[..., None]
        parts = np.where(kept, 1 / np.where(kept, sizes, 1), 0)
        inverse = (vectors * parts[..., None, :]) @ np.swapaxes(vectors, -1, -2)
        residuals = Projection(model, roots, inverse).residuals(roots * self.values)
        squares = (residuals**2).sum(-1)
        # Each store's share in the normal equations, times their inverse: the traces of products
        # of two are sums of squares over blocks of the projection, which is too large to be made.
        shares = model.of_stores((roots**2)[..., None, :, :] * model.of_runs(inverse))
        leverage = np.einsum("...asa->...s", shares)
        by_store = np.moveaxis(shares, -2, -3)
        *some, stores, effects, _ = by_store.shape
        turned = np.swapaxes(by_store, -1, -2).reshape(*some, stores, effects**2)
        blocks = by_store.reshape(turned.shape) @ np.swapaxes(turned, -1, -2)
        counts = self.finite.sum(-1)
        information = (blocks + (counts - 2 * leverage)[..., None] * identity) / 2
        smallest = SMALLEST_VARIANCE * np.exp(-theta) * self.free
        value = -(
            (theta * counts).sum((-2, -1))
            + np.log(np.where(kept, sizes, 1)).sum((-2, -1))
            + (squares + smallest).sum((-2, -1))
        )
        slope = (squares + smallest - counts + leverage) / 2
        sums = model.of_stores(roots * residuals)
        curvature = squares[..., None] * identity - sums @ inverse @ np.swapaxes(sums, -1, -2)
        curvature -= information + (slope - smallest)[..., None] * identity
        return _Point(value / 2, slope, curvature, information, residuals, roots, inverse)


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
