# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Integrals of mode shapes over a beam, for its equations of motion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.flexible.beams.beam import BeamModes
from kron_dynamics.reproducible import cosine_and_sine
from kron_dynamics.typing import ArrayLike, FloatArray

# Newton steps from the usual initial guess of a Legendre polynomial's root to full precision.
_NEWTON_STEPS = 5


@dataclass(frozen=True, slots=True, eq=False)
class BeamIntegrals:
    """Integrals over x from 0 to l of the n mode shapes X_i, and their values at the tip.

    Attributes:
        D: int x X_i, shape (n,), m^2.
        C: int X_i, shape (n,), m.
        tip_deflection: X_i(l), shape (n,), no unit.
        tip_slope: X_i'(l), shape (n,), 1/m.
        m: int X_i X_j, shape (n, n), m.
        k: int X_i'' X_j'', shape (n, n), 1/m^3.
        S: int (l^2 - x^2)/2 X_i' X_j', shape (n, n), m.
        T: int (l - x) X_i' X_j', shape (n, n), no unit.
        N: int X_i' X_j', shape (n, n), 1/m.
    """

    D: FloatArray
    C: FloatArray
    tip_deflection: FloatArray
    tip_slope: FloatArray
    m: FloatArray
    k: FloatArray
    S: FloatArray
    T: FloatArray
    N: FloatArray

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name in self.__dataclass_fields__:
            getattr(self, name).setflags(write=False)


def beam_integrals(modes: BeamModes) -> BeamIntegrals:
    """Return the integrals of the modes for [K] eqs. (68)-(71) and for axial forces.

    Args:
        modes: n modes of a uniform beam.
    """
    length = modes.beam.length
    x, weights = beam_quadrature([0.0, length], modes.count)
    X, X1, X2 = (modes.shapes(x, order) for order in range(3))
    tip = np.array([length])

    def products(A: FloatArray, weight: FloatArray) -> FloatArray:
        return np.asarray((A * weight) @ A.T)

    return BeamIntegrals(
        D=X @ (weights * x),
        C=X @ weights,
        tip_deflection=modes.shapes(tip)[:, 0],
        tip_slope=modes.shapes(tip, 1)[:, 0],
        m=products(X, weights),
        k=products(X2, weights),
        S=products(X1, weights * (length - x) * (length + x) / 2),
        T=products(X1, weights * (length - x)),
        N=products(X1, weights),
    )


def beam_quadrature(stations: ArrayLike, count: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre points and weights, exact to rounding for products of two modes.

    Args:
        stations: positions where the integrand may have a kink and both ends of the beam,
            increasing, shape (k,), m.
        count: number of modes of the beam, whose wavelengths are at least 2 l/count.

    Returns:
        points and weights, both of shape (p,), m.

    Raises:
        ParameterError: there are fewer than two stations.
    """
    knots = np.asarray(stations, dtype=np.float64)
    if len(knots) < 2:
        raise ParameterError(f'stations has length {len(knots)}, expected 2 or more')
    points, weights = [], []
    for start, end in zip(knots[:-1], knots[1:], strict=True):
        # The phase of a product of two modes grows by at most 2 pi count over the beam.
        # Gauss-Legendre is exact to rounding with pi points per period and some 20 more.
        part = (end - start) / (knots[-1] - knots[0])
        nodes, weight = gauss_legendre(24 + int(np.ceil(4 * count * part)))
        points.append(start + (end - start) * (1 + nodes) / 2)
        weights.append((end - start) / 2 * weight)
    return np.concatenate(points), np.concatenate(weights)


@cache
def gauss_legendre(count: int) -> tuple[FloatArray, FloatArray]:
    """Return Gauss-Legendre points and weights on [-1, 1], shape (count,) each.

    Cached, as every section of a link uses them. By Newton's method instead of an eigenvalue
    problem, whose last bits depend on the processor.
    """
    x, _ = cosine_and_sine(np.pi * (np.arange(count)[::-1] + 0.75) / (count + 0.5))
    for _ in range(_NEWTON_STEPS):
        before, value = np.ones(count), x
        for k in range(2, count + 1):
            before, value = value, ((2 * k - 1) * x * value - (k - 1) * before) / k
        slope = count * (before - x * value) / (1 - x * x)
        x = x - value / slope
    x = (x - x[::-1]) / 2  # symmetric to the last bit
    weights = 2 / ((1 - x * x) * slope * slope)
    return x, (weights + weights[::-1]) / 2
