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
from shared.derivatives import rate, slope, with_rate
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
        """Return [R, r] of all links in the base frame, shape (links, 3, 4)."""
        found, placed = [eye(4)[:3]], joint_placements(self.model, q)
        for k, joint in enumerate(self.model.joints):
            parent = found[joint.parent + 1]
            turn, place = (parent[:, :3] @ x for x in (placed[k].rotation, placed[k].offset))
            found.append(np.column_stack([turn, place + parent[:, 3]]))
        return np.array(found[1:])

    def rotations(self, q: Any) -> Any:
        """Return the rotation matrices R_i from links to base, shape (links, 3, 3)."""
        return self.poses(q)[..., :3]

    def centers(self, q: Any) -> Any:
        """Return c_i, the positions of the centres of mass, shape (links, 3)."""
        return self._centers(self.poses(q))

    def _centers(self, poses: Any) -> Any:
        sides = zip(poses, self.links, strict=True)
        return np.array([pose[:, :3] @ own + pose[:, 3] for pose, (_, _, own, _) in sides])

    def _motion(self, q: Any, qd: Any) -> tuple[Any, Any]:
        """Return the poses and their rates."""
        return with_rate(lambda t: self.poses(q + qd * t))

    def spins(self, q: Any, qd: Any) -> Any:
        """Return omega_i in the axes of the links, by R^T dR/dt, shape (links, 3)."""
        return _spins(*self._motion(q, qd))

    def base_spins(self, q: Any, qd: Any) -> Any:
        """Return omega_i in the axes of the base, by dR/dt R^T, shape (links, 3)."""
        sides = zip(*self._motion(q, qd), strict=True)
        return np.array([_axial(X_dot[:, :3], X[:, :3].T) for X, X_dot in sides])

    def velocities(self, q: Any, qd: Any) -> Any:
        """Return v_i of the centres of mass, base axes, shape (links, 3)."""
        return self._centers(self._motion(q, qd)[1])

    def twists(self, q: Any, qd: Any) -> Any:
        """Return [omega_i; v_i] of the paper: omega in body axes, v in base axes."""
        poses, rates = self._motion(q, qd)
        return np.concatenate([_spins(poses, rates), self._centers(rates)], axis=1)

    def kinetic_energy(self, q: Any, qd: Any) -> Any:
        """Return the sum of tr(dX/dt P dX/dt^T)/2, P the second moments of mass about the frame.

        X = [R, r] is the pose: a particle p of the body moves with dX/dt [p; 1].
        """
        return self.energy_of(self._motion(q, qd)[1])

    def energy_of(self, motions: Any) -> Any:
        """Return the kinetic energy of dX/dt, shape (links, 3, 4)."""
        sides = zip(motions, self._moments, strict=True)
        return sum(((motion @ P) * motion).sum() / 2 for motion, P in sides)

    def moves(self, q: Any) -> Any:
        """Return dX/dq, of which dX/dt = dX/dq qd, shape (links, 3, 4, n)."""
        return slope(self.poses, q)

    def potential_energy(self, q: Any) -> Any:
        """Return -sum m c^T g."""
        total = sympy.S.Zero
        for center, (_, m, _, _) in zip(self.centers(q), self.links, strict=True):
            total = total - m * (center @ self.model.gravity)
        return total

    def momentum(self, q: Any, qd: Any) -> Any:
        """Return dT/dqd, the sum of tr(dX/dq P dX/dt^T)."""
        moves = self.moves(q)
        sides = zip(moves, moves @ qd, self._moments, strict=True)
        return sum(np.tensordot(motion @ P, move, 2) for move, motion, P in sides)

    def mass_matrix(self, q: Any) -> Any:
        """Return the second derivative of T with respect to the rates: of tr(dX/dq P dX/dq^T)."""
        sides = zip(self.moves(q), self._moments, strict=True)
        weighted = [(np.tensordot(move, P, (1, 0)), move) for move, P in sides]
        return sum(np.tensordot(one, other, ((0, 2), (0, 1))) for one, other in weighted)

    def inertia_forces(self, q: Any, qd: Any, qdd: Any) -> Any:
        """Return d/dt(dT/dqd) - dT/dq, the left-hand side of Lagrange's equation.

        [P] eq. (3).
        """
        changes = rate(lambda t: self.momentum(q + qd * t + qdd * t * t / 2, qd + qdd * t))
        return changes - slope(lambda x: self.kinetic_energy(x, qd), q)


def _spins(poses: Any, rates: Any) -> Any:
    sides = zip(poses, rates, strict=True)
    return np.array([_axial(X[:, :3].T, X_dot[:, :3]) for X, X_dot in sides])


def _axial(A: Any, B: Any) -> Any:
    """Return the vector of the cross-product matrix A B, read from its lower triangle."""
    return np.array([A[2] @ B[:, 1], -(A[2] @ B[:, 0]), A[1] @ B[:, 0]])
