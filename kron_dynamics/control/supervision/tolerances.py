# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How far a machine may be off its reference, from its gains and limits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Share of the effort limit that the position gain may ask for before an error is a fault.
_SHARE = 0.5
# Time constants of the position loop at the velocity limit: what a reference and a model that is
# not exact, a payload for instance, may make of an error.
_LAG = 3.0
# Friction stops a joint that far off its goal, times this.
_FRICTION = 3.0
# Time constants of the slowest joint after which a goal is reached or missed, and seconds.
_TIME_CONSTANTS, _SHORTEST = 10.0, 1.0


@dataclass(frozen=True, slots=True, eq=False)
class TrackingTolerances:
    """When a tracking error is a fault; arrays of shape (n,), inf for never.

    Attributes:
        position: distance from the reference, rad or m.
        velocity: the same of the velocity, rad/s or m/s.
        goal: distance from the end of a reference, rad or m.
        time: how long position or velocity may be further off, s.
        goal_time: time after the end of a reference until its goal is reached, s.
    """

    position: FloatArray
    velocity: FloatArray
    goal: FloatArray
    time: float = 0.1
    goal_time: float = 10.0

    def with_given(
        self, position: FloatArray, velocity: FloatArray, goal: FloatArray, goal_time: float
    ) -> TrackingTolerances:
        """Return these with others where they are above 0."""

        def chosen(given: FloatArray, derived: FloatArray) -> FloatArray:
            return np.where(given > 0.0, given, derived)

        return replace(
            self,
            position=chosen(position, self.position),
            velocity=chosen(velocity, self.velocity),
            goal=chosen(goal, self.goal),
            goal_time=goal_time or self.goal_time,
        )


def tracking_tolerances(
    robot: Robot, q: FloatArray, kp: FloatArray, effort_limit: FloatArray, *, with_model: bool
) -> TrackingTolerances:
    """Return tolerances that follow from what a machine is told to do.

    With m the inertia at a joint: an error of effort_limit / (2 kp m) asks for half of the effort
    that there is. Where the law has a model, an error is small beside what the joint makes in
    three time constants 1 / sqrt(kp) at its velocity limit, which is often less. Friction f stops
    a joint f / (kp m) off its goal: three times that is allowed in any case.

    Args:
        robot: the machine.
        q: pose that they are for, shape (n,), rad or m.
        kp: position gains, shape (n,), 1/s^2.
        effort_limit: shape (n,), N m or N.
        with_model: whether the law carries weight and inertia by its model.
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
    return TrackingTolerances(
        position=position,
        velocity=np.maximum(frequency * position, 0.5 * np.where(limit < np.inf, limit, 0.0)),
        goal=np.maximum(0.5 * position, friction),
        goal_time=max(_TIME_CONSTANTS / float(frequency.min()), _SHORTEST),
    )


def default_rate_limit(kp: FloatArray, effort_limit: FloatArray) -> FloatArray:
    """Return how quickly efforts may change by default, shape (n,), N m/s or N/s.

    All of the effort in a tenth of the time constant 1 / sqrt(kp): feedback is not held up, and
    no step leaves at once.

    Args:
        kp: position gains, shape (n,), 1/s^2; 0 for none, which counts as 1.
        effort_limit: shape (n,), N m or N.
    """
    return 10.0 * np.sqrt(np.where(kp > 0.0, kp, 1.0)) * effort_limit
