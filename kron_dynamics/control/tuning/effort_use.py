# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What gains ask of the efforts over the range of a robot, and the tolerances that follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.poses import poses_within_limits
from kron_dynamics.control.supervision.tolerances import TrackingTolerances, tracking_tolerances
from kron_dynamics.control.tuning.linear_machine import LinearMachine, ModelErrors
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

# Poses for tolerances.
_POSES = 100
# N m/rad and the like: no such stiffness counts.
_NOTHING = 1e-100


def tolerances_over_range(
    robot: Robot, kp: FloatArray, limit: FloatArray
) -> tuple[TrackingTolerances, FloatArray]:
    """Return tolerances for every pose, and how far off its goal friction may stop a joint.

    An error is a fault that asks for half of the effort where the inertia is largest, but not
    within three times what friction leaves where it is smallest.

    Args:
        robot: with stiff links.
        kp: position gains, shape (n,), 1/s^2.
        limit: of the efforts, shape (n,), N m or N.

    Returns:
        The tolerances, and three times what friction leaves, shape (n,), rad or m.
    """
    poses = poses_within_limits(robot, _POSES)
    each = [tracking_tolerances(robot, q, kp, limit, with_model=True) for q in poses]
    # Without any effort friction alone is left.
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
            time=max(0.1, 1.0 / float(np.sqrt(kp).min())),
            goal_time=each[0].goal_time,
        ),
        friction,
    )


def saturating_steps(
    machine: LinearMachine, robot: Robot, kp: FloatArray, limit: FloatArray
) -> tuple[FloatArray, float]:
    """Return the least step of each joint, shape (n,), that asks for all of an effort limit.

    And the share of the poses in which the weight alone does.

    Args:
        machine: poses and inertia.
        robot: with stiff links.
        kp: position gains, shape (n,), 1/s^2.
        limit: of the efforts, shape (n,), N m or N.

    Raises:
        ParameterError: the weight exceeds an effort limit in every pose; names the joint.
    """
    weight = robot.gravity_vector(machine.q)
    room = limit - np.abs(weight)
    held = (room > 0.0).all(axis=1)
    if not held.any():
        joint = robot.joint_names[int((room < 0.0).mean(axis=0).argmax())]
        raise ParameterError(
            f"joint '{joint}' cannot carry its weight in any pose looked at: its effort limit is "
            f'{limit[robot.joint_names.index(joint)]:g}'
        )
    asked = np.abs(machine.inertia[held]) * kp  # of joint i for a step of joint j
    steps = (room[held][:, :, np.newaxis] / np.maximum(asked, _NOTHING)).min(axis=1)
    return np.asarray(steps.min(axis=0)), float(1.0 - held.mean())


def independent_joints(machine: LinearMachine) -> tuple[ModelErrors, float]:
    """Return what the law pd takes for the inertia, and the largest eigenvalue of M^-1 diag(M).

    In each pose with the diagonal of M there: as if the law had been tuned in it.

    Args:
        machine: poses and inertia, shape (N, n_j, n_j), kg m^2, kg m or kg.
    """
    diagonal = machine.inertia * np.eye(machine.q.shape[1])
    ratio = float(np.linalg.eigvals(np.linalg.solve(machine.inertia, diagonal)).real.max())
    poses = np.arange(len(machine.q))
    return ModelErrors(poses, diagonal, np.zeros_like(diagonal)), ratio
