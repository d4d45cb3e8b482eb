# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Deflections of a beam that follow from given curvatures, as Legendre series between knots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.flexible.beams.integrals import gauss_legendre
from kron_dynamics.reproducible import product
from kron_dynamics.typing import FloatArray

# Terms of the series of a curvature.
_TERMS = 24


@dataclass(frozen=True, slots=True, eq=False)
class Deflections:
    """Deflections X of p functions along a beam.

    Attributes:
        knots: distances from the root between which the series hold, shape (k + 1,), m.
        series: Legendre series of X and of its derivatives of the orders 1 to 3 between two knots,
            shape (4, terms, p, k), 1/m^order.
    """

    knots: FloatArray
    series: FloatArray

    @classmethod
    def of_curvature(
        cls,
        knots: FloatArray,
        curvature: Callable[[FloatArray], FloatArray],
        root: tuple[FloatArray, FloatArray],
    ) -> Deflections:
        """Return the deflections with given curvatures.

        X is the double integral of X'' to rounding, however well the series of X'' represents the
        given curvature.

        Args:
            knots: distances from the root, from 0 to l, increasing, shape (k + 1,), m.
            curvature: X'' at distances, shape (j,), as an array (p, j), 1/m^2; smooth between
                the knots.
            root: X and X' at the root, shape (p,) each.
        """
        half = np.diff(knots) / 2
        s, weights = gauss_legendre(_TERMS)
        x = knots[:-1, None] + half[:, None] * (1 + s)
        values = curvature(x.ravel()).reshape(-1, *x.shape)
        analysis = _legendre(s, _TERMS) * weights * (np.arange(_TERMS) + 0.5)[:, None]
        series = np.zeros((4, _TERMS + 2, *values.shape[:2]))
        series[2, :_TERMS] = np.moveaxis(product(values, analysis.T), -1, 0)
        series[3] = _derivative(series[2]) / half
        for order in (1, 0):
            growth = 2 * half * series[order + 1, 0]
            series[order] = half * _integral(series[order + 1])
            series[order, 0] += root[order][:, None] + np.cumsum(growth, axis=1) - growth
        return cls(knots, series)

    def combined(self, weights: FloatArray) -> Deflections:
        """Return n linear combinations of the functions with weights, shape (n, p)."""
        return Deflections(self.knots, product(weights, self.series))

    def derivatives(self, x: FloatArray, orders: Sequence[int]) -> list[FloatArray]:
        """Return X or its derivatives at distances; at knots, where they may jump, the left ones.

        Args:
            x: shape (j,), m.
            orders: 0 to 3.

        Returns:
            for each order an array (p, j), 1/m^order.
        """
        segment = np.clip(np.searchsorted(self.knots, x) - 1, 0, len(self.knots) - 2)
        found = [np.empty((self.series.shape[2], len(x))) for _ in orders]
        by_segment = np.argsort(segment, kind='stable')
        for points in np.split(by_segment, np.flatnonzero(np.diff(segment[by_segment])) + 1):
            k = segment[points[0]]
            begin, end = self.knots[k : k + 2]
            s = ((x[points] - begin) - (end - x[points])) / (end - begin)
            values = _legendre(np.clip(s, -1, 1), self.series.shape[1])
            for order, shapes in zip(orders, found, strict=True):
                shapes[:, points] = product(self.series[order, :, :, k].T, values)
        return found


def _legendre(s: FloatArray, count: int) -> FloatArray:
    """Return the Legendre polynomials of the degrees 0 to count - 1 at s, shape (count, j)."""
    values = np.ones((count, len(s)))
    values[1] = s
    for k in range(2, count):
        values[k] = ((2 * k - 1) * s * values[k - 1] - (k - 1) * values[k - 2]) / k
    return values


def _integral(series: FloatArray) -> FloatArray:
    """Return the Legendre series of the integrals from -1 on; the last term given is 0."""
    # int P_k = (P_(k+1) - P_(k-1))/(2 k + 1), which is 0 at -1, and int P_0 = P_1 + P_0.
    found = np.zeros_like(series)
    found[0] = series[0]
    for k, terms in enumerate(series[:-1]):
        found[k + 1] += terms / (2 * k + 1)
        if k:
            found[k - 1] -= terms / (2 * k + 1)
    return found


def _derivative(series: FloatArray) -> FloatArray:
    """Return the Legendre series of the derivatives."""
    # (2 k + 1) P_k is the derivative of P_(k+1) - P_(k-1): sum from the highest term on.
    found = np.zeros_like(series)
    for k in range(len(series) - 2, -1, -1):
        found[k] = (2 * k + 1) * series[k + 1]
        if k + 2 < len(series):
            found[k] += (2 * k + 1) / (2 * k + 5) * found[k + 2]
    return found
