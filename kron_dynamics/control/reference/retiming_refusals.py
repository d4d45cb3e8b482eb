# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Why a path cannot be retimed: which limit of which joint, and where."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.reference.path_sections import PathSection
from kron_dynamics.control.reference.path_terms import QUANTITIES
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Share of an effort limit that standing still may take.
_STANDING = 0.9999


def refuse_standing(
    robot: Robot, section: PathSection, s: FloatArray, weight: FloatArray, limit: FloatArray
) -> None:
    """Refuse weight and friction, shape (K, n), at places s, (K,), that leave no effort.

    Raises:
        TrajectoryError: they take all that a limit gives; names joint, place and limit.
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
    """Return the error that no speed keeps a limit.

    Args:
        robot: the machine.
        section: what it moves along.
        places: s in the middles of the pieces, shape (N,).
        used: shares of the limits, shape (4, N, n).
    """
    quantity, piece, joint = np.unravel_index(int(used.argmax()), used.shape)
    return TrajectoryError(
        f"joint '{robot.joint_names[joint]}': no speed was found that keeps the limit of the "
        f'{QUANTITIES[quantity]} {section.place(float(places[piece]))}: it needs '
        f'{used.max():.3g} of it'
    )


def refuse_positions(robot: Robot, sections: list[PathSection], tolerance: float) -> None:
    """Refuse a path that leaves a position limit.

    Raises:
        TrajectoryError: it does; names joint, place and limit.
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
