# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`ReducedRobot`: a constrained robot in its independent speeds, compiled."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics import dynamics
from kron_dynamics.arguments import instance
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.equations import effort_weights
from kron_dynamics.constraints.pfaffian import Pfaffian
from kron_dynamics.constraints.reduction import (
    Choice,
    Reduction,
    least_efforts,
    reduction,
    smallest_multipliers,
)
from kron_dynamics.constraints.system import stacked_geometry
from kron_dynamics.constraints.time_functions import signal_derivatives
from kron_dynamics.dynamics.forward import (
    rounding_of_mass,
    smallest_mass,
    solve_positive_definite,
)
from kron_dynamics.exceptions import ConstraintError
from kron_dynamics.kernels.compiled import compiled, prepare, state_without_kernels
from kron_dynamics.kernels.sources import sources_digest
from kron_dynamics.kinematics.scalars import zeros_like
from kron_dynamics.messages import listed, named
from kron_dynamics.typing import ArrayLike, FloatArray

# Of singular values without unit, relative to the largest.
_DETERMINED = 1e-8


class ReducedEquations(NamedTuple):
    """``M_u du/dt + h_u = B_a^T tau_a`` in one state.

    Attributes:
        mass_matrix: M_u = B^T M B, shape (m, m).
        bias: h_u = B^T (M gamma + c + g), shape (m,).
        transmission: B_a^T, shape (m, a).
    """

    mass_matrix: FloatArray
    bias: FloatArray
    transmission: FloatArray


class ReducedMotion(NamedTuple):
    """What forward dynamics gives.

    Attributes:
        u_dot: shape (m,).
        qdd: accelerations, shape (n,).
        multipliers: lambda of each condition, shape (k,): ``M qdd + c + g = tau + A^T lambda``.
    """

    u_dot: FloatArray
    qdd: FloatArray
    multipliers: FloatArray


class ReducedRobot:
    """Equations of motion in the rates u of m independent joints, as compiled kernels.

    Rates that obey the constraints are ``qd = B(q) u``, so every u is a motion. Methods take q,
    shape (n,), that closes the loops, u and du/dt, shape (m,), as single states or batches, like
    those of `Robot`. They hold as long as u determines the motion: `ConstrainedRobot.report` has
    the distance to the next singularity. At one of them results are NaN or infinite.

    Attributes:
        constrained: the robot and its constraints.
        model: that of the robot.
        independent: names of the joints whose rates are u.
        actuated: names of the joints with an actuator.
    """

    def __init__(
        self, constrained: ConstrainedRobot, *, weights: Mapping[str, float] | None = None
    ) -> None:
        """Take the constraints as they are, and the choice of independent speeds.

        Args:
            constrained: a robot whose constraints do not depend on time, and whose independent
                speeds are rates of joints.
            weights: of the efforts of actuated joints by name, where there are more actuators
                than degrees of freedom; 1 where none is given.

        Raises:
            ArgumentTypeError: constrained is none.
            ConstraintError: there is no constraint or no degree of freedom; a constraint is a
                function of time or of the user's own, or speeds are quasi-velocities; or the
                actuators cannot cause every motion at the start.
            ParameterError: a weight is not positive, or of no actuated joint.
        """
        instance(constrained, ConstrainedRobot, 'constrained', 'a ConstrainedRobot')
        self.constrained, self.model = constrained, constrained.robot.model
        self.independent, self.actuated = constrained.independent, constrained.actuated
        if not constrained.constraints or not constrained.degrees_of_freedom:
            raise ConstraintError(
                f'the robot has {len(constrained.constraints)} constraints and '
                f'{constrained.degrees_of_freedom} degrees of freedom, expected some of both'
            )
        for constraint in constrained.constraints:
            _refuse_what_moves(constraint)
        names = constrained.joint_names
        if not set(self.independent) <= set(names):
            raise ConstraintError(
                'independent speeds are quasi-velocities, expected rates of joints: their '
                'equations are not compiled'
            )
        free = tuple(names.index(joint) for joint in self.independent)
        system = constrained._system
        self._choice = Choice(
            system.constraints,
            system.row_scale,
            free,
            tuple(k for k in range(constrained.n) if k not in free),
        )
        self._actuated = tuple(names.index(joint) for joint in self.actuated)
        self._weights = effort_weights(self.actuated, weights)
        self._kernels = constrained.robot._kernels
        targets = [
            signal_derivatives(c.signal, 0.0, c.size, c.name, 0)[0] for c in system.constraints
        ]
        self._targets = np.concatenate([*targets, np.zeros(0)])
        told = (
            *(system.description, self._targets.tolist(), free, self._actuated),
            self._weights.tolist(),
        )
        classes = {type(constraint) for constraint in system.constraints}
        made_of = f'{told!r}{sources_digest(*sorted(classes, key=repr))}'
        self._kernel_prefix = f'reduced.{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.'
        self.singular_mass = self._look_at_the_start()

    def _look_at_the_start(self) -> str | None:
        """Refuse actuators that are too few; return why M_u has no inverse, None where it has."""
        constrained, q = self.constrained, self.constrained.start
        B = constrained.speeds(q, np.zeros(constrained.n)).B
        scale = np.linalg.norm(B / constrained._system.column_scale[:, None], axis=0)
        values = np.linalg.svd(B[list(self._actuated)] / scale, compute_uv=False)
        missing = self.degrees_of_freedom - int(
            (values > _DETERMINED * values.max(initial=0)).sum()
        )
        if missing:
            raise ConstraintError(
                f'the actuated joints {listed(map(repr, self.actuated))} leave {missing} of '
                f'{self.degrees_of_freedom} degrees of freedom without an effort'
            )
        smallest, joint = smallest_mass(constrained.mass_matrix(q))
        if smallest > rounding_of_mass(self.degrees_of_freedom):
            return None
        return (
            f'{named("joint", self.independent[joint])} can move within the constraints without '
            'moving mass; forward dynamics needs masses and inertias of the links that it moves'
        )

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.model.n

    @property
    def degrees_of_freedom(self) -> int:
        """Number m of independent speeds."""
        return len(self.independent)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints: the order of the coordinates."""
        return self.constrained.joint_names

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the kernels."""
        return state_without_kernels(self)

    def prepare(self, *, batches: bool = False) -> None:
        """Compile all kernels that are missing, together.

        Raises:
            KernelBuildError: there is a compiler and it failed.
        """
        prepare(self, batches=batches)

    def _reduction(self, q: ArrayLike, u: ArrayLike) -> Reduction:
        return reduction(self.model, self._choice, q, u)

    @compiled(has_loops=False)
    def residual(self, q: ArrayLike) -> FloatArray:
        """Return phi(q), shape (k,), m or rad: 0 where all is closed, and of conditions of rates.

        Args:
            q: coordinates, shape (n,).
        """
        rest = zeros_like(q, (self.n,))
        f = stacked_geometry(*self._choice.constraints, self.model, q, rest).f
        residual: FloatArray = f - self._targets
        return residual

    @compiled(has_loops=False, u='degrees_of_freedom')
    def velocities(self, q: ArrayLike, u: ArrayLike) -> FloatArray:
        """Return qd = B u, shape (n,).  [P] (8).

        Args:
            q: coordinates, shape (n,).
            u: independent speeds, shape (m,).
        """
        return self._reduction(q, u).qd

    @compiled(has_loops=False, u='degrees_of_freedom', u_dot='degrees_of_freedom')
    def accelerations(self, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike) -> FloatArray:
        """Return qdd = B du/dt + dB/dt u, shape (n,).

        Args:
            q: coordinates, shape (n,).
            u: independent speeds, shape (m,).
            u_dot: their derivatives, shape (m,).
        """
        found = self._reduction(q, u)
        qdd: FloatArray = found.B @ np.asarray(u_dot) + found.gamma
        return qdd

    @compiled(has_loops=False, has_inertia=True, u='degrees_of_freedom')
    def equations_of_motion(self, q: ArrayLike, u: ArrayLike) -> ReducedEquations:
        """Return M_u, h_u and B_a^T.  [P] eqs. (39), (42)-(46).

        Args:
            q: coordinates, shape (n,).
            u: independent speeds, shape (m,).
        """
        found = self._reduction(q, u)
        B = found.B
        bias = dynamics.inverse_dynamics(self.model, q, found.qd, found.gamma)
        return ReducedEquations(
            B.T @ dynamics.mass_matrix(self.model, q) @ B,
            B.T @ bias,
            B[list(self._actuated)].T,
        )

    @compiled(
        has_loops=False, has_inertia=True, u='degrees_of_freedom', u_dot='degrees_of_freedom'
    )
    def inverse_dynamics(self, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike) -> FloatArray:
        """Return the efforts of the actuated joints, shape (a,), that cause a motion.

        Args:
            q: coordinates, shape (n,).
            u: independent speeds, shape (m,).
            u_dot: their derivatives, shape (m,).
        """
        found = self._reduction(q, u)
        qdd = found.B @ u_dot + found.gamma
        force = found.B.T @ dynamics.inverse_dynamics(self.model, q, found.qd, qdd)
        return least_efforts(found.B, self._actuated, self._weights, force)

    @compiled(has_loops=False, has_inertia=True, inverts_mass=True, u='degrees_of_freedom')
    def forward_dynamics(self, q: ArrayLike, u: ArrayLike, tau: ArrayLike) -> ReducedMotion:
        """Return du/dt, qdd and lambda, without joint friction.  [P] eqs. (10), (42), (46).

        Args:
            q: coordinates, shape (n,).
            u: independent speeds, shape (m,).
            tau: efforts of all joints, shape (n,).

        Raises:
            InvalidInertiaError: the robot can move without moving mass.
        """
        found = self._reduction(q, u)
        B, M = found.B, dynamics.mass_matrix(self.model, q)
        bias = dynamics.bias_forces(self.model, q, found.qd)
        rest = tau - bias - M @ found.gamma
        u_dot = solve_positive_definite(B.T @ M @ B, B.T @ rest)
        qdd = B @ u_dot + found.gamma
        force = M @ qdd + bias - tau
        return ReducedMotion(u_dot, qdd, smallest_multipliers(self._choice, found.A_d, force))


def _refuse_what_moves(constraint: Constraint) -> None:
    if isinstance(constraint, Pfaffian) or callable(constraint.signal):
        raise constraint.refuse(
            'is a function of time or of the user: its equations are not compiled, expected '
            'constraints of a fixed geometry'
        )
    if not constraint.is_holonomic and np.any(constraint.signal):
        raise constraint.refuse(
            f'asks for a rate of {constraint.signal!r}, expected 0: others are not compiled'
        )
