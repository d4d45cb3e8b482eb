# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Integral action added to a control law, with anti-windup by back-calculation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kron_dynamics.control.law import ControlLaw, JointReference, LawState
from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.sample_poses import poses_within_limits
from kron_dynamics.control.turns import shorter_way, whole_turns
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.typing import ArrayLike, FloatArray, IndexArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Longest integration step, s: a gap between states must not wind up the integral.
_LONGEST_STEP = 0.1
_LIMIT = 'limit of the integral'


@dataclass(slots=True, eq=False)
class IntegralState(LawState):
    """State of a run of `IntegralAction`; arrays of shape (m,) for the m joints with ki > 0.

    Attributes:
        inner: state of the inner law.
        z: integral of ki e, an acceleration, rad/s^2 or m/s^2.
        before: z before the last call.
        next_z: z after the last call, whose applied effort has not been reported yet.
        wanted: efforts returned by that call, shape (n,), N m or N.
        inertia: inertia that converts z to efforts, shape (m, m).
        elapsed: time step of that call, s.
        limit: largest efforts of the integral, N m or N.
        active: indices of the m joints among the n.
        release: rates 1 / T_t of back-calculation, 1/s.
    """

    inner: LawState
    z: FloatArray
    before: FloatArray
    next_z: FloatArray
    wanted: FloatArray
    inertia: FloatArray
    elapsed: float
    limit: FloatArray
    active: IndexArray
    release: FloatArray

    def set_applied_effort(self, effort: FloatArray) -> None:
        """Report the efforts that were sent; saturation is fed back to the integral."""
        self.inner.set_applied_effort(effort)
        # A wrong state may ask for any effort; without a bound it would leave the integral there.
        missing = (effort - self.wanted)[self.active]
        missing = np.minimum(np.maximum(missing, -self.limit), self.limit)
        share = -np.expm1(-self.elapsed * self.release)
        self.z = self.next_z
        if missing.any():
            self.z = self.z + share * np.linalg.solve(self.inertia, missing)

    @property
    def deflection(self) -> tuple[FloatArray, FloatArray] | None:
        """Modal coordinates and rates estimated by the inner law, shape (n_m,) each, or None."""
        return self.inner.deflection

    @property
    def problem(self) -> str | None:
        """Problem of the inner law, or None."""
        return self.inner.problem


class IntegralAction(ControlLaw[IntegralState]):
    r"""An inner control law plus the integral of the position error.

    .. math:: \tau = \tau_{law} + M z, \quad \dot z = K_i e + M^{-1} (\tau_{applied} - \tau) / T_t

    With computed torque, M is the mass matrix and the joint errors obey the decoupled equations
    :math:`\dddot e + k_d \ddot e + k_p \dot e + k_i e = 0`. With the proportional-derivative law,
    M is its constant diagonal inertia. While efforts saturate, back-calculation drives the
    integral towards the applied efforts with the time constant :math:`T_t = \sqrt{k_d / k_i}`,
    between the derivative and the integral time. The efforts M z are bounded, and so are the
    missing efforts that are fed back: see `integral_limit`.
    """

    def __init__(
        self,
        law: ControlLaw[Any],
        robot: Robot,
        ki: ArrayLike,
        kd: ArrayLike,
        limit: ArrayLike,
        *,
        inertia: ArrayLike | None = None,
    ) -> None:
        """Make the law.

        Args:
            law: the inner law.
            robot: the machine.
            ki: integral gains, shape (n,), 1/s^3, 0 or more; at least one above 0.
            kd: velocity gains of the inner law, shape (n,), 1/s, above 0.
            limit: largest efforts of the integral, shape (n,), N m or N, finite and above 0 where
                ki is.
            inertia: constant inertias in place of the mass matrix, shape (n,); None for M(q).

        Raises:
            ParameterError: a gain or a limit cannot be used; names the joint.
        """
        names = robot.joint_names
        self._law = law
        self._robot = robot
        gains = positive_per_joint('ki', ki, names, zero_allowed=True)
        velocity_gains = positive_per_joint('kd', kd, names)
        self._active = np.flatnonzero(gains)
        self._ki = gains[self._active]
        self._release = np.sqrt(self._ki / velocity_gains[self._active])
        self._limit = positive_per_joint(
            _LIMIT, limit, names, zero_allowed=True, infinity_allowed=True
        )
        active = [names[i] for i in self._active]
        positive_per_joint(_LIMIT, self._limit[self._active], active)
        self._inertia = None if inertia is None else np.diag(np.asarray(inertia, np.float64))
        self._turns = whole_turns(endless(robot.model.joint_types))

    @property
    def terms(self) -> frozenset[str]:
        """Model terms that the efforts of the inner law contain."""
        return self._law.terms

    @property
    def law(self) -> ControlLaw[Any]:
        """The inner law."""
        return self._law

    @property
    def limit(self) -> FloatArray:
        """Largest efforts of the integral, shape (n,), N m or N."""
        return self._limit

    def adopt_limit(self, limit: FloatArray) -> None:
        """Adopt other largest efforts of the integral, shape (n,): those for another payload."""
        self._limit = limit

    def start(self, q: FloatArray) -> IntegralState:
        """Return the state of a run from rest; the integral is 0."""
        m, n = len(self._ki), len(q)
        zero = np.zeros(m)
        return IntegralState(
            inner=self._law.start(q),
            z=zero,
            before=zero,
            next_z=zero,
            wanted=np.zeros(n),
            inertia=np.eye(m),
            elapsed=0.0,
            limit=self._limit[self._active],
            active=self._active,
            release=self._release,
        )

    @np.errstate(over='ignore', invalid='ignore')  # see `ControlLaw`
    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reference: JointReference,
        state: IntegralState,
        elapsed: float,
    ) -> FloatArray:
        """Return the efforts: see `ControlLaw`."""
        effort = self._law(q, qd, reference, state.inner, elapsed)
        M = self._robot.mass_matrix(q) if self._inertia is None else self._inertia
        columns = M[:, self._active]
        if elapsed > 0.0:
            state.before, state.elapsed = state.z, min(elapsed, _LONGEST_STEP)
        error = shorter_way(reference[0] - q, self._turns)[self._active]
        z = state.before + state.elapsed * self._ki * error
        integral = columns @ z
        bounded = np.minimum(np.maximum(integral, -self._limit), self._limit)
        if (bounded != integral).any() and np.isfinite(integral).all():
            z[:] = np.linalg.solve(columns[self._active], bounded[self._active])
        state.next_z, state.limit = z, self._limit[self._active]
        state.inertia = columns[self._active]
        state.wanted = effort + bounded
        return state.wanted


def integral_limit(
    robot: Robot, effort_limit: FloatArray, ki: FloatArray, *, compensated: bool
) -> FloatArray:
    """Return the largest efforts of the integral, shape (n,), N m or N.

    If gravity is compensated by the model, this is the effort limit minus the largest gravity
    effort within the position limits, so that a saturated integral cannot cancel it. Otherwise
    the integral has to compensate gravity, and this is the effort limit.

    Args:
        robot: the machine.
        effort_limit: shape (n,), N m or N.
        ki: integral gains, shape (n,), 1/s^3; with 0, gravity may use all of the effort limit.
        compensated: whether the efforts besides the integral compensate gravity.

    Raises:
        ParameterError: a joint with an integral gain has no effort limit, or gravity uses all of
            it; names the joint.
    """
    for i in np.flatnonzero(np.isinf(effort_limit) & (ki > 0.0)).tolist():
        name = robot.joint_names[i]
        raise ParameterError(
            f"effort_limit of joint '{name}' is inf, expected a finite one: it limits the "
            f'integral of gains.{name}.ki'
        )
    if not compensated:
        return effort_limit
    weight = np.abs(robot.gravity_vector(poses_within_limits(robot))).max(axis=0)
    left: FloatArray = effort_limit - weight
    for i in np.flatnonzero((left <= 0.0) & (ki > 0.0)).tolist():
        raise ParameterError(
            f"joint '{robot.joint_names[i]}' needs {weight[i]:.4g} against gravity in some pose, "
            f'effort limit {effort_limit[i]:.4g}: nothing is left for gains.'
            f'{robot.joint_names[i]}.ki, expected it to be 0'
        )
    return np.maximum(left, 0.0)
