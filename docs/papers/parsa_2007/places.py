# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Velocities, energies and Lagrange's equation from poses of bodies alone.

Poses are differentiated by automatic differentiation, without Jacobians, cross products of angular
velocities or mass matrices of `kron_dynamics`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.derivatives import axial, rate, slope
from shared.exact import eye

from kron_dynamics.kinematics.forward import joint_placements


class Bodies:
    """The links of a tree, by their poses.

    Attributes:
        model: the tree.
        links: name, mass, centre of mass and inertia of each link.
    """

    def __init__(self, model: Any, names: Any) -> None:
        """Collect the inertial parameters of the links.

        Args:
            model: the tree.
            names: names of the links, in the order of the model's bodies.
        """
        assert [body.links for body in model.bodies] == [(name,) for name in names]
        self.model = model
        known = zip(names, model.bodies, strict=True)
        self.links = [(name, b.mass, b.center_of_mass, b.inertia) for name, b in known]
        self._moments = []
        for _, m, c, inertia in self.links:
            P = np.zeros((4, 4), dtype=object)
            P[:3, :3] = np.trace(inertia) / 2 * eye(3) - inertia + m * np.outer(c, c)
            P[:3, 3] = P[3, :3] = m * c
            P[3, 3] = m
            self._moments.append(P)

    def poses(self, q: Any) -> Any:
        """Return the poses of all links in the base frame, shape (links, 4, 4)."""
        found, placed = [eye(4)], joint_placements(self.model, q)
        for k, joint in enumerate(self.model.joints):
            step = np.zeros((4, 4), dtype=object)
            step[:3, :3], step[:3, 3], step[3, 3] = placed[k].rotation, placed[k].offset, 1
            found.append(found[joint.parent + 1] @ step)
        return np.array(found[1:])

    def rotations(self, q: Any) -> Any:
        """Return the rotation matrices R_i from links to base, shape (links, 3, 3)."""
        return self.poses(q)[:, :3, :3]

    def centers(self, q: Any) -> Any:
        """Return c_i, the positions of the centres of mass, shape (links, 3)."""
        sides = zip(self.poses(q), self.links, strict=True)
        return np.array([pose[:3, 3] + pose[:3, :3] @ own for pose, (_, _, own, _) in sides])

    def spins(self, q: Any, qd: Any) -> Any:
        """Return omega_i in the axes of the links, by R^T dR/dt, shape (links, 3)."""
        turning = rate(lambda t: self.rotations(q + qd * t))
        sides = zip(self.rotations(q), turning, strict=True)
        return np.array([axial(R.T @ R_dot) for R, R_dot in sides])

    def base_spins(self, q: Any, qd: Any) -> Any:
        """Return omega_i in the axes of the base, by dR/dt R^T, shape (links, 3)."""
        turning = rate(lambda t: self.rotations(q + qd * t))
        sides = zip(self.rotations(q), turning, strict=True)
        return np.array([axial(R_dot @ R.T) for R, R_dot in sides])

    def velocities(self, q: Any, qd: Any) -> Any:
        """Return v_i of the centres of mass, base axes, shape (links, 3)."""
        return rate(lambda t: self.centers(q + qd * t))

    def twists(self, q: Any, qd: Any) -> Any:
        """Return [omega_i; v_i] of the paper: omega in body axes, v in base axes."""
        return np.concatenate([self.spins(q, qd), self.velocities(q, qd)], axis=1)

    def kinetic_energy(self, q: Any, qd: Any) -> Any:
        """Return the sum of tr(dX/dt P dX/dt^T)/2, P the second moments of mass about the frame.

        X is the pose, 4 x 4: a particle p of the body moves with dX/dt p.
        """
        motions = rate(lambda t: self.poses(q + qd * t))
        sides = zip(motions, self._moments, strict=True)
        return sum(np.trace(motion @ P @ motion.T) / 2 for motion, P in sides)

    def potential_energy(self, q: Any) -> Any:
        """Return -sum m c^T g."""
        total = sympy.S.Zero
        for center, (_, m, _, _) in zip(self.centers(q), self.links, strict=True):
            total = total - m * (center @ self.model.gravity)
        return total

    def momentum(self, q: Any, qd: Any) -> Any:
        """Return dT/dqd."""
        return slope(lambda rates: self.kinetic_energy(q, rates), qd)

    def mass_matrix(self, q: Any) -> Any:
        """Return the second derivative of T with respect to the rates."""
        nothing = np.array([sympy.S.Zero] * self.model.n, dtype=object)
        return slope(lambda rates: self.momentum(q, rates), nothing)

    def inertia_forces(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Return d/dt(dT/dqd) - dT/dq, the left-hand side of Lagrange's equation.

        [P] eqs. (1), (3).
        """
        changes = rate(lambda t: self.momentum(q + qd * t + qdd * t * t / 2, qd + qdd * t))
        return changes - slope(lambda x: self.kinetic_energy(x, qd), q)
