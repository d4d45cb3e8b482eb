# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Modes predicted by the model at a pose with held joints, and their effect on the channels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.modes.mode_tracking import Vibrations
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class PredictedModes:
    """Modes of a robot with held joints, in the order of its m modal coordinates.

    Attributes:
        rest: all coordinates at static equilibrium, shape (n,).
        omega: natural frequencies without damping, shape (m,), rad/s.
        ratios: damping ratios, shape (m,).
        shapes: mode shapes as columns with modal mass 1, shape (m, m).
        drive: derivatives of the modal forces by the joints' accelerations, shape (m, n_j);
            transposed, of the joints' efforts by the modal accelerations.
        tip: derivatives of a link's linear acceleration by the modal accelerations, (m, 3).
    """

    rest: FloatArray
    omega: FloatArray
    ratios: FloatArray
    shapes: FloatArray
    drive: FloatArray
    tip: FloatArray


def predicted_modes(robot: Robot, q: FloatArray, frame: str) -> PredictedModes:
    """Return the modes about static equilibrium at a pose, sorted like the modal coordinates.

    Args:
        robot: robot with flexible links.
        q: positions of the joints, shape (n_j,), rad or m.
        frame: link whose acceleration is used.

    Raises:
        ModelError: the links buckle under their weight.
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
    """Return groups of indices of modes that are identified together: within an octave each.

    Args:
        omega: natural frequencies, shape (m,), rad/s.
    """
    order = [int(k) for k in np.argsort(omega)]
    groups = [order[:1]]
    for k in order[1:]:
        if omega[k] > 2.0 * omega[groups[-1][0]]:
            groups.append([])
        groups[-1].append(k)
    return groups
