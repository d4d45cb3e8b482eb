# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Interior point method for time-optimal retiming: unknowns in a row, each bound to neighbours.

Minimizes ``sum w_j c_j^(-1/2)``, c > 0, where ``a . (c_k, c_k+1, c_k+2) + b <= bound`` and the
bound is 1, or x^(-1/2) of an x that is linear in the same three unknowns. Primal-dual steps with
predictor and corrector; their matrix is banded.

x^(-1/2) is convex, so that its tangent is below it: a step that keeps the linearized rows keeps
the rows, and what follows a feasible start is feasible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.typing import FloatArray, IndexArray

# Share of the way to the nearest bound that a step goes.
_TO_BOUND = 0.99
# Complementarity is not taken below this share of what stationarity lacks.
_CENTERED = 0.5
# A step that is shorter than this share of itself leads nowhere; duals below this are none.
_STUCK, _LEAST_DUAL = 1e-8, 1e-100
# Of the cost, spread over the unknowns: the complementarity of a row at a cold and a warm start.
_COLD, _WARM = 0.1, 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Inequalities in windows of three neighbouring unknowns; there are K windows.

    Attributes:
        coefficients: a, shape (3, K, r).
        constant: b, shape (K, r).
        places: weights of two x in each window, shape (3, K, 2).
        which: the x in the bound of each of the last rows, shape (m,); the first r - m rows have
            the bound 1.
    """

    coefficients: FloatArray
    constant: FloatArray
    places: FloatArray
    which: IndexArray

    def slack(self, c: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return bounds less rows, shape (K, r), and minus its derivative, (3, K, r).

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
        """Return rows with their constants, shape (K, r)."""
        found: FloatArray = np.einsum('ikr,ik->kr', self.coefficients, _windows(c))
        found += self.constant
        return found

    def allow(self, c: FloatArray) -> bool:
        """Return whether all rows have slack."""
        values, moving = self.values(c), self.which.size
        if moving:
            x = np.einsum('iks,ik->ks', self.places, _windows(c))
            values[:, -moving:] *= np.sqrt(x).take(self.which, axis=1)
        return bool(values.max() < 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """What is minimized.

    Attributes:
        weights: w, shape (K + 2,), 0 or more; 0 for the last unknown, which is in no row.
        ends: two matrices E, (2, 3, 3): c . E c / 2 of the first three unknowns, and of the last
            three that rows have, is added.
        bands: the lower bands of the second derivative of what is added, (3, K + 2).
    """

    weights: FloatArray
    ends: FloatArray
    bands: FloatArray

    @classmethod
    def of(cls, weights: FloatArray, first: FloatArray, last: FloatArray) -> Objective:
        """Return the objective that adds (first . c)^2 / 2 and (last . c)^2 / 2, (3,) each."""
        ends = np.stack((np.outer(first, first), np.outer(last, last)))
        bands = np.zeros((3, weights.size), order='F')
        bands[0, -1] = 1.0
        for end, at in zip(ends, (0, weights.size - 4), strict=True):
            for i in range(3):
                bands[i, at : at + 3 - i] += end.diagonal(i)
        return cls(weights, ends, bands)

    def derivatives(self, c: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        """Return the sum, the gradient, shape (K + 2,), and the Hessian's bands, (3, K + 2)."""
        shares = self.weights / np.sqrt(c)
        gradient = -0.5 * shares / c
        bands = self.bands.copy(order='K')
        bands[0] -= 1.5 * gradient / c
        gradient[:3] += self.ends[0] @ c[:3]
        gradient[-4:-1] += self.ends[1] @ c[-4:-1]
        return float(shares.sum()), gradient, bands


def minimize(
    objective: Objective,
    rows: Rows,
    start: FloatArray,
    duals: FloatArray | None = None,
    *,
    gap: float,
    most: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the unknowns and the duals of the rows.

    Args:
        objective: what is minimized.
        rows: inequalities, of which all have slack at the start.
        start: unknowns above 0, shape (K + 2,).
        duals: for a warm start, of the rows of a similar problem, shape (K, r).
        gap: of complementarity, and of stationarity, relative to the cost.
        most: steps at most; what is returned keeps the rows in any case.
    """
    from scipy.linalg.lapack import dpbtrf, dpbtrs  # takes long to import

    c, (slack, jacobian) = start, rows.slack(start)
    cost, gradient, bands = objective.derivatives(c)
    least = ((_COLD if duals is None else _WARM) * cost / c.size) / slack
    duals = least if duals is None else np.maximum(duals, least)
    for _ in range(most):
        products = float(np.vdot(duals, slack))
        lacking = float(np.abs((gradient + _transposed(jacobian, duals)) * c).sum())
        if products < gap * cost and lacking < 2.0 * gap * cost:
            break
        ratio = duals / slack
        _add_blocks(bands, np.einsum('ikr,jkr->ijk', jacobian * ratio, jacobian))
        factor, failed = dpbtrf(bands, lower=1, overwrite_ab=1)
        if failed:  # by rounding: nothing better is found
            break

        step = dpbtrs(factor, -gradient, lower=1)[0]
        change = -np.einsum('ikr,ik->kr', jacobian, _windows(step))
        dual_change = -duals - ratio * change
        length = _length((slack, change), (c, step), (duals, dual_change))
        left = float(np.vdot(duals + length * dual_change, slack + length * change))
        aim = max(min(1.0, left / products) ** 3 * products, _CENTERED * lacking) / slack.size

        target = (aim - dual_change * change) / slack
        step = dpbtrs(factor, -gradient - _transposed(jacobian, target), lower=1)[0]
        change = -np.einsum('ikr,ik->kr', jacobian, _windows(step))
        dual_change = target - duals - ratio * change
        length = _TO_BOUND * _length((slack, change), (c, step), (duals, dual_change))
        if length < _STUCK:
            break
        c = c + length * step
        duals = np.maximum(duals + length * dual_change, _LEAST_DUAL)
        slack, jacobian = rows.slack(c)
        cost, gradient, bands = objective.derivatives(c)
    return c, duals


def _windows(c: FloatArray) -> FloatArray:
    """All windows of three, shape (3, K): a view."""
    return np.ndarray((3, c.size - 2), np.float64, c, 0, (c.itemsize, c.itemsize))


def _transposed(jacobian: FloatArray, values: FloatArray) -> FloatArray:
    """The transposed matrix of all rows times a vector, (K, r)."""
    parts = np.einsum('ikr,kr->ik', jacobian, values)
    found = np.zeros(parts.shape[1] + 2)
    found[:-2] = parts[0]
    found[1:-1] += parts[1]
    found[2:] += parts[2]
    return found


def _add_blocks(bands: FloatArray, blocks: FloatArray) -> None:
    """Add blocks, shape (3, 3, K), of all windows to lower bands."""
    for i in range(3):
        for j in range(i + 1):
            bands[i - j, j : j + blocks.shape[2]] += blocks[i, j]


def _length(*pairs: tuple[FloatArray, FloatArray]) -> float:
    """How much of changes leaves all values positive, at most 1."""
    # Methods of arrays go through Python to the same function.
    steepest = min([np.minimum.reduce(change / values, axis=None) for values, change in pairs])
    return 1.0 if steepest > -1.0 else -1.0 / steepest
