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

# A joint stands still while less than this share of its regularised Coulomb friction acts, whose
# transition velocity is 1 % of the velocity limit, and at most the second number, rad/s or m/s:
# a description may have 1000 where it knows no limit.
LEAST_FRICTION = 0.1
LARGEST_TRANSITION = 0.1
STANDSTILL = '0.1 % of its velocity limit, at most 0.01 rad/s or m/s'
# Duration of a standstill, s, from which the joint counts as at rest: reversals are shorter.
LEAST_REST = 0.5
# Duration of motion, s, from which a joint does not always stand still.
LEAST_MOTION = 1.0
# Described friction is not that of a recording if 95 % of the speeds are below this multiple of
# its transition velocity.
SLOWEST = 2.0


def standing_joints(robot: Robot, motions: Sequence[Motion]) -> BoolArray:
    """Return whether each joint stands still in all motions, or for all but a second, shape (n,).

    Args:
        robot: the robot.
        motions: all recorded motions.
    """
    moving = np.zeros(robot.n)
    for motion in motions:
        power = _acting(robot, motion) ** 2
        # By root mean squares of short stretches: noise of velocities now and then is no motion.
        count = max(1, round(len(power) * motion.step / LEAST_REST))
        for part in np.array_split(power, count):
            moving += len(part) * motion.step * (part.mean(axis=0) >= LEAST_FRICTION**2)
    total = sum(len(motion.time) * motion.step for motion in motions)
    return np.asarray(moving < min(LEAST_MOTION, 0.5 * total))


def transition_notes(robot: Robot, motions: Sequence[Motion]) -> list[str]:
    """Return a note for each joint whose velocity limit is far above all recorded speeds.

    Args:
        robot: the robot.
        motions: recorded motion, efforts NaN where joints are at rest.
    """
    notes = []
    transition = friction_coefficients(robot.model)[:, 2]
    for joint, name in enumerate(robot.joint_names):
        speeds = np.concatenate(
            [np.abs(each.qd[np.isfinite(each.effort[:, joint]), joint]) for each in motions]
        )
        limit = robot.model.velocity_limit[joint]
        if len(speeds) and np.isfinite(limit):
            fast = float(np.percentile(speeds, 95.0))
            if fast < SLOWEST * transition[joint]:
                notes.append(
                    f"joint '{name}': its velocity limit of {limit:g} is far above the recorded "
                    f'speeds ({fast:.3g}); Coulomb friction of the URDF, regularised over 1 % of '
                    f'the limit, cannot be told from viscous friction'
                )
    return notes


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
    passage = np.minimum(friction_coefficients(robot.model)[:, 2], LARGEST_TRANSITION)
    return np.asarray(np.abs(np.tanh(motion.qd / passage)))
