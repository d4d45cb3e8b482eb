# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Euler-Bernoulli beams with a body at the tip: their data and their modes of vibration.

X is the deflection of a mode at a distance x from the root; its natural frequency is
sqrt(EI/rhoA) b^2. Clamped beams have Khang's normalisation,

    X = cosh(b x) - cos(b x) - sigma (sinh(b x) - sin(b x)),

pinned ones X = sin(b x) + sigma sinh(b x), guided ones X = cos(b x) + sigma cosh(b x). A pinned
(guided) root lets the whole beam rotate (slide); this rigid motion is not among the modes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf

import numpy as np

from kron_dynamics.exceptions import ModelError, NonFiniteError, ParameterError, ShapeError
from kron_dynamics.flexible.beams.frequency import (
    ROOTS,
    frequency_parameters,
    mode_coefficients,
    mode_sigma,
)
from kron_dynamics.reproducible import cosine_and_sine, exponential, power
from kron_dynamics.typing import ArrayLike, FloatArray


@dataclass(frozen=True, slots=True)
class Beam:
    """A uniform beam, held at x = 0, with a rigid body at its tip x = l.

    Attributes:
        length: l, m.
        bending_stiffness: EI, N m^2.
        mass_per_length: rho A, kg/m.
        tip_mass: kg; its centre is at the tip.
        tip_inertia: inertia about the tip, in the plane of bending, kg m^2.
        root: 'clamped' (X = X' = 0), 'pinned' (X = X'' = 0) or 'guided' (X' = X''' = 0).
    """

    length: float
    bending_stiffness: float
    mass_per_length: float
    tip_mass: float = 0.0
    tip_inertia: float = 0.0
    root: str = 'clamped'

    def __post_init__(self) -> None:
        """Check the values."""
        for name in ('length', 'bending_stiffness', 'mass_per_length'):
            value = getattr(self, name)
            if not 0 < value < inf:
                raise ModelError(f'{name} is {value}, expected a positive number')
        check_tip(self.tip_mass, self.tip_inertia, self.root)

    @property
    def mass_ratio(self) -> float:
        """Tip mass over the mass of the beam."""
        return self.tip_mass / (self.mass_per_length * self.length)

    @property
    def inertia_ratio(self) -> float:
        """Tip inertia over rho A l^3."""
        cube: float = power(self.length, 3)
        return self.tip_inertia / (self.mass_per_length * cube)

    def modes(self, count: int) -> BeamModes:
        """Return the lowest modes of vibration.

        Args:
            count: number of modes, 1 or more.

        Raises:
            ParameterError: the count is not a positive integer.
        """
        return BeamModes(self, count)


@dataclass(frozen=True, slots=True, eq=False)
class BeamSection:
    """Stiffness and mass along a tapered beam, given at stations and linear in between.

    Attributes:
        stations: x, from 0 at the root to l at the tip, increasing, shape (k,) with k >= 2, m.
        bending_stiffness: EI at the stations, shape (k,), N m^2.
        mass_per_length: rho A at the stations, shape (k,), kg/m.
    """

    stations: FloatArray
    bending_stiffness: FloatArray
    mass_per_length: FloatArray

    def __post_init__(self) -> None:
        """Copy the tables, make them read-only and check them."""
        for name in ('stations', 'bending_stiffness', 'mass_per_length'):
            values = np.array(getattr(self, name), dtype=np.float64)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
            if values.ndim != 1 or len(values) < 2 or len(values) != len(self.stations):
                expected = f'({len(self.stations)},)' if name != 'stations' else '(k,) with k >= 2'
                raise ShapeError(f'{name} has shape {values.shape}, expected {expected}')
            if name != 'stations' and not ((values > 0) & (values < inf)).all():
                raise ModelError(f'{name} is {values.tolist()}, expected positive numbers')
        x = self.stations
        if x[0] != 0 or not (np.diff(x) > 0).all() or not x[-1] < inf:
            raise ModelError(f'stations is {x.tolist()}, expected 0 first, then increasing')

    @property
    def length(self) -> float:
        """Length l of the beam, m."""
        return float(self.stations[-1])

    def bending_stiffness_at(self, x: ArrayLike) -> FloatArray:
        """Return EI at distances x in m, shape (k,), N m^2."""
        return np.interp(np.asarray(x, dtype=np.float64), self.stations, self.bending_stiffness)

    def mass_per_length_at(self, x: ArrayLike) -> FloatArray:
        """Return rho A at distances x in m, shape (k,), kg/m."""
        return np.interp(np.asarray(x, dtype=np.float64), self.stations, self.mass_per_length)


@dataclass(frozen=True, slots=True, eq=False)
class BeamModes:
    """The n lowest modes of vibration of a uniform beam.

    Attributes:
        beam: the beam.
        count: n.
        beta_l: roots b l of the frequency equation, shape (n,).
        sigma: the factor in each mode's shape, shape (n,).
    """

    beam: Beam
    count: int
    beta_l: FloatArray = field(init=False)
    sigma: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        """Solve the frequency equation."""
        if self.count != int(self.count) or self.count < 1:
            raise ParameterError(f'count is {self.count}, expected a whole number of 1 or more')
        alpha, gamma = self.beam.mass_ratio, self.beam.inertia_ratio
        beta_l = frequency_parameters(int(self.count), alpha, gamma, self.beam.root)
        sigma = mode_sigma(beta_l, alpha, self.beam.root)
        sigma.setflags(write=False)
        for name, values in (('beta_l', beta_l), ('sigma', sigma)):
            object.__setattr__(self, name, values)

    @property
    def natural_frequencies(self) -> FloatArray:
        """Natural frequencies, shape (n,), rad/s."""
        beta = self.beta_l / self.beam.length
        stiffness, mass = self.beam.bending_stiffness, self.beam.mass_per_length
        return np.asarray(beta**2 * np.sqrt(stiffness / mass))

    def shapes(self, x: ArrayLike, order: int = 0) -> FloatArray:
        """Return the mode shapes or their derivatives.

        Evaluated with exp(-b x), exp(-b (l - x)), cos and sin, none of which exceeds 1: the
        difference of cosh and sinh would lose all digits from about the 12th mode on.

        Args:
            x: distances from the root, 0 to l, shape (k,), m.
            order: order of the derivative, 0 to 3.

        Returns:
            shape (n, k), 1/m^order (the shapes themselves are dimensionless).

        Raises:
            ParameterError: the order is not 0 to 3.
            ShapeError: x is not a vector.
            NonFiniteError: a distance is NaN or infinite.
            ModelError: a distance is outside the beam.
        """
        return self.derivatives(x, (order,))[0]

    def derivatives(self, x: ArrayLike, orders: Sequence[int]) -> list[FloatArray]:
        """Return `shapes` for several orders, a list of that shape, at the cost of one."""
        for order in orders:
            if order not in (0, 1, 2, 3):
                raise ParameterError(f'order is {order}, expected 0, 1, 2 or 3')
        xi = np.asarray(x, dtype=np.float64) / self.beam.length
        if xi.ndim != 1:
            raise ShapeError(f'x has shape {xi.shape}, expected (k,)')
        if not np.isfinite(xi).all():
            raise NonFiniteError('x holds a NaN or an infinity, expected distances from the root')
        # Tolerate rounding of the caller's distances at root and tip.
        if ((xi < -1e-12) | (xi > 1 + 1e-12)).any():
            raise ModelError(
                f'x reaches from {np.min(x)} to {np.max(x)}, expected 0 to {self.beam.length}'
            )
        falling, rising, cosine, sine = _waves(self.beta_l.tobytes(), xi.tobytes())
        A, B, C, D = _coefficients(self.beta_l.tobytes(), self.beam.mass_ratio, self.beam.root)
        grown, fallen, found = A * rising, B * falling, []
        for order in orders:
            turns = ((cosine, sine), (-sine, cosine), (-cosine, -sine), (sine, -cosine))
            c, s = turns[order]
            shapes = grown + (-1) ** order * fallen + C * c + D * s
            found.append(shapes * power(self.beta_l[:, None] / self.beam.length, order))
        return found


@lru_cache(maxsize=16)
def _waves(beta_l: bytes, xi: bytes) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return exp(-b x), exp(-b (l - x)), cos(b x) and sin(b x), shape (n, k) each.

    Cached, as the two planes of a link and beams of equal proportions have them in common.

    Args:
        beta_l: bytes of the roots b l, shape (n,).
        xi: bytes of x/l, shape (k,).
    """
    roots = np.frombuffer(beta_l)
    z = np.outer(roots, np.frombuffer(xi))
    waves = (exponential(-z), exponential(z - roots[:, None]), *cosine_and_sine(z))
    for wave in waves:
        wave.setflags(write=False)
    return waves


@lru_cache(maxsize=16)
def _coefficients(beta_l: bytes, alpha: float, root: str) -> FloatArray:
    """Return `mode_coefficients` as columns, shape (4, n, 1); cached, as `_waves` are.

    Args:
        beta_l: bytes of the roots b l, shape (n,).
        alpha: tip mass over beam mass.
        root: 'clamped', 'pinned' or 'guided'.
    """
    found = mode_coefficients(np.frombuffer(beta_l), alpha, root)[:, :, None]
    found.setflags(write=False)
    return found


def check_tip(tip_mass: float, tip_inertia: float, root: str) -> None:
    """Check the body at the tip and the kind of root.

    Args:
        tip_mass: kg.
        tip_inertia: kg m^2.
        root: 'clamped', 'pinned' or 'guided'.

    Raises:
        ModelError: the mass or the inertia is negative or not finite, or the root is unknown.
    """
    for name, value in (('tip_mass', tip_mass), ('tip_inertia', tip_inertia)):
        if not 0 <= value < inf:
            raise ModelError(f'{name} is {value}, expected 0 or a positive number')
    if root not in ROOTS:
        raise ModelError(f'root is {root!r}, expected one of {", ".join(map(repr, ROOTS))}')
