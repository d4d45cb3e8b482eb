# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`ConstrainedRobot`: a robot with closed loops, gears, prescribed motions or rolling wheels."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kron_dynamics.arguments import instance
from kron_dynamics.constraint_kernels import geometry_of
from kron_dynamics.constraints import motion_equations
from kron_dynamics.constraints.constraint import Constraint, ConstraintTerms, Geometry
from kron_dynamics.constraints.formats import read_constraints
from kron_dynamics.constraints.motion_equations import ConstrainedMotion
from kron_dynamics.constraints.pfaffian import Function, along_motion
from kron_dynamics.constraints.projection import close_positions, close_rates
from kron_dynamics.constraints.rank import ConstraintReport, generic_rank, refuse_singular, report
from kron_dynamics.constraints.reactions import Reactions, constraint_reactions
from kron_dynamics.constraints.speeds import Speeds, choose_independent, solve_speeds
from kron_dynamics.constraints.state_arguments import (
    finite_time,
    independent_numbers,
    joint_numbers,
    state_vector,
)
from kron_dynamics.constraints.system import ConstraintSystem
from kron_dynamics.dynamics.payload import with_inertias
from kron_dynamics.messages import listed
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray


class ConstrainedRobot:
    """A robot whose coordinates obey ``A(q, t) qd = b(q, t)``.

    Methods take one state: q and its derivatives have shape (n,), in the order of `joint_names`,
    in rad or m; efforts are in N m or N; t is the time, s. They assume that q and qd satisfy the
    constraints, as the results of `close` and `close_rates` do. M, c and g are those of the
    unconstrained robot, which may have flexible links.

    Attributes:
        robot: the robot without constraints.
        constraints: the constraints, as given.
        rank: number of independent scalar constraint equations, called conditions.
        actuated: names of the joints with an actuator.
        start: coordinates that satisfy the constraints at the start time, shape (n,).
        independent: names of the joints whose rates are the m independent speeds u; 'u1', ... if
            these are quasi-velocities.
    """

    def __init__(
        self,
        robot: Robot,
        constraints: Sequence[Constraint],
        *,
        start: ArrayLike | None = None,
        hold: Sequence[str] = (),
        time: float = 0.0,
        independent: Sequence[str] | Function | None = None,
        actuated: Sequence[str] | None = None,
    ) -> None:
        """Close the loops at the start, and determine the rank and the independent speeds.

        Args:
            robot: the robot.
            constraints: any number, with different names.
            start: initial guess for closing the loops, shape (n,), rad or m; 0 by default.
            hold: joints that keep their position in `start` while the loops are closed.
            time: time at the start, s.
            independent: joints whose rates are the independent speeds; or quasi-velocities
                u = U(q, t) qd, as the function U with values of shape (m, n); None to choose
                the joints that determine the motion best at the start.
            actuated: joints with an actuator; None for all.

        Raises:
            ArgumentTypeError: robot or a constraint is of another type.
            UnknownFrameError: a constraint names a link that the robot does not have.
            ConstraintError: a constraint does not fit or cannot be met, or joints are wrong.
            SingularConstraintError: at the start the constraints, or the speeds, are singular.
            ShapeError: start has another shape.
            NonFiniteError: start or time holds a NaN or an infinity.
        """
        instance(robot, Robot, 'robot', 'a Robot')
        self.robot, self.constraints = robot, tuple(constraints)
        self._system = ConstraintSystem(robot.model, self.constraints)
        q = np.zeros(self.n) if start is None else self._array(start, 'start')
        t = finite_time(time, 'time')
        self.start = q = self._close(q, t, self._numbers(hold, 'hold'))
        self.start.setflags(write=False)
        self.rank = generic_rank(self._system, self._conditions, q, t)
        terms, names = self._terms(q, np.zeros(self.n), t), robot.joint_names
        self._quasi = independent if callable(independent) else None
        chosen: tuple[int, ...] = ()
        if independent is None:
            chosen = choose_independent(self._system, terms.A, self.rank)
        elif not callable(independent):
            chosen = independent_numbers(independent, names, self.degrees_of_freedom)
        self._chosen = chosen
        quasi = (f'u{k + 1}' for k in range(self.degrees_of_freedom))
        self.independent = tuple(names[k] for k in chosen) or tuple(quasi)
        self._actuated = self._numbers(names if actuated is None else actuated, 'actuated')
        self.actuated = tuple(names[k] for k in self._actuated)
        self.speeds(q, close_rates(self._system, terms, np.zeros(self.n), self.rank), t)

    @classmethod
    def described(
        cls,
        robot: Robot,
        source: str | Path | Mapping[str, object],
        *,
        time: float = 0.0,
        xacro_args: Mapping[str, str] | None = None,
    ) -> ConstrainedRobot:
        """Return a robot with the constraints of a file; see `read_constraints` for formats.

        Raises:
            ModelError: the file cannot be read, or an entry is wrong; the message names both.
            KronDynamicsError: the errors of `ConstrainedRobot`.
        """
        instance(robot, Robot, 'robot', 'a Robot')
        found = read_constraints(source, robot.model, xacro_args)
        joint_numbers(found.start, 'start', robot.joint_names)
        return cls(
            *(robot, found.constraints),
            start=[found.start.get(joint, 0.0) for joint in robot.joint_names],
            hold=found.hold,
            time=time,
            independent=found.independent,
            actuated=found.actuated,
        )

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.robot.n

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, in the order of the coordinates."""
        return self.robot.joint_names

    @property
    def degrees_of_freedom(self) -> int:
        """Number m of independent speeds."""
        return self.n - self.rank

    def _array(self, values: object, name: str) -> FloatArray:
        return state_vector(values, name, self.n)

    def _numbers(self, joints: Iterable[str], name: str) -> tuple[int, ...]:
        return joint_numbers(joints, name, self.joint_names)

    @functools.cached_property
    def _geometry(self) -> Callable[[FloatArray, FloatArray], Geometry]:
        """The compiled function of all constraints' geometry."""
        return geometry_of(self._system, self.robot._kernels)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the kernel."""
        return {name: value for name, value in vars(self).items() if name != '_geometry'}

    def terms(self, q: ArrayLike, qd: ArrayLike, t: float = 0.0) -> ConstraintTerms:
        """Return phi, A, b, dA/dt, db/dt of all k conditions, shapes (k,) and (k, n).  [P] (6).

        The unit of a condition is m or rad; see `Constraint.units`.
        """
        return self._terms(self._array(q, 'q'), self._array(qd, 'qd'), t)

    def _terms(self, q: FloatArray, qd: FloatArray, t: float) -> ConstraintTerms:
        t = finite_time(t)
        if not self.constraints:
            none, rows = np.zeros(0), np.zeros((0, self.n))
            return ConstraintTerms(none, rows, none, rows, none)
        return self._system.terms(q, qd, t, lambda a, b: self._geometry(a, b))

    def _conditions(self, q: FloatArray, t: float) -> tuple[FloatArray, FloatArray]:
        return self._terms(q, np.zeros(self.n), t)[:2]

    def residual(self, q: ArrayLike, t: float = 0.0) -> FloatArray:
        """Return the residual phi(q, t), shape (k,), m or rad: 0 if the loops are closed."""
        return self._terms(self._array(q, 'q'), np.zeros(self.n), t).phi

    def report(self, q: ArrayLike, t: float = 0.0) -> ConstraintReport:
        """Return rank, redundant conditions and distance to the nearest singularity at q, (n,)."""
        return report(self._system, self._conditions(self._array(q, 'q'), t)[1], self.rank)

    def close(self, q: ArrayLike, t: float = 0.0, hold: Sequence[str] = ()) -> FloatArray:
        """Return coordinates near q that close the loops, shape (n,), rad or m.

        Short steps keep the robot on the assembly branch of q.

        Args:
            q: initial guess, shape (n,).
            t: time, s.
            hold: joints that keep their position.

        Raises:
            ConstraintError: the loops cannot be closed from q; the message names constraints.
        """
        return self._close(self._array(q, 'q'), t, self._numbers(hold, 'hold'))

    def _close(self, q: FloatArray, t: float, held: tuple[int, ...]) -> FloatArray:
        return close_positions(self._system, self._conditions, q, t, held)

    def close_rates(self, q: ArrayLike, qd: ArrayLike, t: float = 0.0) -> FloatArray:
        """Return the rates nearest to qd that obey the constraints, shape (n,), 1/s.

        Raises:
            ConstraintError: the constraints contradict each other.
        """
        qd = self._array(qd, 'qd')
        return close_rates(self._system, self._terms(self._array(q, 'q'), qd, t), qd, self.rank)

    def choose_independent(
        self, q: ArrayLike, t: float = 0.0, previous: Sequence[str] | None = None
    ) -> tuple[str, ...]:
        """Return m joints whose rates determine the motion at q well.

        A previous choice is kept until another one is five times farther from a singularity.
        """
        A = self._terms(self._array(q, 'q'), np.zeros(self.n), t).A
        before = None if previous is None else self._numbers(previous, 'previous')
        chosen = choose_independent(self._system, A, self.rank, before)
        return tuple(self.joint_names[k] for k in chosen)

    def speeds(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        t: float = 0.0,
        independent: Sequence[str] | None = None,
    ) -> Speeds:
        """Return B, d, gamma and dB/dt: ``qd = B u + d``, ``qdd = B du/dt + gamma``.  [P] (8).

        Args:
            q: coordinates, shape (n,).
            qd: rates that obey the constraints, shape (n,).
            t: time, s.
            independent: joints whose rates are u; None for `independent`.

        Raises:
            SingularConstraintError: u does not determine the motion here.
            ConstraintError: the conditions contradict each other, or independent is not m joints.
        """
        q, qd = self._array(q, 'q'), self._array(qd, 'qd')
        return self._speeds(q, qd, t, self._terms(q, qd, t), independent)

    def _speeds(
        self,
        q: FloatArray,
        qd: FloatArray,
        t: float,
        terms: ConstraintTerms,
        independent: Sequence[str] | None = None,
    ) -> Speeds:
        chosen, names = self._chosen, self.independent
        if independent is not None:
            chosen = independent_numbers(independent, self.joint_names, self.degrees_of_freedom)
            names = tuple(self.joint_names[k] for k in chosen)
        U, U_dot = np.eye(self.n)[list(chosen)], np.zeros((len(chosen), self.n))
        if self._quasi is not None and independent is None:
            shape = (self.degrees_of_freedom, self.n)
            U, U_dot = along_motion('independent', self._quasi, q, qd, t, shape)
        return solve_speeds(self._system, terms, qd, U, U_dot, listed(names))

    def _directions(self, q: ArrayLike, t: float) -> Speeds:
        # B and d, which do not depend on the rates. gamma does: redundant moving constraints agree
        # about it at the right rates alone, so A and b are taken as constant.
        q, rest = self._array(q, 'q'), np.zeros(self.n)
        terms = self._terms(q, rest, t)
        frozen = terms._replace(A_dot=np.zeros_like(terms.A), b_dot=np.zeros_like(terms.b))
        return self._speeds(q, rest, t, frozen)

    def velocities(self, q: ArrayLike, u: ArrayLike, t: float = 0.0) -> FloatArray:
        """Return qd = B u + d, shape (n,), 1/s, for independent speeds u, (m,).  [P] (8)."""
        speeds = self._directions(q, t)
        qd: FloatArray = speeds.B @ state_vector(u, 'u', self.degrees_of_freedom) + speeds.d
        return qd

    def accelerations(
        self, q: ArrayLike, qd: ArrayLike, u_dot: ArrayLike, t: float = 0.0
    ) -> FloatArray:
        """Return qdd = B du/dt + gamma, shape (n,), for du/dt, shape (m,)."""
        speeds = self.speeds(q, qd, t)
        u_dot = state_vector(u_dot, 'u_dot', self.degrees_of_freedom)
        qdd: FloatArray = speeds.B @ u_dot + speeds.gamma
        return qdd

    def mass_matrix(self, q: ArrayLike, t: float = 0.0) -> FloatArray:
        """Return the mass matrix of the independent speeds, M_u = B^T M B, shape (m, m)."""
        B = self._directions(q, t).B
        return np.asarray(B.T @ self.robot.mass_matrix(q) @ B)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, t: float = 0.0) -> FloatArray:
        """Return C_u = B^T (C B + M dB/dt), (m, m), N m s or N s: dM_u/dt - 2 C_u is skew."""
        M, C = self.robot.mass_matrix(q), self.robot.coriolis_matrix(q, qd)
        return motion_equations.reduced_coriolis(M, C, self.speeds(q, qd, t))

    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, t: float = 0.0
    ) -> ConstrainedMotion:
        """Return qdd and lambda of ``M qdd + c + g = tau + A^T lambda``, without joint friction.

        [P] eqs. (10), (42), (46). The result does not depend on the choice of speeds.

        Args:
            q: coordinates, shape (n,).
            qd: rates that obey the constraints, shape (n,).
            tau: efforts of all joints, shape (n,).
            t: time, s.

        Raises:
            SingularConstraintError: the constraints are at a singularity.
            ConstraintError: they contradict each other, or the mass matrix M_u is singular.
        """
        q, qd, tau = (self._array(x, name) for x, name in ((q, 'q'), (qd, 'qd'), (tau, 'tau')))
        terms = self._terms(q, qd, t)
        refuse_singular(self._system, self._conditions, q, t, terms.A, self.rank)
        best = choose_independent(self._system, terms.A, self.rank, self._chosen or None)
        speeds = self._speeds(q, qd, t, terms, [self.joint_names[k] for k in best])
        M, h = self.robot.mass_matrix(q), self.robot.bias_forces(q, qd)
        u_dot = motion_equations.independent_acceleration(M, speeds, tau - h)
        qdd = speeds.B @ u_dot + speeds.gamma
        forces = M @ qdd + h - tau
        return ConstrainedMotion(
            qdd, motion_equations.multipliers(self._system, terms.A, forces, self.rank)
        )

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        t: float = 0.0,
        *,
        weights: Mapping[str, float] | None = None,
    ) -> FloatArray:
        """Return efforts, shape (n,), that cause a motion; 0 for joints without an actuator.

        With more actuators than degrees of freedom, these are the efforts with the smallest
        weighted sum of squares.

        Args:
            q: coordinates, shape (n,).
            qd: rates that obey the constraints, shape (n,).
            qdd: accelerations that obey them, shape (n,), such as those of `accelerations`.
            t: time, s.
            weights: positive weights of the squared efforts by actuated joint; 1 by default.

        Raises:
            ConstraintError: qdd does not obey the constraints, or the actuators cannot cause the
                motion; the message names constraints or joints.
            ParameterError: a weight is not positive, or its joint is not actuated.
        """
        q, qd, qdd = (self._array(x, name) for x, name in ((q, 'q'), (qd, 'qd'), (qdd, 'qdd')))
        terms = self._terms(q, qd, t)
        motion_equations.refuse_inadmissible(self._system, terms, qd, qdd)
        force = self.robot.inverse_dynamics(q, qd, qdd)
        best = choose_independent(self._system, terms.A, self.rank, self._chosen or None)
        speeds = self._speeds(q, qd, t, terms, [self.joint_names[k] for k in best])
        efforts = np.zeros(self.n)
        used = motion_equations.effort_weights(self.actuated, weights)
        efforts[list(self._actuated)] = motion_equations.actuator_efforts(
            *(self._system, speeds, force, self._actuated, used)
        )
        return efforts

    def reactions(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, tau: ArrayLike, t: float = 0.0
    ) -> Reactions:
        """Return the reaction forces of constraints and joints while efforts tau cause qdd.

        Args:
            q: coordinates, shape (n,).
            qd: rates that obey the constraints, shape (n,).
            qdd: accelerations that obey them, shape (n,).
            tau: efforts of all joints, shape (n,).
            t: time, s.

        Raises:
            ConstraintError: qdd does not obey a constraint, or tau does not cause it, by name.
        """
        q, qd, qdd, tau = (
            self._array(x, name) for x, name in ((q, 'q'), (qd, 'qd'), (qdd, 'qdd'), (tau, 'tau'))
        )
        terms = self._terms(q, qd, t)
        motion_equations.refuse_inadmissible(self._system, terms, qd, qdd)
        forces = self.robot.inverse_dynamics(q, qd, qdd) - tau
        lam = motion_equations.multipliers(self._system, terms.A, forces, self.rank)
        moving = self.robot.mass_matrix(q), qd, qdd
        motion_equations.refuse_uncaused(self._system, terms.A, lam, forces, *moving)
        model = self.robot.model
        if self.robot._kernels.model is not model:  # some links carry payloads
            model = with_inertias(model, self.robot.inertial_parameters())
        return constraint_reactions(self._system, model, q, qd, qdd, lam)
