# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Efforts that the gains require over the range of a robot, and tolerances derived from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.sample_poses import poses_within_limits
from kron_dynamics.control.supervision.tolerances import TrackingTolerances, tracking_tolerances
from kron_dynamics.control.tuning.linear_machine import LinearMachine, ModelErrors
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Poses for tolerances.
_POSES = 100
# Lower bound of stiffnesses, N m/rad or N/m, that avoids division by zero.
_NOTHING = 1e-100


def tolerances_over_range(
    robot: Robot, kp: FloatArray, limit: FloatArray
) -> tuple[TrackingTolerances, FloatArray]:
    """Return tolerances valid in every pose, and the largest position errors due to friction.

    A position error is a fault if it requires half of the effort limit in the pose with the
    largest inertia, but never below three times the error at which friction stops a joint in the
    pose with the smallest inertia.

    Args:
        robot: robot with rigid links.
        kp: position gains, shape (n,), 1/s^2.
        limit: effort limits, shape (n,), N m or N.

    Returns:
        The tolerances, and three times the error due to friction, shape (n,), rad or m.
    """
    poses, time = poses_within_limits(robot, _POSES), max(0.1, 1.0 / float(np.sqrt(kp).min()))
    each = [tracking_tolerances(robot, q, kp, limit, with_model=True, time=time) for q in poses]
    # With an effort limit of 0 the tolerance is the friction term alone.
    friction = np.max(
        [
            tracking_tolerances(robot, q, kp, np.zeros_like(limit), with_model=True).position
            for q in poses
        ],
        axis=0,
    )
    return (
        TrackingTolerances(
            position=np.maximum(np.min([one.position for one in each], axis=0), friction),
            velocity=np.maximum(
                np.min([one.velocity for one in each], axis=0), np.sqrt(kp) * friction
            ),
            goal=np.maximum(np.min([one.goal for one in each], axis=0), friction),
            time=time,
            goal_time=each[0].goal_time,
        ).within_turns(endless(robot.model.joint_types)),
        friction,
    )


def saturating_steps(
    machine: LinearMachine, robot: Robot, kp: FloatArray, limit: FloatArray
) -> tuple[FloatArray, float]:
    """Return the smallest position step of each joint, shape (n,), that saturates an effort.

    Second value: the share of the poses in which gravity alone exceeds an effort limit.

    Args:
        machine: poses and inertia.
        robot: robot with rigid links.
        kp: position gains, shape (n,), 1/s^2.
        limit: effort limits, shape (n,), N m or N.

    Raises:
        ParameterError: gravity exceeds an effort limit in every pose; names the joint.
    """
    weight = robot.gravity_vector(machine.q)
    room = limit - np.abs(weight)
    held = (room > 0.0).all(axis=1)
    if not held.any():
        joint = robot.joint_names[int((room < 0.0).mean(axis=0).argmax())]
        raise ParameterError(
            f"joint '{joint}' cannot carry its weight in any of {len(held)} poses: its effort "
            f'limit is {limit[robot.joint_names.index(joint)]:g}'
        )
    asked = np.abs(machine.inertia[held]) * kp  # of joint i for a step of joint j
    steps = (room[held][:, :, np.newaxis] / np.maximum(asked, _NOTHING)).min(axis=1)
    return np.asarray(steps.min(axis=0)), float(1.0 - held.mean())


def independent_joints(machine: LinearMachine) -> tuple[ModelErrors, float]:
    """Return the law pd as a model with diagonal inertia, and the top eigenvalue of M^-1 diag(M).

    In each pose, the diagonal is that of M in the same pose.

    Args:
        machine: poses and inertia, shape (N, n_j, n_j), kg m^2, kg m or kg.
    """
    diagonal = machine.inertia * np.eye(machine.q.shape[1])
    ratio = float(np.linalg.eigvals(np.linalg.solve(machine.inertia, diagonal)).real.max())
    poses = np.arange(len(machine.q))
    return ModelErrors(poses, diagonal, np.zeros_like(diagonal)), ratio
