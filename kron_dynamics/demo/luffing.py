# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Luffing the boom up and down, by a torque at its pins or by a hydraulic cylinder."""

from __future__ import annotations

from typing import cast

import numpy as np

from kron_dynamics.closed_loops import ClosedLoopModel
from kron_dynamics.control import point_to_point
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.demo.motion import RATED_ACCELERATION, VELOCITY_SHARE, Motion, require_joints
from kron_dynamics.model import RobotModel
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray

LUFF, CYLINDER = 'luff', 'cylinder'
DISTANCE = 0.008  # rad
# Time between waypoints of the cylinder, s: short enough for the interpolated stroke to reproduce
# the boom angle to 1e-9.
_SPACING = 0.25
_ITERATIONS = 8  # of Newton's method for the stroke
# Step of the central difference of the lever arm, m; accurate to ten digits.
_STEP = 1e-4


def luffing(model: RobotModel, start: ArrayLike) -> Motion:
    """Return the motion of the drive that luffs the boom.

    The boom angle over time is the same for both drives; the strokes of a cylinder follow from
    it.

    Args:
        model: a machine with a joint `luff`, or with closed loops and a drive `cylinder`.
        start: start position, shape (n,), rad or m.

    Raises:
        ParameterError: the machine lacks this joint.
    """
    start = np.array(start, dtype=np.float64)
    if not model.has_closed_loops:
        require_joints(model, (LUFF,))
        return _by_torque(model, start, start[model.joint_names.index(LUFF)])
    require_joints(model, (CYLINDER,))
    return _by_cylinder(cast(ClosedLoopModel, model), start)


def _by_torque(model: RobotModel, start: FloatArray, angle: float) -> Motion:
    times, q = _points(model, angle)
    positions = np.tile(start, (len(times), 1))
    positions[:, model.joint_names.index(LUFF)] = q
    rest = np.zeros_like(positions)
    return Motion(model.joint_names, times, positions, rest, rest)


def _points(model: RobotModel, angle: float) -> tuple[FloatArray, FloatArray]:
    """Return times and angles, shape (3,) each, of the boom at rest: start, up, down again."""
    tree = model.tree if isinstance(model, ClosedLoopModel) else model
    limit = tree.velocity_limit[[tree.joint_names.index(LUFF)]]
    duration = point_to_point(
        *([angle], [angle + DISTANCE], VELOCITY_SHARE * limit),
        np.array([RATED_ACCELERATION[LUFF]]),
    )
    return duration * np.arange(3.0), np.array([angle, angle + DISTANCE, angle])


def _by_cylinder(model: ClosedLoopModel, start: FloatArray) -> Motion:
    drive, luff = model.joint_names.index(CYLINDER), model.tree.joint_names.index(LUFF)
    rests = _points(model, float(Robot(model).tree_coordinates(start)[luff]))
    still = np.zeros(3)
    wanted = Trajectory.from_points((LUFF,), rests[0], rests[1][:, None], *[still[:, None]] * 2)
    unit, robot = np.eye(model.n)[drive], Robot(model)

    def lever(q: FloatArray) -> float:
        return float(robot.tree_rates(q, unit)[luff])

    count = int(np.ceil(rests[0][-1] / _SPACING / 2)) * 2
    times, q = np.linspace(0.0, rests[0][-1], count + 1), start
    rows = list[tuple[FloatArray, FloatArray, FloatArray]]()
    for moment in times:
        angle, rate, acceleration = (float(x[0]) for x in wanted.sample(moment))
        for _ in range(_ITERATIONS):
            q = q - (robot.tree_coordinates(q)[luff] - angle) / lever(q) * unit
        speed = rate / lever(q)
        slope = (lever(q + _STEP * unit) - lever(q - _STEP * unit)) / (2.0 * _STEP)
        bent = (acceleration - slope * speed**2) / lever(q)
        rows.append((q, speed * unit, bent * unit))
    positions, velocities, accelerations = (np.array(part) for part in zip(*rows, strict=True))
    return Motion(model.joint_names, times, positions, velocities, accelerations)
