# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Primal-dual interior-point method for time-optimal retiming, with banded Newton systems.

The same in C: `interior_point.c`.

Minimizes ``sum w_j c_j^(-1/2)``, c > 0, subject to inequality constraints (rows)
``a . (c_k, c_k+1, c_k+2) + b <= bound`` on neighbouring unknowns. The bound is 1, or x^(-1/2)
where x is linear in the same three unknowns. Steps are of predictor-corrector type.

x^(-1/2) is convex, so its tangent lies below it: a step that satisfies the linearized constraints
satisfies the constraints, and all iterates after a feasible start are feasible.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kron_dynamics.typing import FloatArray, IndexArray

# Share of the distance to the nearest bound that a step covers.
TO_BOUND = 0.99
# Lower bound of the complementarity target, as a share of the stationarity residual.
CENTERED = 0.5
# Step length below which the iteration stops, and lower bound of the duals.
STUCK, LEAST_DUAL = 1e-8, 1e-100
# Initial complementarity of a constraint at a cold and a warm start, as a share of the cost per
# unknown.
COLD, WARM = 0.1, 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Inequality constraints, r in each of K windows of three neighbouring unknowns.

    Attributes:
        coefficients: a, shape (3, K, r).
        constant: b, shape (K, r).
        places: weights of the three unknowns in two values x of each window, shape (3, K, 2).
        which: index 0 or 1 of the x in the bound x^(-1/2) of each of the last m rows, shape (m,);
            the first r - m rows have the bound 1.
    """

    coefficients: FloatArray
    constant: FloatArray
    places: FloatArray
    which: IndexArray

    def slack(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the slacks (bounds minus rows), (K, r), and their negated Jacobian, (3, K, r).

        Args:
            c: unknowns above 0, shape (K + 2,).
        """
        values, moving = self.values(c), self.which.size
        found = np.subtract(1.0, values, out=values)
        if not moving:
            return found, self.coefficients
        x = np.einsum('iks,ik->ks', self.places, _windows(c))
        bounds = 1.0 / np.sqrt(x)
        slopes = self.places * (0.5 * bounds / x)
        bounds -= 1.0
        found[:, -moving:] += bounds.take(self.which, axis=1)
        derivative = self.coefficients.copy()
        derivative[:, :, -moving:] += slopes.take(self.which, axis=2)
        return found, derivative

    def values(self, c: FloatArray) -> FloatArray:
        """Return the left-hand sides of the rows including constants, shape (K, r)."""
        found: FloatArray = np.einsum('ikr,ik->kr', self.coefficients, _windows(c))
        found += self.constant
        return found

    def allowed_shares(self, c: FloatArray) -> Callable[[float], bool]:
        """Return a function that tells whether c times a share, above 0, is strictly feasible."""
        linear, moving = np.einsum('ikr,ik->kr', self.coefficients, _windows(c)), self.which.size
        x = np.einsum('iks,ik->ks', self.places, _windows(c))
        roots = np.sqrt(x).take(self.which, axis=1)

        def allowed(share: float) -> bool:
            values = share * linear + self.constant
            if moving:
                values[:, -moving:] *= math.sqrt(share) * roots
            return bool(values.max() < 1.0)

        return allowed


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """The cost function: weighted sum of c^(-1/2) plus quadratic terms at both ends.

    Attributes:
        weights: w, shape (K + 2,), 0 or more; 0 for the last unknown, which is in no row.
        ends: e, shape (2, 3), of the terms (e . c)^2 / 2 of the first three unknowns and of the
            last three that rows contain.
    """

    weights: FloatArray
    ends: FloatArray

    def derivatives(self, c: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the sum, the gradient of the cost, shape (K + 2,), and second derivatives."""
        shares = self.weights / np.sqrt(c)
        gradient = -0.5 * shares / c
        bends = -1.5 * gradient / c
        for end, at in zip(self.ends, (0, c.size - 4), strict=True):
            gradient[at : at + 3] += (end @ c[at : at + 3]) * end
        return float(shares.sum()), gradient, bends

    @property
    def bands(self) -> FloatArray:
        """Lower bands of the quadratic terms' Hessian, shape (3, K + 2), and 1 at the end."""
        found = np.zeros((3, self.weights.size), order='F')
        found[0, -1] = 1.0
        for end, at in zip(self.ends, (0, self.weights.size - 4), strict=True):
            for i in range(3):
                found[i, at : at + 3 - i] += end[i:] * end[: 3 - i]
        return found


def minimize(
    objective: Objective,
    rows: Rows,
    start: FloatArray,
    duals: FloatArray | None = None,
    *,
    gap: float,
    most: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the minimizer and the duals of the rows.

    Args:
        objective: the cost function.
        rows: inequality constraints, strictly satisfied by the start.
        start: unknowns above 0, shape (K + 2,).
        duals: duals of a similar problem for a warm start, shape (K, r).
        gap: tolerance of complementarity and stationarity, relative to the cost.
        most: largest number of steps; the result is feasible in any case.
    """
    from scipy.linalg.lapack import dpbtrf, dpbtrs  # slow to import

    c, (slack, jacobian) = start, rows.slack(start)
    fixed, (cost, gradient, bends) = objective.bands, objective.derivatives(c)
    least = ((COLD if duals is None else WARM) * cost / c.size) / slack
    duals = least if duals is None else np.maximum(duals, least)
    for _ in range(most):
        products = float(np.vdot(duals, slack))
        lacking = float(np.abs((gradient + _transposed(jacobian, duals)) * c).sum())
        if products < gap * cost and lacking < 2.0 * gap * cost:
            break
        ratio, bands = duals / slack, fixed.copy(order='K')
        bands[0] += bends
        _add_blocks(bands, np.einsum('ikr,jkr->ijk', jacobian * ratio, jacobian))
        factor, failed = dpbtrf(bands, lower=1, overwrite_ab=1)
        if failed:  # by rounding errors close to the optimum
            break

        step = dpbtrs(factor, -gradient, lower=1)[0]
        change = -np.einsum('ikr,ik->kr', jacobian, _windows(step))
        dual_change = -duals - ratio * change
        length = _length((slack, change), (c, step), (duals, dual_change))
        left = float(np.vdot(duals + length * dual_change, slack + length * change))
        aim = max(min(1.0, left / products) ** 3 * products, CENTERED * lacking) / slack.size

        target = (aim - dual_change * change) / slack
        step = dpbtrs(factor, -gradient - _transposed(jacobian, target), lower=1)[0]
        change = -np.einsum('ikr,ik->kr', jacobian, _windows(step))
        dual_change = target - duals - ratio * change
        length = TO_BOUND * _length((slack, change), (c, step), (duals, dual_change))
        if length < STUCK:
            break
        c = c + length * step
        duals = np.maximum(duals + length * dual_change, LEAST_DUAL)
        slack, jacobian = rows.slack(c)
        cost, gradient, bends = objective.derivatives(c)
    return c, duals


def _windows(c: FloatArray) -> FloatArray:
    """All windows of three neighbouring unknowns, shape (3, K); a view."""
    return np.ndarray((3, c.size - 2), np.float64, c, 0, (c.itemsize, c.itemsize))


def _transposed(jacobian: FloatArray, values: FloatArray) -> FloatArray:
    """Transposed Jacobian of all rows times values, (K, r); shape (K + 2,)."""
    parts = np.einsum('ikr,kr->ik', jacobian, values)
    found = np.zeros(parts.shape[1] + 2)
    found[:-2] = parts[0]
    found[1:-1] += parts[1]
    found[2:] += parts[2]
    return found


def _add_blocks(bands: FloatArray, blocks: FloatArray) -> None:
    """Add the blocks of all windows, shape (3, 3, K), to the lower bands of a matrix."""
    for i in range(3):
        for j in range(i + 1):
            bands[i - j, j : j + blocks.shape[2]] += blocks[i, j]


def _length(*pairs: tuple[FloatArray, FloatArray]) -> float:
    """Longest step, at most 1, that keeps all values positive, from pairs (values, changes)."""
    # np.minimum.reduce is what ndarray.min calls through Python code.
    steepest = min([np.minimum.reduce(change / values, axis=None) for values, change in pairs])
    return 1.0 if steepest > -1.0 else -1.0 / steepest
