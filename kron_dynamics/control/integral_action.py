# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Integral action beside a control law, with anti-windup by the efforts that were applied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kron_dynamics.control.law import ControlLaw, JointReference, LawState
from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.poses import poses_within_limits
from kron_dynamics.control.turns import shorter_way, whole_turns
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.typing import ArrayLike, FloatArray, IndexArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# The most time that one error is taken to have lasted, s: a gap between states is no error.
_LONGEST_STEP = 0.1


@dataclass(slots=True, eq=False)
class IntegralState(LawState):
    """What a run of `IntegralAction` remembers; arrays of shape (m,), one a joint with ki > 0.

    Attributes:
        inner: state of the law beside it.
        z: integral of ki e, an acceleration, rad/s^2 or m/s^2.
        next_z: the same after the call that has no answer yet.
        wanted: efforts of that call, shape (n,), N m or N.
        inertia: what turns z into efforts, shape (m, m).
        elapsed: time of that call since the one before, s.
        active: places of the m joints among the n.
        release: rates of back-calculation, 1/s.
    """

    inner: LawState
    z: FloatArray
    next_z: FloatArray
    wanted: FloatArray
    inertia: FloatArray
    elapsed: float
    active: IndexArray
    release: FloatArray

    def set_applied_effort(self, effort: FloatArray) -> None:
        """Tell the efforts that were sent: what was cut off is taken back from the integral."""
        self.inner.set_applied_effort(effort)
        missing = (effort - self.wanted)[self.active]
        share = -np.expm1(-self.elapsed * self.release)
        self.z = self.next_z
        if missing.any():
            self.z = self.z + share * np.linalg.solve(self.inertia, missing)

    @property
    def deflection(self) -> tuple[FloatArray, FloatArray] | None:
        """Modal coordinates and rates of the law beside it, shape (n_m,) each, or None."""
        return self.inner.deflection

    @property
    def problem(self) -> str | None:
        """Of the law beside it."""
        return self.inner.problem


class IntegralAction(ControlLaw[IntegralState]):
    r"""A law and the integral of the position error.

    .. math:: \tau = \tau_{law} + M z, \quad \dot z = K_i e + M^{-1} (\tau_{applied} - \tau) / T_t

    M is the mass matrix beside computed torque, whose errors then obey
    :math:`\dddot e + k_d \ddot e + k_p \dot e + k_i e = 0` on their own, and the inertia of the
    tuning beside the proportional-derivative law. Where efforts were cut off by a limit, the
    integral is taken back to what was applied (back-calculation) within
    :math:`T_t = \sqrt{k_d / k_i}`, between the derivative and the integral time. The efforts M z
    are bounded: see `integral_limit`.
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
            law: what the integral acts beside.
            robot: the machine.
            ki: integral gains, shape (n,), 1/s^3, 0 or more; one above 0.
            kd: velocity gains of the law, shape (n,), 1/s, above 0.
            limit: greatest efforts of the integral, shape (n,), N m or N.
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
        self._limit = positive_per_joint('limit of the integral', limit, names)
        self._inertia = None if inertia is None else np.diag(np.asarray(inertia, np.float64))
        self._turns = whole_turns(endless(robot.model.joint_types))

    @property
    def terms(self) -> frozenset[str]:
        """Of the law beside it."""
        return self._law.terms

    @property
    def law(self) -> ControlLaw[Any]:
        """The law beside it."""
        return self._law

    @property
    def limit(self) -> FloatArray:
        """Greatest efforts of the integral, shape (n,), N m or N."""
        return self._limit

    def start(self, q: FloatArray) -> IntegralState:
        """Return the state of a run from rest: the integral is empty."""
        m, n = len(self._ki), len(q)
        zero = np.zeros(m)
        return IntegralState(
            inner=self._law.start(q),
            z=zero,
            next_z=zero,
            wanted=np.zeros(n),
            inertia=np.eye(m),
            elapsed=0.0,
            active=self._active,
            release=self._release,
        )

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
        step = min(elapsed, _LONGEST_STEP)
        error = shorter_way(reference[0] - q, self._turns)[self._active]
        z = state.z + step * self._ki * error
        integral = columns @ z
        bounded = np.minimum(np.maximum(integral, -self._limit), self._limit)
        if (bounded != integral).any() and np.isfinite(integral).all():
            z[:] = np.linalg.solve(columns[self._active], bounded[self._active])
        state.next_z, state.elapsed = z, step
        state.inertia = columns[self._active]
        state.wanted = effort + bounded
        return state.wanted


def integral_limit(robot: Robot, effort_limit: FloatArray, *, carries_weight: bool) -> FloatArray:
    """Return the greatest efforts that an integral is given, shape (n,), N m or N.

    Beside a law whose model carries the weight, what the effort limits leave beside the greatest
    weight within the position limits: an integral that is full cannot let the machine down. Where
    the integral is what carries the weight, the effort limits.

    Args:
        robot: the machine.
        effort_limit: shape (n,), N m or N.
        carries_weight: whether the efforts beside the integral carry the weight.

    Raises:
        ParameterError: a joint's weight takes all of its effort limit; names it.
    """
    if not carries_weight:
        return effort_limit
    weight = np.abs(robot.gravity_vector(poses_within_limits(robot))).max(axis=0)
    left: FloatArray = effort_limit - weight
    for i in np.flatnonzero(left <= 0.0).tolist():
        raise ParameterError(
            f"joint '{robot.joint_names[i]}' carries a weight of {weight[i]:.4g} in some pose, "
            f'effort limit {effort_limit[i]:.4g}: nothing is left for gains.'
            f'{robot.joint_names[i]}.ki, expected it to be 0'
        )
    return left
