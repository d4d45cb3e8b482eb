# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Computed torque, and the proportional-derivative law as its baseline.

Efforts are not limited here, but in `command_guard.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.law import JointReference, StatelessLaw
from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.terms import EffortTerms
from kron_dynamics.control.turns import shorter_error, whole_turns
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot


class ComputedTorque(StatelessLaw):
    r"""Computed torque: inverse dynamics of the reference acceleration plus feedback.

    .. math:: \tau = ID(q, \dot q, \ddot q_{ref} + K_p e + K_d \dot e) + f(\dot q_{ref})

    With an exact model the joint errors are decoupled and obey
    :math:`\ddot e + k_d \dot e + k_p e = 0` in every pose: kp is the square of the error's natural
    frequency, and kd = 2 sqrt(kp) is critical damping.

    The friction f is evaluated at the *reference* velocity. Coulomb friction changes sign with
    the velocity, so at the measured velocity each sign change of the noise would become a step
    of twice the friction: the drive chatters at standstill, where an encoder's velocity quantum
    is larger than the range over which the friction changes sign. The reference has no noise,
    and in tracking the two velocities agree. Viscous friction at the velocity error is not
    compensated and adds damping. At a resting reference no friction is compensated: the machine
    may stop off its goal by e = f / (kp m) with f the Coulomb friction and m the inertia at the
    joint.
    """

    def __init__(
        self, robot: Robot, kp: ArrayLike, kd: ArrayLike, *, terms: EffortTerms | None = None
    ) -> None:
        """Make the law.

        Args:
            robot: the machine.
            kp: position gains, shape (n,), in 1/s^2, above 0.
            kd: velocity gains, shape (n,), in 1/s, 0 or more.
            terms: model terms that the efforts contain; None for all. The feedback
                K_p e + K_d ed always acts through M(q).

        Raises:
            ParameterError: a gain cannot be used; names the joint.
        """
        self._robot = robot
        self._feedback = _Feedback(robot, kp, kd)
        self._terms = (EffortTerms() if terms is None else terms).commanded - {'flexible'}
        rest = np.zeros(robot.n)
        self(rest, rest, (rest, rest, rest))  # compiles the kernels before the first cycle

    @property
    def terms(self) -> frozenset[str]:
        """Model terms that the efforts contain."""
        return self._terms

    def effort(self, q: FloatArray, qd: FloatArray, reference: JointReference) -> FloatArray:
        """Return the efforts tau, shape (n,), in N m or N."""
        q_ref, qd_ref, qdd_ref = reference
        wanted = self._feedback.acceleration(q, qd, q_ref, qd_ref)
        if 'inertia' in self._terms:
            wanted = qdd_ref + wanted
        moving = qd if 'coriolis' in self._terms else np.zeros_like(q)
        tau = self._robot.inverse_dynamics(q, moving, wanted)
        if 'gravity' not in self._terms:
            tau = tau - self._robot.gravity_vector(q)
        if 'friction' in self._terms:
            tau = tau + self._robot.joint_friction(qd_ref)
        return tau


class ProportionalDerivative(StatelessLaw):
    r"""Independent joint control without a model: the usual controller of a plant, as a baseline.

    .. math:: \tau = diag(M(q_{nominal})) \, (K_p e + K_d \dot e)

    The gains of :class:`ComputedTorque` are converted to effort units once, at one pose. Gravity,
    coupling, reference acceleration and friction are not compensated and cause tracking errors.
    """

    def __init__(self, robot: Robot, kp: ArrayLike, kd: ArrayLike, q_nominal: ArrayLike) -> None:
        """Make the law.

        Args:
            robot: the machine; its model is used only here.
            kp: position gains, shape (n,), in 1/s^2, above 0.
            kd: velocity gains, shape (n,), in 1/s, 0 or more.
            q_nominal: pose of the constant inertia, shape (n,), in rad or m.

        Raises:
            ParameterError: a gain or the pose cannot be used.
        """
        pose = np.array(q_nominal, dtype=np.float64)
        if pose.shape != (robot.n,) or not np.isfinite(pose).all():
            raise ParameterError(
                f'q_nominal is {pose.tolist()}, expected {robot.n} finite positions '
                f'for {list(robot.joint_names)}'
            )
        self._feedback = _Feedback(robot, kp, kd)
        self._inertia: FloatArray = np.array(robot.mass_matrix(pose).diagonal())

    @property
    def inertia(self) -> FloatArray:
        """Diagonal of the mass matrix at `q_nominal`, shape (n,)."""
        return self._inertia

    @np.errstate(over='ignore', invalid='ignore')  # see `ControlLaw`
    def effort(self, q: FloatArray, qd: FloatArray, reference: JointReference) -> FloatArray:
        """Return the efforts tau, shape (n,), in N m or N."""
        return self._inertia * self._feedback.acceleration(q, qd, *reference[:2])


class _Feedback:
    """Feedback acceleration K_p e + K_d ed with checked gains.

    It is computed with plain floats: for few joints they are faster than arrays, and an overflow
    gives inf without a warning.
    """

    def __init__(self, robot: Robot, kp: ArrayLike, kd: ArrayLike) -> None:
        names = robot.joint_names
        gains = (
            positive_per_joint('kp', kp, names),
            positive_per_joint('kd', kd, names, zero_allowed=True),
            whole_turns(endless(robot.model.joint_types)),
        )
        self._gains = list(zip(*(row.tolist() for row in gains), strict=True))

    def acceleration(
        self, q: FloatArray, qd: FloatArray, q_ref: FloatArray, qd_ref: FloatArray
    ) -> FloatArray:
        """Return n accelerations, shape (n,), rad/s^2 or m/s^2."""
        wanted = []
        state = zip(q.tolist(), qd.tolist(), q_ref.tolist(), qd_ref.tolist(), strict=True)
        for (x, v, x_ref, v_ref), (kp, kd, turn) in zip(state, self._gains, strict=True):
            error = shorter_error(x_ref - x, turn) if turn else x_ref - x
            wanted.append(kp * error + kd * (v_ref - v))
        return np.array(wanted)
