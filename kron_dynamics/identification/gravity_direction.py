# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A base that is not level: regressor of small components of gravity across the described one."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Angle from which gravity counts as described wrongly, rad: no base stands so far from level.
WRONG_ANGLE = np.deg2rad(6.0)
TILT_NAMES = ('gravity across, first', 'gravity across, second')


def tilt_axes(gravity: FloatArray) -> FloatArray:
    """Return two unit vectors perpendicular to gravity, near axes of the base, shape (2, 3).

    Args:
        gravity: described gravity in base axes, shape (3,), m/s^2, not zero.
    """
    down = gravity / np.linalg.norm(gravity)
    first = np.eye(3)[int(np.argmin(np.abs(down)))]
    first = first - (first @ down) * down
    first /= np.linalg.norm(first)
    second = np.cross(down, first)
    return np.array([first, second * np.sign(second[np.argmax(np.abs(second))])])


def tilted_gravity(gravity: FloatArray, across: FloatArray) -> FloatArray:
    """Return gravity of the described magnitude with given perpendicular components, shape (3,).

    Args:
        gravity: described gravity, shape (3,), m/s^2.
        across: components along `tilt_axes`, shape (2,), m/s^2.
    """
    if not across.any():
        return gravity
    size = float(np.linalg.norm(gravity))
    left = np.sqrt(max(size**2 - float(across @ across), 0.0))
    return np.asarray(gravity / size * left + across @ tilt_axes(gravity))


def tilt_notes(gravity: FloatArray, across: FloatArray) -> list[str]:
    """Return a line if gravity is so far from the described one that it should be given.

    Args:
        gravity: described gravity, shape (3,), m/s^2, not zero.
        across: components along `tilt_axes`, shape (2,), m/s^2.
    """
    found = tilted_gravity(gravity, across)
    found = found * np.linalg.norm(gravity) / np.linalg.norm(found)
    angle = float(np.arccos(np.clip(found @ gravity / (gravity @ gravity), -1.0, 1.0)))
    if angle < WRONG_ANGLE:
        return []
    return [
        f'gravity is {np.rad2deg(angle):.0f} deg off the described one, and such a tilt is '
        f'estimated with the described masses: specify it, for instance --gravity '
        f'{" ".join(f"{value:.3g}" for value in found)}'
    ]


def tilt_regressor(robot: Robot, q: FloatArray) -> FloatArray:
    """Return the efforts of the described masses per m/s^2 along `tilt_axes`, shape (N, n, 2).

    The described masses keep the problem linear; if they are 10 % too light, the estimated tilt
    is 10 % too large, an error of second order.

    Args:
        robot: the robot as described, with gravity.
        q: positions, shape (N, n), rad or m.
    """
    return np.stack([lying.gravity_vector(q) for lying in _lying(robot.model)], axis=2)


@lru_cache(maxsize=4)
def _lying(model: RobotModel) -> tuple[Robot, ...]:
    """Return two copies of the robot with gravity of 1 m/s^2 along each of `tilt_axes`."""
    return tuple(Robot(replace(model, gravity=axis)) for axis in tilt_axes(model.gravity))
