# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Units and signs of recorded efforts, found by comparison with the described efforts.

A negative gain is an effort of the opposite sign; a gain far from 1 with a high correlation is one
in other units, as of motor currents.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.identification.friction import BASIC_TERMS
from kron_dynamics.identification.known_load import carried_parameters
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.rows import Rows
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Magnitude of the correlation with the described efforts from which a gain has its sign, as the
# first value of an estimate. A note about the sign needs more, see below.
LEAST_CORRELATION = 0.1
# Recorded efforts are said to be in another unit, or of the opposite sign, only if the magnitude
# of their correlation with the described ones is above `ALIKE`: in another unit, if they also
# differ by more than the factor `OTHER_UNIT` either way; of the opposite sign alone, if by less.
OTHER_UNIT = 2.0
ALIKE = 0.7


def load_efforts(robot: Robot, rows: Rows, motions: Sequence[Motion]) -> FloatArray:
    """Return the efforts that known loads cause in each row, shape (R, n), N m or N.

    Args:
        robot: the robot.
        rows: regressor rows of the motions, in their order.
        motions: the motions, with their known loads.
    """
    carried = np.array([carried_parameters(robot, motion.loads) for motion in motions])
    count = carried.shape[1]
    own = carried[rows.group.astype(np.int64)]
    return np.asarray(np.einsum('rnp,rp->rn', rows.matrix[:, :, :count], own))


def described_gains(
    robot: Robot, rows: Rows, motions: Sequence[Motion], terms: Sequence[str] = BASIC_TERMS
) -> tuple[FloatArray, FloatArray]:
    """Return the gains that scale recorded efforts to the described ones, friction projected out.

    Args:
        robot: the robot as described.
        rows: regressor rows of the motions.
        motions: the motions, with their known loads.
        terms: friction terms of the rows.

    Returns:
        The gains, shape (n,), 1 where nothing is recorded; and the correlation of recorded and
        described efforts, shape (n,).
    """
    inertial = robot.inertial_parameters()
    count = len(inertial)
    loads = load_efforts(robot, rows, motions)
    described = rows.matrix[:, :, :count] @ inertial + loads
    factors, correlation = np.ones(robot.n), np.zeros(robot.n)
    for joint in range(robot.n):
        known = np.isfinite(rows.effort[:, joint])
        if not known.any():
            continue
        recorded = (rows.effort + loads)[known, joint]
        first = count + joint * len(terms)
        friction = rows.matrix[known, joint, first : first + len(terms)]
        both = np.column_stack([recorded, described[known, joint]])
        y, m = (both - friction @ np.linalg.lstsq(friction, both, rcond=None)[0]).T
        size = float(np.linalg.norm(y) * np.linalg.norm(m))
        if size > 0.0:
            correlation[joint] = (y @ m) / size
            sign = -1.0 if correlation[joint] < -LEAST_CORRELATION else 1.0
            factors[joint] = sign * float(np.linalg.norm(m) / np.linalg.norm(y))
    return factors, correlation


def unit_notes(
    robot: Robot, rows: Rows, motions: Sequence[Motion], terms: Sequence[str]
) -> list[str]:
    """Return a line for each joint whose efforts seem to be in another unit, one for all signs.

    Args:
        robot: the robot as described.
        rows: regressor rows of the motions.
        motions: the motions, with their known loads.
        terms: friction terms of the rows.
    """
    factors, correlation = described_gains(robot, rows, motions, terms)
    notes = []
    opposite = (correlation < -ALIKE) & (factors > -OTHER_UNIT) & (factors < -1.0 / OTHER_UNIT)
    if opposite.any():
        names = ', '.join(f"'{robot.joint_names[k]}'" for k in np.flatnonzero(opposite))
        notes.append(
            f'joints {names}: efforts are recorded with the opposite sign (--scale '
            f'JOINT:effort=-1), or gravity is opposite to the described one (--gravity)'
        )
    for joint, name in enumerate(robot.joint_names):
        if opposite[joint]:
            continue
        other = not 1.0 / OTHER_UNIT < factors[joint] < OTHER_UNIT
        if other and abs(correlation[joint]) > ALIKE:
            notes.append(
                f"joint '{name}': the description's efforts are {factors[joint]:.3g} times those "
                f'recorded: currents or another unit (--scale), or other masses? Motion with a '
                f'known load determines gains: --estimate-gains, --loaded, --load'
            )
    return notes
