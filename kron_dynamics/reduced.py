# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`ReducedRobot`: compiled dynamics of a constrained robot in its independent speeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kron_dynamics import dynamics
from kron_dynamics.arguments import instance
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraint_kernels import kernel_name
from kron_dynamics.constraints.motion_equations import effort_weights
from kron_dynamics.constraints.reduced_equations import (
    ReducedEquations,
    ReducedMotion,
    reduced_coriolis_matrix,
    reduced_gravity_vector,
    reduced_mass_matrix,
    reduced_velocity_free_coriolis_matrix,
)
from kron_dynamics.constraints.reduced_linearization import (
    ReducedLinearization,
    Resistance,
    reduced_linearization,
    resisted,
)
from kron_dynamics.constraints.reducible import (
    refuse_few_actuators,
    refuse_rates,
    refuse_what_moves,
    singular_mass,
)
from kron_dynamics.constraints.reduction import (
    Choice,
    Reduction,
    dependence,
    least_efforts,
    reduction,
    smallest_multipliers,
    velocity_matrix_derivative,
)
from kron_dynamics.constraints.state_arguments import state_vector
from kron_dynamics.constraints.system import stacked_conditions
from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics.forward import (
    solve_positive_definite,
)
from kron_dynamics.dynamics.friction import joint_friction
from kron_dynamics.exceptions import ConstraintError, ParameterError
from kron_dynamics.kernels.compiled import compiled, prepare, state_without_kernels
from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.typing import ArrayLike, FloatArray


class ReducedRobot:
    """Equations of motion in the rates u of m independent joints, as compiled kernels.

    Rates that obey the constraints are ``qd = B(q) u``, so any u is admissible. Methods take q,
    shape (n,), which must close the loops, and u and du/dt, shape (m,), as single states or
    batches, like those of `Robot`. They hold while u determines the motion. Near a pose in which
    it does not, results grow and lose digits, and in it they are NaN, infinite or wrong;
    `ConstrainedRobot.speeds` raises an error there.

    Attributes:
        constrained: the robot and its constraints.
        model: the robot's model, without constraints.
        independent: names of the joints whose rates are u.
        actuated: names of the joints with an actuator.
    """

    def __init__(
        self, constrained: ConstrainedRobot, *, weights: Mapping[str, float] | None = None
    ) -> None:
        """Take over the constraints and the independent speeds of a robot.

        Args:
            constrained: a robot whose constraints do not depend on time, and whose independent
                speeds are rates of joints.
            weights: weights of the squared efforts by actuated joint, used if there are more
                actuators than degrees of freedom; 1 by default.

        Raises:
            ArgumentTypeError: constrained is not a `ConstrainedRobot`.
            ConstraintError: there is no constraint or no degree of freedom; a constraint depends
                on time or is a user-defined function; speeds are quasi-velocities; or the
                actuators cannot cause every motion at the start.
            ParameterError: a weight is not positive, or its joint is not actuated.
        """
        instance(constrained, ConstrainedRobot, 'constrained', 'a ConstrainedRobot')
        self.constrained, self.model = constrained, constrained.robot.model
        self.independent, self.actuated = constrained.independent, constrained.actuated
        if not constrained.constraints or not constrained.degrees_of_freedom:
            raise ConstraintError(
                f'the robot has {len(constrained.constraints)} constraints and '
                f'{constrained.degrees_of_freedom} degrees of freedom, expected 1 or more of each'
            )
        for constraint in constrained.constraints:
            refuse_what_moves(constraint)
        names = constrained.joint_names
        if constrained._quasi is not None:
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
        self._targets = system.targets
        choices = self._targets.tolist(), free, self._actuated, self._weights.tolist()
        self._kernel_prefix = f'{kernel_name("reduced", system, *choices)}.'
        self.singular_mass = self._check_start()

    def _check_start(self) -> str | None:
        """Raise if there are too few actuators; return why M_u is singular, or None."""
        constrained, q = self.constrained, self.constrained.start
        B = constrained.speeds(q, np.zeros(constrained.n)).B
        B_a = B[list(self._actuated)] / np.linalg.norm(
            B / constrained._system.column_scale[:, None], axis=0
        )
        refuse_few_actuators(B_a, self.actuated)
        return singular_mass(constrained.mass_matrix(q), self.independent)

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
        """Names of the joints, in the order of the coordinates."""
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

    @property
    def _actuators(self) -> tuple[tuple[int, ...], FloatArray]:
        return self._actuated, self._weights

    def _reduction(self, q: ArrayLike, u: ArrayLike) -> Reduction:
        return reduction(self.model, self._choice, q, u)

    @compiled(has_loops=False)
    def residual(self, q: ArrayLike) -> FloatArray:
        """Return the residual phi(q), shape (k,), m or rad; 0 if the loops are closed.

        It is also 0 for conditions on rates alone, such as rolling.

        Args:
            q: coordinates, shape (n,).
        """
        f, _ = stacked_conditions(self._choice.constraints, self.model, q)
        residual: FloatArray = f - self._targets
        return residual

    @compiled(has_loops=False)
    def velocity_matrix(self, q: ArrayLike) -> FloatArray:
        """Return B, (n, m): ``qd = B u``.  [P] eq. (9)."""
        return dependence(self.model, self._choice, q).B

    @compiled(has_loops=False)
    def velocity_matrix_derivative(self, q: ArrayLike) -> FloatArray:
        """Return the velocity-free dB, (n, m*m): ``qdd = B du/dt + dB (u (x) u)``.

        Column ``i*m + j`` is the derivative of B[:, i] in the direction B[:, j].
        """
        found = dependence(self.model, self._choice, q)
        return velocity_matrix_derivative(self.model, self._choice, q, found)

    @compiled(has_loops=False, u='degrees_of_freedom')
    def velocities(self, q: ArrayLike, u: ArrayLike) -> FloatArray:
        """Return the rates of all joints, qd = B u, shape (n,).  [P] (8).

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

    @compiled(has_loops=False, has_inertia=True)
    def mass_matrix(self, q: ArrayLike) -> FloatArray:
        """Return M_u = B^T M B, (m, m), symmetric positive definite.  [P] eq. (46)."""
        return reduced_mass_matrix(self.model, q, dependence(self.model, self._choice, q).B)

    @compiled(has_loops=False, has_inertia=True)
    def velocity_free_coriolis_matrix(self, q: ArrayLike) -> FloatArray:
        """Return C*_u, (m, m*m), free of speeds: ``h_u = C*_u (u (x) u) + g_u``.

        ``C*_u (E (x) u)`` is C_u, with the identity E. If all conditions are holonomic, columns
        ``i*m + j`` and ``j*m + i`` are equal but for rounding, and the entries are the Christoffel
        symbols of M_u.
        """
        return reduced_velocity_free_coriolis_matrix(self.model, self._choice, q)

    @compiled(has_loops=False, has_inertia=True, u='degrees_of_freedom')
    def coriolis_matrix(self, q: ArrayLike, u: ArrayLike) -> FloatArray:
        """Return C_u = B^T (C B + M dB/dt), (m, m): dM_u/dt - 2 C_u is skew-symmetric."""
        return reduced_coriolis_matrix(self.model, self._choice, q, u)

    @compiled(has_loops=False, has_inertia=True)
    def gravity_vector(self, q: ArrayLike) -> FloatArray:
        """Return g_u = B^T g, (m,): efforts of independent joints that hold the robot at rest."""
        return reduced_gravity_vector(self.model, self._choice, q)

    @compiled(has_loops=False, has_inertia=True, u='degrees_of_freedom')
    def equations_of_motion(self, q: ArrayLike, u: ArrayLike) -> ReducedEquations:
        """Return M_u, h_u, B_a^T: ``M_u du/dt + h_u = B_a^T tau_a``. [P] eqs. (39), (42)-(46).

        Args:
            q: coordinates, shape (n,).
            u: independent speeds, shape (m,).
        """
        found = self._reduction(q, u)
        B = found.B
        bias = dynamics.inverse_dynamics(self.model, q, found.qd, found.gamma)
        return ReducedEquations(
            reduced_mass_matrix(self.model, q, B),
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
        return least_efforts(found.B, *self._actuators, force)

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

    @compiled(
        on_demand=True,
        has_loops=False,
        has_inertia=True,
        u='degrees_of_freedom',
        u_dot='degrees_of_freedom',
    )
    def linearization(self, q: ArrayLike, u: ArrayLike, u_dot: ArrayLike) -> ReducedLinearization:
        """Return M_L, D_L, K_L, B_a^T and tau_0 about a motion, without friction.

        They are exact in ``M_L d(du/dt) + D_L du + K_L dp = B_a^T dtau_a``, with deviations dp of
        the independent joints' positions. tau_0 are the efforts of `inverse_dynamics`. K_L is for
        constant actuator efforts, and includes the change of their lever arms with position.

        Args:
            q: coordinates, shape (n,).
            u: independent speeds, shape (m,).
            u_dot: their derivatives, shape (m,).

        Raises:
            ConstraintError: a constraint is nonholonomic, such as a blade or a wheel.
        """
        return reduced_linearization(self.model, self._choice, self._actuators, q, u, u_dot)

    def linearize(
        self,
        q: ArrayLike,
        u: ArrayLike,
        u_dot: ArrayLike | None = None,
        *,
        tau_a: ArrayLike | None = None,
        friction: bool = False,
    ) -> LinearizedModel:
        """Return the linear model of small deviations from one motion; not for batches.

        Its coordinates are the independent joints, its inputs the actuated ones. Give either
        u_dot or tau_a.

        Args:
            q: coordinates that close the loops, shape (n,).
            u: independent speeds, shape (m,).
            u_dot: their derivatives, shape (m,); the efforts are those of `inverse_dynamics`.
            tau_a: efforts of the actuated joints, shape (a,), from which u_dot is computed.
            friction: whether to include `Robot.joint_friction` and its slope.

        Raises:
            ArgumentTypeError: an argument holds no real numbers, or friction is not a bool.
            ShapeError: an argument has another shape.
            NonFiniteError: an argument holds a NaN or an infinity.
            ParameterError: both u_dot and tau_a are given, or neither.
            ConstraintError: a constraint is nonholonomic.
            InvalidInertiaError: tau_a is given, and M_u is singular.
            ModelError: a flexible link is bent too far.
        """
        instance(friction, (bool, np.bool_), 'friction', 'True or False')
        if (u_dot is None) == (tau_a is None):
            raise ParameterError('linearize got both u_dot and tau_a or neither, expected one')
        m = self.degrees_of_freedom
        refuse_rates(self._choice.constraints)
        q, u = state_vector(q, 'q', self.n), state_vector(u, 'u', m)
        resistance, effort = self._resistance(self.velocities(q, u), bool(friction)), None
        if tau_a is not None:
            effort = state_vector(tau_a, 'tau_a', len(self.actuated))
            tau = -resistance.efforts
            tau[list(self._actuated)] += effort
            u_dot = self.forward_dynamics(q, u, tau).u_dot
        u_dot = state_vector(u_dot, 'u_dot', m)
        motion = self.velocity_matrix(q), self.velocity_matrix_derivative(q), u
        terms = resisted(
            self.linearization(q, u, u_dot), motion, resistance, self._actuators, effort
        )
        self.constrained.robot.check_deflections(q, stacklevel=3)
        mass, damping, stiffness, transmission, effort = terms
        free = list(self._choice.independent)
        return LinearizedModel(
            *(self.independent, mass, damping, stiffness, effort, q[free], u, u_dot),
            inputs=self.actuated,
            transmission=transmission,
        )

    def _resistance(self, qd: FloatArray, friction: bool) -> Resistance:
        """Return the joint friction, or only the structural damping of flexible links."""
        model = self.model
        if friction:
            return Resistance(*jacobian_of(lambda rates: joint_friction(model, rates), qd))
        damping = model.structural_damping
        return Resistance(damping * qd, np.diag(damping))
