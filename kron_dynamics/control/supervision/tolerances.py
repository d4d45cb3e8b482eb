# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tolerances of the tracking error, derived from gains and limits.

`tracking_errors.py` compares errors with them, and a `TrackingController` stops the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# A position error is a fault if the position gain requests more than this share of the effort
# limit.
_SHARE = 0.5
# With a model: allowed error as the motion at the velocity limit in this number of time constants
# of the position loop; leaves room for model errors such as a payload.
_LAG = 3.0
# Multiple of the position error at which friction stops a joint that is always allowed.
_FRICTION = 3.0
# Time allowed to reach the goal: time constants of the slowest joint, and a minimum in s.
_TIME_CONSTANTS, _SHORTEST = 10.0, 1.0
# Largest derived tolerance of a continuous joint, rad, and shortest time for its velocity, s.
_QUARTER, _INSTANT = 0.5 * np.pi, 1e-9


class TrackingTolerances(NamedTuple):
    """Tolerances beyond which a tracking error is a fault; arrays of shape (n,), inf for no check.

    Attributes:
        position: position error, rad or m.
        velocity: velocity error, rad/s or m/s.
        goal: position error at the end of a reference, rad or m.
        time: time for which a position or velocity error may exceed its tolerance, s.
        goal_time: time after the end of a reference from which `goal` is checked, s.
    """

    position: FloatArray
    velocity: FloatArray
    goal: FloatArray
    time: float = 0.1
    goal_time: float = 10.0

    def with_given(
        self, position: FloatArray, velocity: FloatArray, goal: FloatArray, goal_time: float
    ) -> TrackingTolerances:
        """Return a copy in which given values above 0 replace the present ones."""

        def chosen(given: FloatArray, derived: FloatArray) -> FloatArray:
            return np.where(given > 0.0, given, derived)

        return self._replace(
            position=chosen(position, self.position),
            velocity=chosen(velocity, self.velocity),
            goal=chosen(goal, self.goal),
            goal_time=goal_time or self.goal_time,
        )

    def within_turns(self, continuous: Sequence[bool]) -> TrackingTolerances:
        """Return a copy in which the errors of continuous joints can exceed their tolerances.

        Position errors of these joints are at most half a turn, because whole turns do not count.
        So their tolerances are at most a quarter of a turn. If a joint turns so fast that its
        error never stays above that for `time`, its velocity error exceeds half a turn in `time`.

        Args:
            continuous: mask of the continuous joints, shape (n,).
        """
        fastest = np.pi / max(self.time, _INSTANT)
        return self._replace(
            position=np.where(continuous, np.minimum(self.position, _QUARTER), self.position),
            velocity=np.where(continuous, np.minimum(self.velocity, fastest), self.velocity),
            goal=np.where(continuous, np.minimum(self.goal, _QUARTER), self.goal),
        )

    def never_exceeded(self, names: Sequence[str], continuous: Sequence[bool]) -> list[str]:
        """Return warnings of finite tolerances of continuous joints above half a turn.

        Args:
            names: the n joints.
            continuous: mask of the continuous joints, shape (n,).
        """
        return [
            f"{what} of continuous joint '{names[k]}' is {value[k]:.4g} rad, which no error "
            f'exceeds: expected below {np.pi:.4g} rad, as whole turns do not count'
            for what, value in (('following_error', self.position), ('goal_tolerance', self.goal))
            for k in np.flatnonzero(continuous & np.isfinite(value) & (value >= np.pi)).tolist()
        ]


def tracking_tolerances(
    robot: Robot,
    q: FloatArray,
    kp: FloatArray,
    effort_limit: FloatArray,
    *,
    with_model: bool,
    time: float = 0.1,
) -> TrackingTolerances:
    """Return default tolerances, derived from the gains and limits.

    With m the inertia at a joint, the position gain requests half of the effort limit at an error
    of effort_limit / (2 kp m), which is the tolerance. If the law compensates gravity and inertia
    by a model, the tolerance is at most the motion in three time constants 1 / sqrt(kp) at the
    velocity limit. Friction f stops a joint f / (kp m) off its goal: three times this distance is
    always allowed, except to a continuous joint (`TrackingTolerances.within_turns`).

    Args:
        robot: the machine.
        q: pose at which the inertia is evaluated, shape (n,), rad or m.
        kp: position gains, shape (n,), 1/s^2.
        effort_limit: shape (n,), N m or N.
        with_model: whether the law compensates gravity and inertia by a model.
        time: time for which an error may exceed its tolerance, s.
    """
    model = robot.model
    inertia = np.diagonal(robot.mass_matrix(q))
    stiffness = kp * np.maximum(inertia, np.finfo(float).tiny)
    position = _SHARE * effort_limit / stiffness
    frequency = np.sqrt(kp)
    limit = np.where(model.velocity_limit > 0.0, model.velocity_limit, np.inf)
    if with_model:
        position = np.minimum(position, _LAG * limit / frequency)
    friction = _FRICTION * model.friction / stiffness
    position = np.maximum(position, friction)
    tolerances = TrackingTolerances(
        position=position,
        velocity=np.maximum(frequency * position, 0.5 * np.where(limit < np.inf, limit, 0.0)),
        goal=np.maximum(0.5 * position, friction),
        time=time,
        goal_time=max(_TIME_CONSTANTS / float(frequency.min()), _SHORTEST),
    )
    return tolerances.within_turns(endless(model.joint_types))


def default_rate_limit(kp: FloatArray, effort_limit: FloatArray) -> FloatArray:
    """Return the default limits of the effort rates, shape (n,), N m/s or N/s.

    The effort limit per tenth of the time constant 1 / sqrt(kp): fast enough not to delay the
    feedback, but steps of the effort become ramps.

    Args:
        kp: position gains, shape (n,), 1/s^2; 0 for none, which counts as 1.
        effort_limit: shape (n,), N m or N.
    """
    return 10.0 * np.sqrt(np.where(kp > 0.0, kp, 1.0)) * effort_limit
