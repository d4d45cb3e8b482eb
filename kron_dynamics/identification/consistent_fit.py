# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The physically consistent parameters that fit the data, near those of the description.

Minimised is half the weighted squares of remainders, plus `strength` times the entropic
divergence of every body's pseudo-inertia from that of the description, plus what keeps friction
and rotors from becoming negative. All of it is convex in the parameters, so there is one minimum
and Newton's method with a line search finds it; the divergence is its own barrier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import cho_solve

from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.identification.pseudo_inertia import BASIS, ten_parameters
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# From each minimum to that of a prior a tenth as heavy: from afar Newton's method would creep
# along the edge of what is possible.
PATH = tuple(10.0**k for k in range(6, -1, -1))
NEWTON_STEPS = 25
# Newton's decrement, in units of half squared remainders, at which the minimum is found.
DECREMENT = 1e-9
BACKTRACKINGS = 40
# Root of the least moment of a body relative to the description that numbers can hold.
THINNEST = 1e-4
ARMIJO = 1e-4


@dataclass(frozen=True, eq=False)
class Gram:
    """Weighted squares of remainders as a quadratic form: x^T matrix x - 2 vector^T x + square.

    Attributes:
        matrix: shape (p, p).
        vector: shape (p,).
        square: of the efforts alone.
        count: number of equations, by their weights.
    """

    matrix: FloatArray
    vector: FloatArray
    square: float
    count: float

    def __add__(self, other: Gram) -> Gram:
        """Return that of both sets of equations."""
        return Gram(
            self.matrix + other.matrix,
            self.vector + other.vector,
            self.square + other.square,
            self.count + other.count,
        )

    def __sub__(self, other: Gram) -> Gram:
        """Return that without some of the equations."""
        return Gram(
            self.matrix - other.matrix,
            self.vector - other.vector,
            self.square - other.square,
            self.count - other.count,
        )

    def squares(self, x: FloatArray) -> float:
        """Return the weighted sum of squared remainders of parameters, shape (p,)."""
        return float(x @ self.matrix @ x - 2.0 * self.vector @ x + self.square)

    def of(self, columns: IntArray) -> Gram:
        """Return that of some of the parameters, the others being zero."""
        return Gram(
            self.matrix[np.ix_(columns, columns)], self.vector[columns], self.square, self.count
        )


def gram(matrix: FloatArray, effort: FloatArray, weights: FloatArray) -> Gram:
    """Return the quadratic form of weighted equations.

    Args:
        matrix: shape (R, n, p).
        effort: shape (R, n); NaN where none is known.
        weights: of the squares of remainders, shape (R, n); 0 where no effort is known.
    """
    root = np.sqrt(weights)
    A = (matrix * root[..., None]).reshape(-1, matrix.shape[2])
    b = (np.where(weights > 0.0, effort, 0.0) * root).ravel()
    return Gram(A.T @ A, A.T @ b, float(b @ b), float(np.count_nonzero(weights)))


@dataclass(frozen=True, eq=False)
class Prior:
    """What is known of the parameters before any data: 10 of each of b bodies, then others.

    Attributes:
        bodies: pseudo-inertias of the description, positive definite, shape (b, 4, 4).
        positive: which of the others must be above zero, shape (k,).
        location: where the others are expected; above zero where they must be, shape (k,).
        scale: how far from there those are that may have either sign, shape (k,).
        weight: how much each of the others counts, shape (k,).
        follows: which of the others count `strength` times more, as bodies do, shape (k,).
    """

    bodies: FloatArray
    positive: BoolArray
    location: FloatArray
    scale: FloatArray
    weight: FloatArray
    follows: BoolArray

    def weights(self, strength: float) -> FloatArray:
        """Return how much the others count beside bodies of a strength, shape (k,)."""
        return np.where(self.follows, strength, 1.0) * self.weight

    @cached_property
    def whitening(self) -> FloatArray:
        """W of each body with ``W P0 W^T = 1``, shape (b, 4, 4)."""
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.bodies)))

    @cached_property
    def inverses(self) -> FloatArray:
        """P0^-1 of each body, shape (b, 4, 4)."""
        return np.asarray(np.linalg.inv(self.bodies))

    @property
    def expected(self) -> FloatArray:
        """The parameters that need no data, shape (p,)."""
        return np.concatenate([*map(ten_parameters, self.bodies), self.location])

    def of(self, others: IntArray) -> Prior:
        """Return that of the bodies and some of the others, by their index."""
        return Prior(
            self.bodies,
            self.positive[others],
            self.location[others],
            self.scale[others],
            self.weight[others],
            self.follows[others],
        )


@dataclass(frozen=True, eq=False)
class ConsistentFit:
    """The minimum.

    Attributes:
        parameters: shape (p,).
        covariance: inverse of the curvature there, shape (p, p).
    """

    parameters: FloatArray
    covariance: FloatArray


def consistent_fit(
    data: Gram, prior: Prior, strength: float, start: FloatArray | None = None
) -> ConsistentFit:
    """Return the physically consistent parameters that fit best; see the module.

    Args:
        data: weighted equations; weights are inverse variances.
        prior: the description.
        strength: how much the description counts, above zero.
        start: consistent parameters to begin with, shape (p,); None for the prior's.
    """
    if start is not None:
        x, covariance, found = _newton(data, prior, strength, np.array(start, dtype=float))
        if found:
            return ConsistentFit(x, covariance)
    x = prior.expected
    for factor in PATH:
        heavier = replace(prior, weight=np.where(prior.follows, 1.0, factor) * prior.weight)
        x, covariance, _ = _newton(data, heavier, factor * strength, x)
    return ConsistentFit(x, covariance)


def _newton(
    data: Gram, prior: Prior, strength: float, x: FloatArray
) -> tuple[FloatArray, FloatArray, bool]:
    """Return parameters, inverse of the curvature there, and whether it is the minimum."""
    value = _value(data, prior, strength, x)
    for _ in range(NEWTON_STEPS):
        slope, curvature = _derivatives(data, prior, strength, x)
        factor = _factor(curvature)
        step = -_solve(factor, slope)
        decrement = -float(slope @ step)
        found = decrement < DECREMENT * max(1.0, abs(value))
        if found:
            break
        share = 1.0
        for _ in range(BACKTRACKINGS):
            trial = _value(data, prior, strength, x + share * step)
            if trial <= value - ARMIJO * share * decrement:
                break
            share *= 0.5
        else:
            found = True  # the rounding of the sums is reached
            break
        x, value = x + share * step, trial
    return x, _solve(factor, np.eye(len(x))), found


def _factor(curvature: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return a Cholesky factor of a matrix with its diagonal scaled to one, and the scale."""
    scale: FloatArray = 1.0 / np.sqrt(np.diag(curvature))
    scaled = curvature * np.outer(scale, scale)
    jitter = 0.0
    while True:
        try:
            return np.asarray(np.linalg.cholesky(scaled + jitter * np.eye(len(scale)))), scale
        except np.linalg.LinAlgError:
            jitter = max(10.0 * jitter, 1e-14)


def _solve(factor: tuple[FloatArray, FloatArray], right: FloatArray) -> FloatArray:
    lower, scale = factor
    side = right * (scale if right.ndim == 1 else scale[:, None])
    found = cho_solve((lower, True), side)
    return np.asarray(found * (scale if right.ndim == 1 else scale[:, None]))


def _split(prior: Prior, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the pseudo-inertias, shape (b, 4, 4), and the other parameters."""
    count = PARAMETERS_PER_BODY * len(prior.bodies)
    ten = x[:count].reshape(-1, PARAMETERS_PER_BODY)
    return np.tensordot(ten, BASIS, axes=1), x[count:]


def _value(data: Gram, prior: Prior, strength: float, x: FloatArray) -> float:
    P, others = _split(prior, x)
    ratio = others / np.where(prior.positive, prior.location, 1.0)
    if (ratio[prior.positive] <= 0.0).any():
        return np.inf
    relative = prior.whitening @ P @ prior.whitening.transpose(0, 2, 1)
    try:
        roots = np.diagonal(np.linalg.cholesky(relative), axis1=1, axis2=2)
    except np.linalg.LinAlgError:
        return np.inf
    if roots.min() < THINNEST:
        return np.inf
    bodies = np.trace(relative, axis1=1, axis2=2).sum() - 2.0 * np.log(roots).sum()
    away = 0.5 * np.square((others - prior.location) / prior.scale)
    with np.errstate(invalid='ignore', divide='ignore'):
        apart = np.where(prior.positive, ratio - np.log(ratio) - 1.0, away)
    return float(0.5 * data.squares(x) + strength * bodies + prior.weights(strength) @ apart)


def _derivatives(
    data: Gram, prior: Prior, strength: float, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return gradient, shape (p,), and curvature, (p, p), of what is minimised."""
    P, others = _split(prior, x)
    slope = data.matrix @ x - data.vector
    curvature = data.matrix.copy()
    inverse = np.linalg.inv(P)
    for k in range(len(P)):
        own = slice(PARAMETERS_PER_BODY * k, PARAMETERS_PER_BODY * (k + 1))
        moved = inverse[k] @ BASIS  # (10, 4, 4)
        slope[own] += strength * np.einsum('aij,ji->a', BASIS, prior.inverses[k] - inverse[k])
        curvature[own, own] += strength * np.einsum('aij,bji->ab', moved, moved)
    weight = prior.weights(strength)
    location = np.where(prior.positive, prior.location, 1.0)
    safe = np.where(prior.positive, others, 1.0)
    rest = slice(PARAMETERS_PER_BODY * len(P), None)
    slope[rest] += weight * np.where(
        prior.positive, 1.0 / location - 1.0 / safe, (others - prior.location) / prior.scale**2
    )
    diagonal = weight * np.where(prior.positive, 1.0 / safe**2, 1.0 / prior.scale**2)
    places = np.arange(len(x))[rest]
    curvature[places, places] += diagonal
    return slope, curvature
