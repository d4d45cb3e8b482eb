# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Computed torque, and the proportional-derivative law that it is compared with."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.law import JointReference, StatelessLaw
from kron_dynamics.control.per_joint import positive_per_joint
from kron_dynamics.control.terms import EffortTerms
from kron_dynamics.control.turns import shorter_way, whole_turns
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot


class ComputedTorque(StatelessLaw):
    r"""Computed torque: the model turns the wanted acceleration into efforts.

    .. math:: \tau = ID(q, \dot q, \ddot q_{ref} + K_p e + K_d \dot e) + f(\dot q_{ref})

    With a true model every joint's error then obeys :math:`\ddot e + k_d \dot e + k_p e = 0` on
    its own, whatever the pose: kp is the square of the error's natural frequency, and
    kd = 2 sqrt(kp) is critical damping.

    The friction f is that of the *reference* velocity. Coulomb friction changes sign with the
    velocity, so compensating at the measured one turns each sign flip of its noise into a step
    of twice the friction: the drive chatters at rest, where an encoder's velocity quantum is
    larger than the range over which the friction changes sign. The reference has no noise, and
    in tracking the two velocities agree. The viscous part left at the error adds damping to it.
    At a resting reference no friction is compensated: the machine may stop off its goal by
    e = f / (kp m) with f the Coulomb level and m the inertia at the joint.
    """

    def __init__(
        self, robot: Robot, kp: ArrayLike, kd: ArrayLike, *, terms: EffortTerms | None = None
    ) -> None:
        """Make the law.

        Args:
            robot: the machine.
            kp: position gains, shape (n,), in 1/s^2, above 0.
            kd: velocity gains, shape (n,), in 1/s, 0 or more.
            terms: which terms of the model the efforts carry; None for all. The feedback
                K_p e + K_d ed always acts through M(q).

        Raises:
            ParameterError: a gain cannot be used; names the joint.
        """
        self._robot = robot
        self._feedback = _Feedback(robot, kp, kd)
        self._terms = (EffortTerms() if terms is None else terms).commanded - {'flexible'}
        rest = np.zeros(robot.n)
        self(rest, rest, (rest, rest, rest))  # compiles what the first cycle may not wait for

    @property
    def terms(self) -> frozenset[str]:
        """Terms of the model that are in its efforts."""
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
    r"""Independent joint control without a model: the baseline a plant already has.

    .. math:: \tau = diag(M(q_{nominal})) \, (K_p e + K_d \dot e)

    The gains are those of :class:`ComputedTorque`, brought to effort units once, at one pose;
    gravity, coupling, the reference's acceleration and friction are left to the error.
    """

    def __init__(self, robot: Robot, kp: ArrayLike, kd: ArrayLike, q_nominal: ArrayLike) -> None:
        """Make the law.

        Args:
            robot: the machine; its model is not used afterwards.
            kp: position gains, shape (n,), in 1/s^2, above 0.
            kd: velocity gains, shape (n,), in 1/s, 0 or more.
            q_nominal: the pose of the tuning, shape (n,), in rad or m.

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
        """Diagonal of the mass matrix at the pose of the tuning, shape (n,)."""
        return self._inertia

    def effort(self, q: FloatArray, qd: FloatArray, reference: JointReference) -> FloatArray:
        """Return the efforts tau, shape (n,), in N m or N."""
        return self._inertia * self._feedback.acceleration(q, qd, *reference[:2])


class _Feedback:
    """Checked gains of a robot, and the acceleration they answer an error with."""

    def __init__(self, robot: Robot, kp: ArrayLike, kd: ArrayLike) -> None:
        self._kp = positive_per_joint('kp', kp, robot.joint_names)
        self._kd = positive_per_joint('kd', kd, robot.joint_names, zero_allowed=True)
        continuous = endless(robot.model.joint_types)
        self._turns = whole_turns(continuous) if any(continuous) else None

    def acceleration(
        self, q: FloatArray, qd: FloatArray, q_ref: FloatArray, qd_ref: FloatArray
    ) -> FloatArray:
        error = q_ref - q
        if self._turns is not None:
            error = shorter_way(error, self._turns)
        return self._kp * error + self._kd * (qd_ref - qd)
