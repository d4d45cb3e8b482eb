# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes of tapered beams by the Ritz method with the bending moments of a uniform beam's modes.

The uniform beam has the same root and tip, and the mean stiffness and mass of the tapered beam.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kron_dynamics.exceptions import ModelError, ParameterError
from kron_dynamics.flexible.beams.beam import Beam, BeamSection, check_tip
from kron_dynamics.flexible.beams.integrals import beam_quadrature
from kron_dynamics.flexible.beams.trial import TrialFunctions
from kron_dynamics.reproducible import lower_factor, power, product, solved_lower, symmetric_eigen
from kron_dynamics.typing import ArrayLike, FloatArray

# Least squared ratio of the lowest to the highest frequency; the highest then has six digits left.
_LEAST_RATIO = 1e-10


class CarriedBody(NamedTuple):
    """A rigid body fixed to a section of a beam, with its inertia for bending in one plane.

    Attributes:
        x: distance of the section from the root, m.
        mass: kg.
        first_moment: mass times the distance of its centre from the section, along the beam, kg m.
        inertia: inertia about the section's centre, in the plane of bending, kg m^2.
    """

    x: float
    mass: float
    first_moment: float
    inertia: float


@dataclass(frozen=True, slots=True, eq=False)
class TaperedModes:
    """The n lowest modes of vibration of a tapered beam, each with a modal mass of 1.

    Attributes:
        trial: the trial functions whose linear combinations are the modes.
        natural_frequencies: in increasing order, shape (n,), rad/s.
        weights: weights of the trial functions in each mode, shape (n, p), 1/sqrt(kg).
    """

    trial: TrialFunctions
    natural_frequencies: FloatArray
    weights: FloatArray

    def shapes(self, x: ArrayLike, order: int = 0) -> FloatArray:
        """Return the mode shapes or their derivatives, with a positive deflection at the tip.

        Args:
            x: distances from the root, 0 to l, shape (k,), m.
            order: order of the derivative, 0 to 3.

        Returns:
            shape (n, k), 1/(sqrt(kg) m^order).
        """
        return self.derivatives(x, (order,))[0]

    def derivatives(self, x: ArrayLike, orders: Sequence[int]) -> list[FloatArray]:
        """Return `shapes` for several orders, a list of that shape, at the cost of one."""
        return self.trial.combinations(self.weights, x, orders)


def tapered_modes(
    section: BeamSection,
    count: int,
    *,
    tip_mass: float = 0.0,
    tip_inertia: float = 0.0,
    root: str = 'clamped',
    carried: Sequence[CarriedBody] = (),
    trial_count: int | None = None,
) -> TaperedModes:
    """Return the lowest modes of vibration of a tapered beam.

    The frequencies converge from above with the number of trial functions.

    Args:
        section: stiffness and mass along the beam.
        count: number of modes, 1 or more.
        tip_mass: kg.
        tip_inertia: inertia about the tip, kg m^2.
        root: 'clamped', 'pinned' or 'guided', as in `Beam`.
        carried: further bodies fixed to the beam.
        trial_count: number of modes of the uniform beam to combine, at least count; by default
            count + 20, or count + 8 with further bodies, which add trial functions of their own.

    Raises:
        ParameterError: the count is not a positive integer, or trial_count is less than it.
        ModelError: `Beam` refuses the tip or the root, or the carried bodies are so heavy that
            modes are lost in rounding.
    """
    check_tip(tip_mass, tip_inertia, root)
    size = count + (8 if carried else 20) if trial_count is None else trial_count
    if count != int(count) or count < 1:
        raise ParameterError(f'count is {count}, expected a whole number of 1 or more')
    if size < count:
        raise ParameterError(f'trial_count is {size}, expected {count} or more')
    x, length = section.stations, section.length
    stiffness = float(np.trapezoid(section.bending_stiffness, x)) / length
    mass = float(np.trapezoid(section.mass_per_length, x)) / length
    uniform = Beam(length, stiffness, mass, tip_mass, tip_inertia, root)
    places = tuple(sorted({body.x for body in carried}))
    varies = np.ptp(section.bending_stiffness) > 0
    trial = TrialFunctions(uniform.modes(size), places, section if varies else None)
    M, K = section_matrices(section, trial, carried)
    if root == 'clamped':
        squares, weights = _lowest(M, K, 0.0, count)
    else:
        # The first mode is the rigid motion of the beam.
        squares, weights = _lowest(M, K, stiffness / (mass * power(length, 4)), count + 1)
        squares, weights = squares[1:], weights[1:]
    tip = product(weights, trial.shapes([length]))
    return TaperedModes(trial, np.sqrt(squares), weights * np.where(tip < 0, -1.0, 1.0))


def section_matrices(
    section: BeamSection, trial: TrialFunctions, carried: Sequence[CarriedBody] = ()
) -> tuple[FloatArray, FloatArray]:
    """Return the mass and stiffness matrices of a tapered beam for trial functions.

    M_ij = int rhoA X_i X_j + mE X_i(l) X_j(l) + JE X_i'(l) X_j'(l),  K_ij = int EI X_i'' X_j''.

    Args:
        section: stiffness and mass along the beam.
        trial: trial functions with the modes of a uniform beam of the same length, tip and root.
        carried: further bodies fixed to the beam.

    Returns:
        M in kg and K in N/m, both of shape (p, p).

    Raises:
        ParameterError: the lengths differ.
    """
    length, beam = section.length, trial.modes.beam
    if not np.isclose(length, beam.length, rtol=1e-12, atol=0):
        raise ParameterError(f'trial.length is {beam.length}, expected {length}')
    knots = np.union1d(section.stations, trial.knots)
    x, weights = beam_quadrature(knots, trial.modes.count)
    X, X2 = trial.shapes(x), trial.shapes(x, 2)
    tip, slope = trial.shapes([length]), trial.shapes([length], 1)
    M = product(X * (weights * section.mass_per_length_at(x)), X.T)
    M += beam.tip_mass * tip * tip.T + beam.tip_inertia * slope * slope.T
    for body in carried:
        there, turn = trial.shapes([body.x]), trial.shapes([body.x], 1)
        mixed = body.first_moment * there * turn.T
        M += body.mass * there * there.T + mixed + mixed.T + body.inertia * turn * turn.T
    return M, product(X2 * (weights * section.bending_stiffness_at(x)), X2.T)


def _lowest(
    M: FloatArray, K: FloatArray, shift: float, count: int
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest squared frequencies, increasing, and the modes of unit mass as rows.

    Stiffness spans many decades, and an eigensolver's error is a rounding of the largest
    eigenvalue. The inverse problem is therefore solved, with the lowest frequencies as its largest
    eigenvalues 1/(omega^2 + shift): M against K + shift M, scaled to a unit diagonal. The shift is
    for a rigid motion, which has no stiffness. Modes above the requested ones may be lost in
    rounding.

    Raises:
        ModelError: some of the requested modes are lost in rounding.
    """
    stiff = K + shift * M
    unit = 1 / np.sqrt(np.diag(stiff))
    scale = np.outer(unit, unit)
    L = lower_factor(stiff * scale)
    reduced = solved_lower(L, solved_lower(L, M * scale).T)
    inverse, vectors = symmetric_eigen((reduced + reduced.T) / 2)
    inverse, vectors = inverse[: -count - 1 : -1], vectors[:, : -count - 1 : -1]
    # Solve L^T x = y, with rows and columns reversed to make L^T lower triangular.
    vectors = solved_lower(L[::-1, ::-1].T, vectors[::-1])[::-1]
    if inverse[-1] < _LEAST_RATIO * inverse[0]:
        raise ModelError(
            f'what the beam carries is too heavy for {count} modes: the highest are lost in '
            f'rounding; ask for fewer'
        )
    return 1 / inverse - shift, np.asarray((unit[:, None] * vectors / np.sqrt(inverse)).T)
