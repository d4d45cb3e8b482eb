# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Bench reclaiming: travel to the face, sweep across it, step down, sweep back."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control import point_to_point
from kron_dynamics.demo.motion import (
    RATED_ACCELERATION,
    VELOCITY_SHARE,
    Motion,
    require_joints,
)
from kron_dynamics.model import RobotModel
from kron_dynamics.typing import ArrayLike

# Length of each joint's move, m or rad: small, so that the motion takes about a minute.
DISTANCE = {'travel': 1.0, 'slew': 0.08, 'luff': 0.008}
# Joint and direction of the consecutive moves.
_MOVES = (('travel', 1.0), ('slew', 1.0), ('luff', -1.0), ('slew', -1.0))


def bench_reclaiming(model: RobotModel, start: ArrayLike) -> Motion:
    """Return the motion that reclaims one bench, as fast as the machine's limits allow.

    Args:
        model: a machine with joints `travel`, `slew` and `luff`.
        start: start position, shape (n,), rad or m.

    Raises:
        ParameterError: the machine lacks one of these joints.
    """
    require_joints(model, ('travel', 'slew', 'luff'))
    times, positions = [0.0], [np.array(start, dtype=np.float64)]
    for joint, direction in _MOVES:
        goal = positions[-1].copy()
        goal[model.joint_names.index(joint)] += direction * DISTANCE[joint]
        duration = point_to_point(
            positions[-1],
            goal,
            VELOCITY_SHARE * model.velocity_limit,
            np.full(model.n, RATED_ACCELERATION[joint]),
        )
        times.append(times[-1] + duration)
        positions.append(goal)
    rest = np.zeros((len(times), model.n))
    return Motion(model.joint_names, np.array(times), np.array(positions), rest, rest)
