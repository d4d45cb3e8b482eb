# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joints at rest, whose efforts say nothing: static friction may be anything up to its level.

A model of sliding friction cannot explain them, least of all for the seconds before and after a
motion. They neither train it nor are they compared with what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.identification.motion import Motion
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, FloatArray

# A joint on which less than this share of its Coulomb friction acts stands still.
LEAST_FRICTION = 0.1
# It is at rest when it stands so long, s: no reversal takes as long.
LEAST_REST = 0.5


def standing_joints(robot: Robot, motions: Sequence[Motion]) -> BoolArray:
    """Return which joints stand still all the time, shape (n,).

    Args:
        robot: the robot.
        motions: all of its motion.
    """
    acting = np.concatenate([_acting(robot, motion) for motion in motions])
    return np.asarray(np.sqrt(np.mean(acting**2, axis=0)) < LEAST_FRICTION)


def without_rest(robot: Robot, motions: Sequence[Motion]) -> list[Motion]:
    """Return motions without the efforts of joints at rest.

    Args:
        robot: the robot.
        motions: as recorded.
    """
    return [
        replace(motion, effort=np.where(_at_rest(robot, motion), np.nan, motion.effort))
        for motion in motions
    ]


def _at_rest(robot: Robot, motion: Motion) -> BoolArray:
    """Return when each joint is at rest, shape (N, n)."""
    slow = _acting(robot, motion) < LEAST_FRICTION
    least = LEAST_REST / motion.step
    rest = np.zeros(slow.shape, dtype=bool)
    for joint in range(robot.n):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], slow[:, joint], [False]])))
        for first, last in edges.reshape(-1, 2):
            rest[first:last, joint] = last - first >= least
    return rest


def _acting(robot: Robot, motion: Motion) -> FloatArray:
    """Return the share of Coulomb friction that acts on each joint, shape (N, n)."""
    passage = friction_coefficients(robot.model)[:, 2]
    return np.asarray(np.abs(np.tanh(motion.qd / passage)))
