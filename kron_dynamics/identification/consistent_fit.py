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
from scipy.linalg import cho_solve

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

    def weights(self, strength: float) -> FloatArray:
        """Return the weights of the others' prior terms at a strength of the prior, shape (k,)."""
        return np.where(self.follows, strength, 1.0) * self.weight

    @cached_property
    def whitening(self) -> FloatArray:
        """W of each body with ``W P0 W^T = E``, the identity, shape (b, 4, 4)."""
        return np.asarray(np.linalg.inv(np.linalg.cholesky(self.bodies)))

    @cached_property
    def inverses(self) -> FloatArray:
        """P0^-1 of each body, shape (b, 4, 4)."""
        return np.asarray(np.linalg.inv(self.bodies))

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
    """Return the parameters, the inverse of their Hessian, and whether they are the minimum."""
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
            found = True  # the decrease is below rounding
            break
        x, value = x + share * step, trial
    return x, _solve(factor, np.eye(len(x))), found


def _factor(curvature: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the Cholesky factor of a matrix scaled to a unit diagonal, and the scale."""
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
    """Return the gradient, shape (p,), and the Hessian, shape (p, p), of the cost."""
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
