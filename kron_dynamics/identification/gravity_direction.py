# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A base that does not stand level: efforts by gravity that points a little elsewhere."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

TILT_NAMES = ('gravity across, first', 'gravity across, second')


def tilt_axes(gravity: FloatArray) -> FloatArray:
    """Return two unit vectors across gravity, those of the base's axes as far as they are, (2, 3).

    Args:
        gravity: of the description, in base axes, shape (3,), m/s^2, not zero.
    """
    down = gravity / np.linalg.norm(gravity)
    first = np.eye(3)[int(np.argmin(np.abs(down)))]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    second = np.cross(down, first)
    return np.array([first, second * np.sign(second[np.argmax(np.abs(second))])])


def tilted_gravity(gravity: FloatArray, across: FloatArray) -> FloatArray:
    """Return gravity as strong as described that has given components across it, shape (3,).

    Args:
        gravity: of the description, shape (3,), m/s^2.
        across: along `tilt_axes`, shape (2,), m/s^2.
    """
    if not across.any():
        return gravity
    size = float(np.linalg.norm(gravity))
    left = np.sqrt(max(size**2 - float(across @ across), 0.0))
    return np.asarray(gravity / size * left + across @ tilt_axes(gravity))


def tilt_regressor(robot: Robot, q: FloatArray) -> FloatArray:
    """Return efforts of the described weight per m/s^2 of gravity across it, shape (N, n, 2).

    Masses that are described a tenth too light make the tilt a tenth too large: a matter of
    second order.

    Args:
        robot: the robot as described, with gravity.
        q: positions, shape (N, n), rad or m.
    """
    return np.stack([lying.gravity_vector(q) for lying in _lying(robot.model)], axis=2)


@lru_cache(maxsize=4)
def _lying(model: RobotModel) -> tuple[Robot, ...]:
    """Return the robot with gravity of 1 m/s^2 along either axis instead."""
    return tuple(Robot(replace(model, gravity=axis)) for axis in tilt_axes(model.gravity))
