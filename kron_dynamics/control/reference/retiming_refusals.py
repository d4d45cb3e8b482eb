# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of paths that cannot be retimed: limit, joint and position on the path."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.reference.path_sections import PathSection
from kron_dynamics.control.reference.path_terms import QUANTITIES
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Largest share of an effort limit that weight and friction may use.
_STANDING = 0.9999


def refuse_standing(
    robot: Robot, section: PathSection, s: FloatArray, weight: FloatArray, limit: FloatArray
) -> None:
    """Refuse weight and friction, shape (K, n), at positions s, (K,), that leave no effort.

    Raises:
        TrajectoryError: weight and friction use all of an effort limit; names joint, position on
            the path and limit.
    """
    share = np.abs(weight) / limit
    at, joint = np.unravel_index(int(share.argmax()), share.shape)
    if share[at, joint] >= _STANDING:
        unit = joint_kind(robot.model.joint_types[joint]).unit('effort')
        raise TrajectoryError(
            f"joint '{robot.joint_names[joint]}': effort {weight[at, joint]:.6g} {unit} holds "
            f'against weight and friction {section.place(float(s[at]))}, expected less than '
            f'{100.0 * _STANDING:g} % of the limit {limit[joint]:.6g} {unit}'
        )


def unmet_limit(
    robot: Robot, section: PathSection, places: FloatArray, used: FloatArray
) -> TrajectoryError:
    """Return the error for a limit that is violated at any speed.

    Args:
        robot: the machine.
        section: path section of the motion.
        places: s at the midpoints of the pieces, shape (N,).
        used: ratios to the limits, shape (4, N, n).
    """
    quantity, piece, joint = np.unravel_index(int(used.argmax()), used.shape)
    return TrajectoryError(
        f"joint '{robot.joint_names[joint]}': no speed was found that keeps the limit of the "
        f'{QUANTITIES[quantity]} {section.place(float(places[piece]))}: it needs '
        f'{used.max():.3g} of it'
    )


def refuse_positions(robot: Robot, sections: list[PathSection], tolerance: float) -> None:
    """Refuse a path that violates a position limit.

    Raises:
        TrajectoryError: a position limit is violated; names joint, position on the path and limit.
    """
    model = robot.model
    for section in sections:
        found = section.beyond(model.position_lower - tolerance, model.position_upper + tolerance)
        if found is not None:
            joint, got, at, bound = found
            unit = joint_kind(model.joint_types[joint]).unit('position')
            raise TrajectoryError(
                f"joint '{robot.joint_names[joint]}': the path is at {got:.6g} {unit} "
                f'{section.place(at)}, beyond the position limit '
                f'{bound - np.copysign(tolerance, got - bound):.6g} {unit}'
            )
