# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gains of motors whose recorded efforts are currents, by motion with loads that are known.

With y the recorded efforts of a joint, k its gain, w what known loads take and x the unknown
parameters, ``k y = Y x + w``. Where w is zero everywhere, k and x have a common factor unknown.
The remainders that count are those of y, ``y - (Y x + w) / k``, so the noise of y biases no gain.
All gains and x are found together: by turns the consistent x of the gains so far (`weighted_fit`,
hardly held by the description, whose masses must not decide), and a Gauss-Newton step of log k
along which x moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.consistent_fit import Prior, consistent_fit, gram
from kron_dynamics.identification.described_gains import load_efforts
from kron_dynamics.identification.known_load import (
    KnownLoad,
    body_columns,
    placing,
)
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.payload_prior import GYRATION_SHARE
from kron_dynamics.identification.results import Gain
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.weighted_fit import LOOSE, WeightedFit, weighted_fit
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.model.magnitudes import reach_of
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray, IntArray

# Standard deviation of the logarithm of a gain about what the description makes of it: a factor of
# three either way, so that what nothing tells has an interval.
UNKNOWN = 1.0
# A gain cannot be told where its standard deviation is above this share of it.
NOT_TOLD = 0.05
ITERATIONS = 40
LONGEST_STEP = 0.7
# Steps below this share of the standard deviation are those of weights that change, for nothing.
CONVERGED = 0.02
NORMAL_95 = 1.959964


@dataclass(frozen=True, eq=False)
class GainFit:
    """What recorded efforts are multiplied by, and loads with what was unknown of them.

    Attributes:
        joints: those whose gain was estimated, shape (u,).
        factors: gains, 1 where known, shape (n,).
        covariance: of the logarithms of the estimated ones, shape (u, u).
        loads: loads with their inertia, by the loads that have none.
    """

    joints: IntArray
    factors: FloatArray
    covariance: FloatArray
    loads: dict[KnownLoad, KnownLoad]

    def applied(self, motions: Sequence[Motion]) -> list[Motion]:
        """Return motions with efforts in N m or N, and with loads whose inertia is known."""
        return [
            replace(
                motion,
                effort=motion.effort * self.factors,
                loads=tuple(self.loads.get(load, load) for load in motion.loads),
            )
            for motion in motions
        ]

    def told(self, robot: Robot) -> tuple[Gain, ...]:
        """Return the estimated gains with their intervals."""
        found = []
        for place, joint in enumerate(self.joints):
            deviation = float(np.sqrt(self.covariance[place, place]))
            value, wide = float(self.factors[joint]), float(np.exp(NORMAL_95 * deviation))
            low, high = sorted((value / wide, value * wide))
            unit = joint_kind(robot.model.joint_types[joint]).unit('effort')
            name = robot.joint_names[joint]
            found.append(Gain(name, unit, value, low, high, deviation < NOT_TOLD))
        return tuple(found)


def fit_gains(
    robot: Robot,
    rows: Rows,
    motions: Sequence[Motion],
    prior: Prior,
    joints: IntArray,
    factors: FloatArray,
) -> GainFit:
    """Return the gains of joints, by rows of recorded efforts.

    Args:
        robot: the robot as described.
        rows: of the motions, their efforts as recorded.
        motions: some with known loads, some without or with others.
        prior: of the parameters of the rows.
        joints: whose gains are unknown, shape (u,).
        factors: gains to begin with, 1 where known, shape (n,).
    """
    loads = load_efforts(robot, rows, motions)
    recorded = rows.effort + loads
    unknown = tuple(
        dict.fromkeys(load for each in motions for load in each.loads if not load.has_inertia)
    )
    matrix, prior = _with_inertias(robot, rows, motions, prior, unknown)
    x, begun = None, np.log(np.abs(factors[joints]))
    for _ in range(ITERATIONS):
        own = Rows(rows.time, matrix, recorded * factors - loads, rows.group)
        weighted = weighted_fit(own, prior, LOOSE, x)
        x = weighted.fit.parameters
        away = np.log(np.abs(factors[joints])) - begun
        step, covariance = _step(own, loads, weighted, prior, joints, away)
        factors = factors.copy()
        factors[joints] *= np.exp(np.clip(step, -LONGEST_STEP, LONGEST_STEP))
        if np.all(np.abs(step) <= CONVERGED * np.sqrt(np.diag(covariance))):
            break
    else:
        raise ParameterError('the gains do not settle: record longer motion with and without load')
    found = x[len(x) - 6 * len(unknown) :].reshape(-1, 6)
    inertias = {load: load.with_inertia(six) for load, six in zip(unknown, found, strict=True)}
    return GainFit(joints, factors, covariance, inertias)


def _with_inertias(
    robot: Robot,
    rows: Rows,
    motions: Sequence[Motion],
    prior: Prior,
    unknown: Sequence[KnownLoad],
) -> tuple[FloatArray, Prior]:
    """Return the matrix and the prior with six unknown moments of inertia for some loads."""
    columns, scales = [rows.matrix], [prior.scale]
    for load in unknown:
        carried = np.array([load in motion.loads for motion in motions])
        turning = placing(robot, load.link)[:, 4:]
        own = rows.matrix[:, :, body_columns(robot, load.link)] @ turning
        columns.append(own * carried[rows.group.astype(np.int64), None, None])
        gyration = GYRATION_SHARE * reach_of(robot.model)
        scales.append(np.full(6, load.payload.mass * gyration**2))
    count = 6 * len(unknown)
    return np.concatenate(columns, axis=2), Prior(
        prior.bodies,
        np.concatenate([prior.positive, np.zeros(count, dtype=bool)]),
        np.concatenate([prior.location, np.zeros(count)]),
        np.concatenate(scales),
        np.concatenate([prior.weight, np.ones(count)]),
        np.concatenate([prior.follows, np.zeros(count, dtype=bool)]),
    )


def _step(
    rows: Rows,
    loads: FloatArray,
    weighted: WeightedFit,
    prior: Prior,
    joints: IntArray,
    away: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return a Gauss-Newton step of log k, shape (u,), and its covariance, (u, u).

    Args:
        rows: efforts by the gains so far.
        loads: what known loads take of them, shape (R, n), N m or N.
        weighted: the parameters at these gains, p of them.
        prior: of these.
        joints: whose gains are unknown, shape (u,).
        away: how far log k is from where it began, shape (u,).
    """
    x = weighted.fit.parameters
    count, modelled = len(x), rows.matrix @ x + loads
    # Minus the slopes of the remainders of y, times k: by x, then by log k.
    slopes = np.zeros((*modelled.shape, len(joints)))
    slopes[:, joints, range(len(joints))] = -modelled[:, joints]
    columns = np.concatenate([rows.matrix, slopes], axis=2)
    data = gram(columns, rows.effort - rows.matrix @ x, weighted.weights)
    inverse = consistent_fit(weighted.data, prior, LOOSE, x).covariance
    across = data.matrix[count:, :count] @ inverse
    information = data.matrix[count:, count:] - across @ data.matrix[:count, count:]
    information = 0.5 * (information + information.T) + np.eye(len(joints)) / UNKNOWN**2
    covariance = np.linalg.inv(information)
    step = covariance @ (data.vector[count:] - away / UNKNOWN**2)
    # Remainders that are correlated in time count as fewer, as in `weighted_fit`.
    further = gram(columns, rows.effort, weighted.weights * (weighted.correlation - 1.0)).matrix
    spread = np.concatenate([-covariance @ across, covariance], axis=1)
    return step, covariance + spread @ further @ spread.T
