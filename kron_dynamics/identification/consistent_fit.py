# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Physically consistent parameters that fit the data, regularised towards the description.

The cost is half the weighted sum of squared residuals, plus `strength` times the entropic
divergence of every body's pseudo-inertia from the described one, plus a prior with barrier that
keeps friction and armatures positive. The cost is convex in the parameters: Newton's method with a
line search finds its only minimum. The divergence is a barrier itself: it is infinite on the
boundary of the consistent parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.identification.pseudo_inertia import BASIS, ten_parameters
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Continuation in the weight of the prior, a factor of 10 per step, each from the last minimum:
# from far away, Newton's method would crawl along the boundary of the feasible set.
PATH = tuple(10.0**k for k in range(6, -1, -1))
NEWTON_STEPS = 25
# Newton decrement, relative to the cost (or absolute below 1), at which the minimum is found.
DECREMENT = 1e-9
BACKTRACKINGS = 40
# Smallest allowed diagonal element of the Cholesky factor of a pseudo-inertia that is whitened by
# the description: thinner bodies are lost to rounding.
THINNEST = 1e-4
# Share of the predicted decrease that the line search requires.
ARMIJO = 1e-4

# Regularisation of least squares without a prior, relative to each parameter's sum of squares.
RIDGE = 1e-10
# Cholesky factor of a matrix scaled to a unit diagonal, as of `cho_factor`, and the scale.
_Factor = tuple[tuple[FloatArray, bool], FloatArray]


@dataclass(frozen=True, eq=False)
class Gram:
    """Weighted sum of squared residuals, x^T matrix x - 2 vector^T x + square.

    Attributes:
        matrix: shape (p, p).
        vector: shape (p,).
        square: weighted sum of squared efforts.
        count: number of equations with weight above zero.
    """

    matrix: FloatArray
    vector: FloatArray
    square: float
    count: float

    def __add__(self, other: Gram) -> Gram:
        """Return the quadratic form of both sets of equations."""
        return Gram(
            self.matrix + other.matrix,
            self.vector + other.vector,
            self.square + other.square,
            self.count + other.count,
        )

    def __sub__(self, other: Gram) -> Gram:
        """Return the quadratic form without the equations of `other`, which it contains."""
        return Gram(
            self.matrix - other.matrix,
            self.vector - other.vector,
            self.square - other.square,
            self.count - other.count,
        )

    def squares(self, x: FloatArray) -> float:
        """Return the weighted sum of squared residuals of parameters `x`, shape (p,)."""
        return float(x @ self.matrix @ x - 2.0 * self.vector @ x + self.square)

    def least(self) -> float:
        """Return the least weighted sum of squared residuals that any parameters have."""
        from scipy.linalg import cho_factor, cho_solve  # takes long to import

        size = np.sqrt(self.matrix.diagonal())
        scale = np.where(size > 0.0, 1.0 / np.where(size > 0.0, size, 1.0), 0.0)
        matrix = self.matrix * scale * scale[:, None] + RIDGE * np.eye(len(scale))
        vector = self.vector * scale
        explained = vector @ cho_solve(cho_factor(matrix, check_finite=False), vector)
        return float(self.square - explained)

    def of(self, columns: IntArray) -> Gram:
        """Return the quadratic form in some of the parameters, the others being zero."""
        return Gram(
            self.matrix[np.ix_(columns, columns)], self.vector[columns], self.square, self.count
        )


def gram(matrix: FloatArray, effort: FloatArray, weights: FloatArray) -> Gram:
    """Return the quadratic form of weighted equations.

    Args:
        matrix: shape (R, n, p).
        effort: shape (R, n); NaN where unknown.
        weights: weights of the squared residuals, shape (R, n); 0 where no effort is known.
    """
    root = np.sqrt(weights)
    A = (matrix * root[..., None]).reshape(-1, matrix.shape[2])
    b = (np.where(weights > 0.0, effort, 0.0) * root).ravel()
    return Gram(A.T @ A, A.T @ b, float(b @ b), float(np.count_nonzero(weights)))


@dataclass(frozen=True, eq=False)
class Prior:
    """Prior of the parameters: 10 of each of b bodies, then k others.

    The others are armatures, friction coefficients, gravity components and inertias of loads.

    Attributes:
        bodies: pseudo-inertias of the description, positive definite, shape (b, 4, 4).
        positive: which of the others must be positive, shape (k,).
        location: expected values of the others, positive where they must be, shape (k,).
        scale: standard deviations of the others that may have either sign, shape (k,).
        weight: weights of the others' prior terms, shape (k,).
        follows: which of these weights are multiplied by the prior's `strength`, as the terms of
            bodies are, shape (k,).
    """

    bodies: FloatArray
    positive: BoolArray
    location: FloatArray
    scale: FloatArray
    weight: FloatArray
    follows: BoolArray

    @cached_property
    def basis(self) -> FloatArray:
        """W B_a W^T of the matrices B_a of `BASIS`, shape (b, 10, 4, 4).

        W whitens each body by the description: ``W P0 W^T = E``, the identity.
        """
        W = np.linalg.inv(np.linalg.cholesky(self.bodies))[:, None]
        return np.asarray(W @ BASIS @ W.swapaxes(-1, -2))

    @property
    def expected(self) -> FloatArray:
        """The prior's parameters, shape (p,)."""
        return np.concatenate([*map(ten_parameters, self.bodies), self.location])

    def of(self, others: IntArray) -> Prior:
        """Return the prior of the bodies and some of the others, by index."""
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
    """Minimum of the cost.

    Attributes:
        parameters: shape (p,).
        covariance: inverse of the Hessian at the minimum, shape (p, p).
    """

    parameters: FloatArray
    covariance: FloatArray


def consistent_fit(
    data: Gram, prior: Prior, strength: float, start: FloatArray | None = None
) -> ConsistentFit:
    """Return the physically consistent parameters that minimise the cost of this module.

    Args:
        data: weighted equations; weights are inverse variances.
        prior: prior from the description.
        strength: weight of the prior, above zero.
        start: consistent initial guess, shape (p,); None for the prior's parameters.
    """
    if start is not None:
        x, factor, found = _newton(_Cost(data, prior, strength), np.array(start, dtype=float))
        if found:
            return ConsistentFit(x, _solve(factor, np.eye(len(x))))
    x = prior.expected
    for heavier in PATH:
        x, factor, _ = _newton(_Cost(data, prior, strength, heavier), x)
    return ConsistentFit(x, _solve(factor, np.eye(len(x))))


def followed_curvature(prior: Prior, x: FloatArray) -> FloatArray:
    """Return the Hessian of the terms that follow the strength, for strength 1, shape (p, p).

    Args:
        prior: prior of the parameters.
        x: consistent parameters, shape (p,).
    """
    nothing = Gram(np.zeros((len(x), len(x))), np.zeros(len(x)), 0.0, 0.0)
    followed = replace(prior, weight=np.where(prior.follows, prior.weight, 0.0))
    cost = _Cost(nothing, followed, 1.0)
    return cost.derivatives(x, cost.value(x)[1])[1]


def _newton(cost: _Cost, x: FloatArray) -> tuple[FloatArray, _Factor, bool]:
    """Return the parameters, the factor of their Hessian, and whether they are the minimum."""
    value, roots = cost.value(x)
    for _ in range(NEWTON_STEPS):
        slope, curvature = cost.derivatives(x, roots)
        factor = _factor(curvature)
        step = -_solve(factor, slope)
        decrement = -float(slope @ step)
        found = decrement < DECREMENT * max(1.0, abs(value))
        if found:
            break
        share = 1.0
        for _ in range(BACKTRACKINGS):
            trial, its = cost.value(x + share * step)
            if trial <= value - ARMIJO * share * decrement:
                break
            share *= 0.5
        else:
            found = True  # the decrease is below rounding
            break
        x, value, roots = x + share * step, trial, its
    return x, factor, found


def _factor(curvature: FloatArray) -> _Factor:
    """Return the Cholesky factor of a matrix scaled to a unit diagonal, and the scale."""
    from scipy.linalg import cho_factor

    scale: FloatArray = 1.0 / np.sqrt(curvature.diagonal())
    scaled = curvature * scale * scale[:, None]
    jitter = 0.0
    while True:
        try:
            wanted = scaled + jitter * np.eye(len(scale)) if jitter else scaled
            return cho_factor(wanted, lower=True, check_finite=False), scale
        except np.linalg.LinAlgError:
            jitter = max(10.0 * jitter, 1e-14)


def _solve(factor: _Factor, right: FloatArray) -> FloatArray:
    from scipy.linalg import cho_solve

    lower, scale = factor
    scale = scale if right.ndim == 1 else scale[:, None]
    return np.asarray(cho_solve(lower, right * scale, check_finite=False) * scale)


class _Cost:
    """The cost, as a function of the parameters."""

    def __init__(self, data: Gram, prior: Prior, strength: float, heavier: float = 1.0) -> None:
        """Keep what does not depend on the parameters.

        Args:
            data: weighted equations.
            prior: prior of the parameters.
            strength: weight of the prior.
            heavier: factor of all terms of the prior.
        """
        count = len(prior.bodies)
        self._data, self._basis = data, prior.basis.reshape(count, PARAMETERS_PER_BODY, 16)
        self._bodies = slice(PARAMETERS_PER_BODY * count)
        self._strength = strength * heavier
        weight = heavier * np.where(prior.follows, strength, 1.0) * prior.weight
        self._barred = np.flatnonzero(prior.positive) + self._bodies.stop
        self._location = prior.location[prior.positive]
        self._weight = weight[prior.positive]
        free = ~prior.positive
        self._free = np.flatnonzero(free) + self._bodies.stop
        self._center, self._stiffness = prior.location[free], weight[free] / prior.scale[free] ** 2
        # Constant parts of the derivatives: the divergence's trace and the free parameters.
        self._slope = -data.vector
        self._slope[self._bodies] += self._strength * _traces(self._basis).ravel()
        self._slope[self._barred] += self._weight / self._location
        self._slope[self._free] -= self._stiffness * self._center
        self._curvature = data.matrix.copy()
        self._curvature[self._free, self._free] += self._stiffness
        places = np.arange(self._bodies.stop).reshape(count, PARAMETERS_PER_BODY)
        self._blocks = places[:, :, None], places[:, None, :]

    def value(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return the cost, and the Cholesky factors of the whitened bodies, shape (b, 4, 4).

        The cost is infinite outside the consistent parameters.
        """
        ten = x[self._bodies].reshape(-1, 1, PARAMETERS_PER_BODY)
        relative: FloatArray = (ten @ self._basis).reshape(-1, 4, 4)
        ratio = x[self._barred] / self._location
        if (ratio <= 0.0).any():
            return np.inf, relative
        try:
            roots = np.asarray(np.linalg.cholesky(relative), dtype=float)
        except np.linalg.LinAlgError:
            return np.inf, relative
        diagonal = roots.reshape(-1, 16)[:, ::5]
        if diagonal.min(initial=1.0) < THINNEST:
            return np.inf, roots
        bodies = relative.reshape(-1, 16)[:, ::5].sum() - 2.0 * np.log(diagonal).sum()
        positive = self._weight @ (ratio - np.log(ratio) - 1.0)
        free = 0.5 * self._stiffness @ np.square(x[self._free] - self._center)
        return float(
            0.5 * self._data.squares(x) + self._strength * bodies + positive + free
        ), roots

    def derivatives(self, x: FloatArray, roots: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient, shape (p,), and the Hessian, shape (p, p).

        Args:
            x: parameters.
            roots: Cholesky factors of their whitened bodies.
        """
        curvature = self._curvature.copy()
        slope = self._slope + self._data.matrix @ x
        slope[self._free] += self._stiffness * x[self._free]
        # L^-1 B_a L^-T of each body and its basis.
        inverse = np.linalg.inv(roots)[:, None]
        moved = inverse @ self._basis.reshape(len(roots), -1, 4, 4) @ inverse.swapaxes(-1, -2)
        moved = moved.reshape(self._basis.shape)
        slope[self._bodies] -= self._strength * _traces(moved).ravel()
        curvature[self._blocks] += self._strength * (moved @ moved.swapaxes(-1, -2))
        slope[self._barred] -= self._weight / x[self._barred]
        curvature[self._barred, self._barred] += self._weight / x[self._barred] ** 2
        return slope, curvature


def _traces(matrices: FloatArray) -> FloatArray:
    """Return the traces of flat matrices of 4 by 4, shape (..., 16)."""
    return np.asarray(matrices[..., ::5].sum(axis=-1))
