# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The tree with a ball joint of prescribed offset, in exact numbers, without multipliers.

Two coordinates determine the others. The paper's equations are compared with Lagrange's equation
in these two alone, by differentiation of the energies of compatible motions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy
from shared.derivatives import rate, slope
from shared.exact import rationals

import kron_dynamics as kd
from kron_dynamics.constraints import Attachment, PointLoop
from kron_dynamics.kronecker import cross

from .places import Bodies
from .tree import GRAVITY, LINKS, State, text

A = Attachment('wrist', tuple(rationals('1/4', '-1/10', '1/5')))
B = Attachment('tail', tuple(rationals('-1/5', '3/10', '1/10')))
FREE = (3, 4)
SPEED, ACCELERATION = rationals('1/5', '-1/4', '1/3'), rationals('2', '-1', '1/2')
TAU = rationals('3', '-5', '2', '1/2', '4')


def inverse(A: Any) -> Any:
    """Return the inverse, shape (3, 3), by cross products of the rows."""
    rows = np.array([cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])])
    return rows.T / (A[0] @ rows[0])


class Loop(State):
    """The state with compatible rates, and the quantities of the loop from its geometry.

    Attributes:
        bodies: the links.
        u: rates of the two independent coordinates.
        B: dqd/du, shape (5, 2).
        d: rates due to the prescribed offset.
        gamma: qdd - B du/dt.
        u_dot: du/dt by Lagrange's equation in the two coordinates, with the efforts `TAU`.
    """

    def __init__(self, free: tuple[int, ...] = FREE) -> None:
        """Solve the loop.

        Args:
            free: the coordinates whose rates are u; the motion does not depend on the choice.
        """
        super().__init__()
        self.bodies = Bodies(self.model, LINKS)
        self._choose(FREE)
        self.qd = self.rates(self.q, rationals('1', '-3/5'), 0)
        self._choose(free)
        self.u = self.qd[self.free]
        self.B, self.d = self.map(self.q), self.moved(self.q, 0)
        self.gamma = rate(lambda t: self.rates(self.q + self.qd * t, self.u, t))
        self.u_dot = self._solve()
        self.qdd = self.B @ self.u_dot + self.gamma

    def _choose(self, free: tuple[int, ...]) -> None:
        self.free, self.bound = list(free), [k for k in range(self.n) if k not in free]

    def opening(self, q: Any) -> Any:
        """Return the vector from the point of b to that of a."""
        poses = self.bodies.poses(q)
        a, b = (
            pose[:3, 3] + pose[:3, :3] @ np.array(side.point)
            for side, pose in ((side, poses[LINKS.index(side.link)]) for side in (A, B))
        )
        return a - b

    def conditions(self, q: Any) -> Any:
        """Return A of A qd = b, the derivative of the opening."""
        return slope(self.opening, q)

    def speed(self, t: Any) -> Any:
        """Return b of A qd = b, the rate of the opening."""
        return SPEED + ACCELERATION * t

    def _eliminated(self, q: Any) -> tuple[Any, Any]:
        """Return dqd/du and dqd/db of the rates that satisfy A qd = b, shapes (5, 2), (5, 3)."""
        A = self.conditions(q)
        by_u, by_b = (np.zeros((self.n, size), dtype=object) + 0 * A[0, 0] for size in (2, 3))
        solving = inverse(A[:, self.bound])
        by_u[self.free], by_u[self.bound] = np.eye(2, dtype=int), -solving @ A[:, self.free]
        by_b[self.bound] = solving
        return by_u, by_b

    def map(self, q: Any) -> Any:
        """Return B = dqd/du."""
        return self._eliminated(q)[0]

    def moved(self, q: Any, t: Any) -> Any:
        """Return d, the rates for u = 0."""
        return self._eliminated(q)[1] @ self.speed(t)

    def rates(self, q: Any, u: Any, t: Any) -> Any:
        """Return B u + d."""
        B, by_b = self._eliminated(q)
        return B @ u + by_b @ self.speed(t)

    def reduced_momentum(self, t: Any, u_dot: Any) -> Any:
        """Return dT*/du along the motion, T* the kinetic energy as a function of u."""
        q = self.q + self.qd * t
        moves = self.bodies.moves(q)
        B, by_b = self._eliminated(q)
        d = by_b @ self.speed(t)
        return slope(lambda u: self.bodies.energy_of(moves @ (B @ u + d)), self.u + u_dot * t)

    def reduced_forces(self, u_dot: Any) -> Any:
        """Return d/dt(dT*/du) - dT*/ds, with s the two coordinates, shape (2,)."""

        def energy(change: Any) -> Any:
            q = self.q + self.B @ change
            return self.bodies.kinetic_energy(q, self.rates(q, self.u, 0))

        nothing = 0 * self.u
        return rate(lambda t: self.reduced_momentum(t, u_dot)) - slope(energy, nothing)

    def reduced_weight(self) -> Any:
        """Return dV*/ds, shape (2,)."""
        return slope(
            lambda change: self.bodies.potential_energy(self.q + self.B @ change), 0 * self.u
        )

    def _solve(self) -> Any:
        """Return du/dt, in which Lagrange's equation in s is linear."""
        force = self.B.T @ TAU - self.reduced_weight()
        at_rest = self.reduced_forces(0 * self.u)
        mass = sympy.Matrix(self.B.T @ self.bodies.mass_matrix(self.q) @ self.B)
        return np.array(mass.LUsolve(sympy.Matrix(force - at_rest))).reshape(2)

    def held(self) -> PointLoop:
        """Return the program's constraint in exact numbers, with constant offset."""
        return PointLoop('ball', A, B, base_axes=True, signal=_floats(self.opening(self.q)))

    def moving(self) -> PointLoop:
        """Return the program's constraint in floats, with the offset over time."""
        start, speed, acceleration = map(_floats, (self.opening(self.q), SPEED, ACCELERATION))
        a, b = (Attachment(side.link, tuple(_floats(side.point))) for side in (A, B))
        return PointLoop(
            *('ball', a, b),
            base_axes=True,
            signal=lambda t: start + speed * t + acceleration * t * t / 2,
        )

    def robot(self) -> kd.ConstrainedRobot:
        """Return the closed robot, in floats."""
        names = self.model.joint_names
        return kd.ConstrainedRobot(
            *(kd.loads(text(), gravity=GRAVITY), [self.moving()]),
            start=_floats(self.q),
            independent=[names[k] for k in self.free],
        )


def _floats(numbers: Any) -> Any:
    return np.array(numbers, dtype=float)
