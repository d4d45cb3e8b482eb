# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes that the model predicts at a pose, with its joints held, and how they show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.modes.mode_tracking import Vibrations
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class PredictedModes:
    """Modes of a robot whose joints are held, named after modal coordinates, m of them.

    Attributes:
        rest: the coordinates at rest, shape (n,).
        omega: natural frequencies without damping, shape (m,), rad/s.
        ratios: damping ratios, shape (m,).
        shapes: columns of modal mass 1, shape (m, m).
        drive: what joints' accelerations do in each mode, shape (m, n_j); and each mode's
            acceleration in the joints' efforts.
        tip: linear acceleration of a link by that of each mode, shape (m, 3).
    """

    rest: FloatArray
    omega: FloatArray
    ratios: FloatArray
    shapes: FloatArray
    drive: FloatArray
    tip: FloatArray


def predicted_modes(robot: Robot, q: FloatArray, frame: str) -> PredictedModes:
    """Return the modes about rest at a pose, each in the place of its modal coordinate.

    Args:
        robot: with flexible links.
        q: positions of the joints, shape (n_j,), rad or m.
        frame: link whose acceleration is looked at.

    Raises:
        ModelError: the links do not carry their weight.
    """
    count = robot.model.joint_count
    full, rest = quasi_static_equilibrium(robot, q), np.zeros(robot.n)
    linear = robot.linearize(full, rest, rest)
    found = Vibrations.of(linear, count)
    found, _ = found.in_order_of(found.coordinate_shapes())
    jacobian = robot.frame(frame).jacobian(full)
    return PredictedModes(
        full,
        2.0 * np.pi * found.frequencies,
        found.damping_ratios,
        found.shapes,
        found.shapes.T @ linear.mass[count:, :count],
        (jacobian[:3, count:] @ found.shapes).T,
    )


def groups_of(omega: FloatArray) -> list[list[int]]:
    """Return places of modes that are near enough to be looked for together.

    Args:
        omega: their frequencies, shape (m,), rad/s.
    """
    order = [int(k) for k in np.argsort(omega)]
    groups = [order[:1]]
    for k in order[1:]:
        if omega[k] > 2.0 * omega[groups[-1][0]]:
            groups.append([])
        groups[-1].append(k)
    return groups
