# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Joints at standstill, whose efforts are uninformative: static friction is undetermined.

Static friction takes any value up to its level, which a model of sliding friction cannot predict,
least of all in the seconds before and after a motion. These efforts are excluded from training
and validation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.identification.motion import Motion
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, FloatArray

# A joint stands still while less than this share of its regularised Coulomb friction acts.
LEAST_FRICTION = 0.1
# Duration of a standstill, s, from which the joint counts as at rest: reversals are shorter.
LEAST_REST = 0.5


def standing_joints(robot: Robot, motions: Sequence[Motion]) -> BoolArray:
    """Return whether each joint stands still in all motions, shape (n,).

    Args:
        robot: the robot.
        motions: all recorded motions.
    """
    acting = np.concatenate([_acting(robot, motion) for motion in motions])
    return np.asarray(np.sqrt(np.mean(acting**2, axis=0)) < LEAST_FRICTION)


def without_rest(robot: Robot, motions: Sequence[Motion]) -> list[Motion]:
    """Return motions with the efforts of joints at rest replaced by NaN.

    Args:
        robot: the robot.
        motions: the recorded motions.
    """
    return [
        replace(motion, effort=np.where(_at_rest(robot, motion), np.nan, motion.effort))
        for motion in motions
    ]


def _at_rest(robot: Robot, motion: Motion) -> BoolArray:
    """Return whether each joint is at rest, by sample, shape (N, n)."""
    slow = _acting(robot, motion) < LEAST_FRICTION
    least = LEAST_REST / motion.step
    rest = np.zeros(slow.shape, dtype=bool)
    for joint in range(robot.n):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], slow[:, joint], [False]])))
        for first, last in edges.reshape(-1, 2):
            rest[first:last, joint] = last - first >= least
    return rest


def _acting(robot: Robot, motion: Motion) -> FloatArray:
    """Return the share of Coulomb friction that acts on each joint, 0 to 1, shape (N, n)."""
    passage = friction_coefficients(robot.model)[:, 2]
    return np.asarray(np.abs(np.tanh(motion.qd / passage)))
