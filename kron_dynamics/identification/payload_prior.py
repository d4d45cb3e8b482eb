# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Prior means and standard deviations for the estimation of a payload."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.dynamics.regressor import PARAMETERS_PER_BODY
from kron_dynamics.identification.rows import Rows
from kron_dynamics.model.magnitudes import reach_of
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Relative standard deviation of described inertial parameters, with motion without load and
# without: only that motion can correct the description.
LEARNT_SHARE = 0.5
TRUSTED_SHARE = 0.05
# Expected radius of gyration of a payload, as a share of the robot's reach.
GYRATION_SHARE = 0.1
# Prior standard deviation of gear friction, as a share of the transmitted effort.
LOAD_FRICTION = 0.1
_UPPER = np.triu_indices(3)


def model_prior(
    robot: Robot, terms: Sequence[str], rows: Rows, learnt: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the prior means and standard deviations of all parameters, shape (p,) each.

    Args:
        robot: the robot.
        terms: friction terms.
        rows: rows whose RMS efforts scale the friction deviations.
        learnt: whether motion without load is available to correct the model.
    """
    share = LEARNT_SHARE if learnt else TRUSTED_SHARE
    inertial = robot.inertial_parameters()
    reach = reach_of(robot.model)
    deviations = []
    for own in inertial[: len(inertial) - robot.n].reshape(-1, PARAMETERS_PER_BODY):
        mass = max(own[0], 0.0)
        # Distance of the mass from the joint, but not less than a share of the reach.
        arm = np.linalg.norm(own[1:4]) / mass if mass else 0.0
        radius = max(arm, np.sqrt(max(own[[4, 7, 9]].sum(), 0.0) / mass) if mass else 0.0)
        radius = max(radius, GYRATION_SHARE * reach)
        deviations += [mass, *[mass * radius] * 3, *[mass * radius**2] * 6]
    model = robot.model
    armature = inertial[len(inertial) - robot.n :]
    deviation = share * np.concatenate([deviations, np.maximum(armature, 1e-12)])
    known = np.isfinite(rows.effort)
    squares = np.where(known, rows.effort, 0.0) ** 2
    effort = np.sqrt(squares.sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    effort = np.where(effort > 0.0, effort, 1.0)
    speed = np.where(np.isfinite(model.velocity_limit), model.velocity_limit, 1.0)
    expected = {'coulomb': model.friction, 'viscous': model.damping}
    friction_mean, friction_deviation = [], []
    for joint in range(robot.n):
        for term in terms:
            unit = {'viscous': 1.0 / speed[joint], 'cubic': 1.0 / speed[joint] ** 3}.get(term, 1.0)
            level = LOAD_FRICTION if term == 'load' else effort[joint]
            mean = float(expected[term][joint]) if term in expected else 0.0
            friction_mean.append(mean)
            friction_deviation.append(max(level * unit, abs(mean)))
    return (
        np.concatenate([inertial, friction_mean]),
        np.concatenate([deviation, friction_deviation]),
    )


def point_inertia(center: FloatArray) -> FloatArray:
    """Return xx, xy, xz, yy, yz, zz, shape (6,), of the inertia of 1 kg at `center`, m^2."""
    full = center @ center * np.eye(3) - np.outer(center, center)
    return np.asarray(full[_UPPER])


def point_inertia_slope(center: FloatArray) -> FloatArray:
    """Return the derivatives of `point_inertia` by the coordinates of `center`, shape (6, 3)."""
    columns = []
    for axis in np.eye(3):
        full = 2.0 * (center @ axis) * np.eye(3) - np.outer(center, axis) - np.outer(axis, center)
        columns.append(full[_UPPER])
    return np.column_stack(columns)
