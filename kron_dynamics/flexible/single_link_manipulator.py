# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Khang's manipulator: one flexible link on a driven hub, in a vertical plane, linearized.

The coordinates are s = (q_a, e_1, ..., e_n): the hub's angle from the horizontal and the factors
of the mode shapes in the deflection w(x, t) = sum of X_j(x) e_j(t). About a motion of the hub with
an undeformed link, deviations y of s obey

    M_L ydd + D_L yd + K_L y = h_L                                              [K] eq. (63)
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, inf, isfinite, sin

import numpy as np

from kron_dynamics.exceptions import ModelError, NonFiniteError
from kron_dynamics.flexible.beams.beam import BeamModes, check_tip
from kron_dynamics.flexible.beams.integrals import BeamIntegrals, beam_integrals
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class SingleLinkManipulator:
    """A flexible link clamped to a hub that rotates about a horizontal axis, with a tip body.

    Attributes:
        modes: n mode shapes of the link, with a clamped root. They may belong to a different tip
            body, as any shapes of a clamped beam can describe the deflection.
        hub_inertia: J1, inertia of the hub and all that rotates with it about its axis, kg m^2.
        tip_mass: mE, kg.
        tip_inertia: inertia about the tip, kg m^2.
        gravity: downward acceleration, m/s^2.
        integrals: integrals of the mode shapes.
    """

    modes: BeamModes
    hub_inertia: float = 0.0
    tip_mass: float = 0.0
    tip_inertia: float = 0.0
    gravity: float = 9.81
    integrals: BeamIntegrals = field(init=False)

    def __post_init__(self) -> None:
        """Check the values and compute the integrals."""
        if self.modes.beam.root != 'clamped':
            raise ModelError(f"modes.beam.root is {self.modes.beam.root!r}, expected 'clamped'")
        if not 0 <= self.hub_inertia < inf:
            raise ModelError(f'hub_inertia is {self.hub_inertia}, expected 0 or a positive number')
        if not isfinite(self.gravity):
            raise ModelError(f'gravity is {self.gravity}, expected a number')
        check_tip(self.tip_mass, self.tip_inertia, self.modes.beam.root)
        object.__setattr__(self, 'integrals', beam_integrals(self.modes))

    def linearized(
        self,
        q: float,
        qd: float,
        qdd: float,
        *,
        torque: float = 0.0,
        geometric_stiffness: bool = True,
    ) -> LinearizedLink:
        """Return the equations of small deviations from a motion of the hub.  [K] eqs. (63)-(71).

        Args:
            q: angle of the hub from the horizontal, rad.
            qd: its velocity, rad/s.
            qdd: its acceleration, rad/s^2.
            torque: torque on the hub, N m.
            geometric_stiffness: whether to include the axial force of centrifugal load and
                gravity, which stiffens the real, inextensible link as it rotates (its points move
                inwards as it bends); False gives eq. (69) as printed, which softens instead.

        Raises:
            NonFiniteError: an argument is NaN or infinite.
        """
        given = {'q': q, 'qd': qd, 'qdd': qdd, 'torque': torque}
        for name, value in given.items():
            if not isfinite(value):
                raise NonFiniteError(f'{name} is {value}, expected a number')
        K = self._stiffness(q, qd)
        if geometric_stiffness:
            K[1:, 1:] += self._geometric_stiffness(q, qd)
        M = self._mass_matrix()
        applied = np.zeros(len(M))
        applied[0] = torque
        h = applied - M[:, 0] * qdd - self.gravity * cos(q) * self._first_moments()
        return LinearizedLink(M, np.zeros_like(M), K, h)

    def _mass_matrix(self) -> FloatArray:
        """Return M_L.  [K] eq. (68), with a tip inertia."""
        beam, of = self.modes.beam, self.integrals
        rho, length = beam.mass_per_length, beam.length
        # Displacement and rotation of the tip per unit of each coordinate.
        tip = np.concatenate([[length], of.tip_deflection])
        turn = np.concatenate([[1.0], of.tip_slope])
        M = self.tip_mass * np.outer(tip, tip) + self.tip_inertia * np.outer(turn, turn)
        M[0, 0] += self.hub_inertia + rho * length**3 / 3
        M[0, 1:] += rho * of.D
        M[1:, 0] += rho * of.D
        M[1:, 1:] += rho * of.m
        return M

    def _first_moments(self) -> FloatArray:
        """Return int rhoA x + mE l and int rhoA X_j + mE X_j(l)."""
        beam, of = self.modes.beam, self.integrals
        rho, length = beam.mass_per_length, beam.length
        return np.concatenate(
            [
                [self.tip_mass * length + rho * length**2 / 2],
                self.tip_mass * of.tip_deflection + rho * of.C,
            ]
        )

    def _stiffness(self, q: float, qd: float) -> FloatArray:
        """Return K_L without geometric stiffness: points keep their x.  [K] eq. (69)."""
        beam, of = self.modes.beam, self.integrals
        K = np.zeros((self.modes.count + 1, self.modes.count + 1))
        K[0] = K[:, 0] = -self.gravity * sin(q) * self._first_moments()
        inertia = beam.mass_per_length * of.m
        inertia += self.tip_mass * np.outer(of.tip_deflection, of.tip_deflection)
        K[1:, 1:] = beam.bending_stiffness * of.k - qd**2 * inertia
        return K

    def _geometric_stiffness(self, q: float, qd: float) -> FloatArray:
        """Return int N(x) X_i' X_j' with the tension N of the rigid motion, shape (n, n)."""
        beam, of = self.modes.beam, self.integrals
        rho, length = beam.mass_per_length, beam.length
        centrifugal = rho * of.S + self.tip_mass * length * of.N
        weight = rho * of.T + self.tip_mass * of.N
        return np.asarray(qd**2 * centrifugal - self.gravity * sin(q) * weight)


@dataclass(frozen=True, slots=True, eq=False)
class LinearizedLink:
    """M ydd + D yd + K y = h for deviations y of (q_a, e_1, ..., e_n).  [K] (54), (63).

    The first row is a torque in N m, the others are generalized forces of the modes in N.

    Attributes:
        M: M_L, shape (n + 1, n + 1): kg m^2, then kg m and kg.  [K] eq. (68).
        D: D_L, shape (n + 1, n + 1), zero.  [K] eq. (70).
        K: K_L, shape (n + 1, n + 1): N m/rad, then N and N/m.  [K] eq. (69).
        h: h_L, shape (n + 1,): N m, then N.  [K] eq. (71).
    """

    M: FloatArray
    D: FloatArray
    K: FloatArray
    h: FloatArray
