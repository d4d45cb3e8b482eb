# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Velocities, energies and Lagrange's equation from the places of bodies alone.

Poses are differentiated, with numbers that carry their derivatives; nothing here knows a Jacobian,
a cross product of angular velocities or a mass matrix of `kron_dynamics`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from kron_dynamics.dual import jacobian_of
from kron_dynamics.kinematics import forward_kinematics

ORIGIN = np.array([sympy.S.Zero], dtype=object)


def rate(function: Callable[[Any], Any]) -> Any:
    """Return the derivative of a function of time at time 0."""
    return jacobian_of(lambda t: function(t[0]), ORIGIN)[1][..., 0]


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    """Return the derivative of a function by x, the last index that of x."""
    return jacobian_of(function, x)[1]


def axial(S: Any) -> Any:
    """Return the vector of a cross-product matrix, from its lower triangle."""
    return np.array([S[2, 1], -S[2, 0], S[1, 0]], dtype=object)


class Bodies:
    """The links of a tree by their poses.

    Attributes:
        model: the tree.
        links: name, mass, mass centre and inertia of each link.
    """

    def __init__(self, model: Any, names: Any) -> None:
        """Look up what the description says of the links, in the order of the bodies."""
        self.model = model
        known = zip(names, model.bodies, strict=True)
        self.links = [(name, b.mass, b.center_of_mass, b.inertia) for name, b in known]

    def rotation(self, q: Any, k: int) -> Any:
        """Return R_k: axes of a body in those of the base."""
        return forward_kinematics(self.model, q, self.links[k][0])[:3, :3]

    def center(self, q: Any, k: int) -> Any:
        """Return c_k, the place of a mass centre."""
        name, _, center, _ = self.links[k]
        pose = forward_kinematics(self.model, q, name)
        return pose[:3, 3] + pose[:3, :3] @ center

    def spin(self, q: Any, qd: Any, k: int) -> Any:
        """Return omega in the axes of a body, by R^T dR/dt."""
        turning = rate(lambda t: self.rotation(q + qd * t, k))
        return axial(self.rotation(q, k).T @ turning)

    def base_spin(self, q: Any, qd: Any, k: int) -> Any:
        """Return omega in the axes of the base, by dR/dt R^T."""
        turning = rate(lambda t: self.rotation(q + qd * t, k))
        return axial(turning @ self.rotation(q, k).T)

    def velocity(self, q: Any, qd: Any, k: int) -> Any:
        """Return v of a mass centre, base axes."""
        return rate(lambda t: self.center(q + qd * t, k))

    def twist(self, q: Any, qd: Any, k: int) -> Any:
        """Return [omega; v] of the paper: body axes above, base axes below."""
        return np.concatenate([self.spin(q, qd, k), self.velocity(q, qd, k)])

    def kinetic_energy(self, q: Any, qd: Any) -> Any:
        """Return the sum of tr(dX/dt P dX/dt^T)/2, P the second moments of mass about the frame.

        X is the pose, 4 x 4: each particle at X p counts with the square of dX/dt p.
        """
        total = sympy.S.Zero
        for name, m, c, inertia in self.links:
            moments = np.trace(inertia) / 2 * np.eye(3, dtype=int) - inertia
            P = np.zeros((4, 4), dtype=object)
            P[:3, :3], P[:3, 3], P[3, :3] = moments + m * np.outer(c, c), m * c, m * c
            P[3, 3] = m
            motion = rate(lambda t, name=name: forward_kinematics(self.model, q + qd * t, name))
            total = total + np.trace(motion @ P @ motion.T) / 2
        return total

    def potential_energy(self, q: Any) -> Any:
        """Return -sum m c^T g, [P] eq. (26) with a constant g."""
        total = sympy.S.Zero
        for k, (_, m, _, _) in enumerate(self.links):
            total = total - m * (self.center(q, k) @ self.model.gravity)
        return total

    def momentum(self, q: Any, qd: Any) -> Any:
        """Return dT/dqd."""
        return slope(lambda rates: self.kinetic_energy(q, rates), qd)

    def mass_matrix(self, q: Any) -> Any:
        """Return the second derivative of T by the rates."""
        nothing = np.array([sympy.S.Zero] * self.model.n, dtype=object)
        return slope(lambda rates: self.momentum(q, rates), nothing)

    def inertia_forces(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Return d/dt(dT/dqd) - dT/dq, the left-hand side of Lagrange's equation."""
        changes = rate(lambda t: self.momentum(q + qd * t + qdd * t * t / 2, qd + qdd * t))
        return changes - slope(lambda x: self.kinetic_energy(x, qd), q)
