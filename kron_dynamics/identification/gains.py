# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Effort gains of motors that record currents, from motion with known loads.

With y the recorded efforts of a joint, k its gain, w the efforts of known loads and x the unknown
parameters, ``k y = Y x + w``. If w is zero everywhere, k and x are known up to a common factor.
The residuals are ``y - (Y x + w) / k``, in units of y, so that the noise of y does not bias the
gains. All gains and x are estimated together, alternating between the consistent x for the current
gains (`weighted_fit`, with a weak prior, since described masses must not decide the gains) and a
Gauss-Newton step of log k with x eliminated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.consistent_fit import Prior, consistent_fit, gram
from kron_dynamics.identification.effort_units import load_efforts
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

# Prior standard deviation of the logarithm of a gain about its initial guess: a factor of three
# either way, so that the interval of an unidentifiable gain is finite.
UNKNOWN = 1.0
# A gain is identifiable if its relative standard deviation is below this.
NOT_TOLD = 0.05
ITERATIONS = 40
# Largest step of a log gain: a factor of two.
LONGEST_STEP = 0.7
# The iteration ends at steps below this share of the standard deviation: smaller ones are caused
# by changes of the robust weights.
CONVERGED = 0.02
# Half of a 95 % interval in standard deviations.
NORMAL_95 = 1.959964


@dataclass(frozen=True, eq=False)
class GainFit:
    """Estimated gains of efforts and inertias of loads.

    Attributes:
        joints: indices of the joints whose gain was estimated, shape (u,).
        factors: gains that multiply the recorded efforts, 1 where known, shape (n,).
        covariance: covariance of the logarithms of the estimated gains, shape (u, u).
        loads: maps each load without inertia to the same load with its estimated inertia.
    """

    joints: IntArray
    factors: FloatArray
    covariance: FloatArray
    loads: dict[KnownLoad, KnownLoad]

    def applied(self, motions: Sequence[Motion]) -> list[Motion]:
        """Return the motions with efforts in N m or N, and with loads whose inertia is known."""
        return [
            replace(
                motion,
                effort=motion.effort * self.factors,
                loads=tuple(self.loads.get(load, load) for load in motion.loads),
            )
            for motion in motions
        ]

    def reported(self, robot: Robot) -> tuple[Gain, ...]:
        """Return the estimated gains with their 95 % intervals."""
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
    """Return the gains of joints and the unknown inertias of loads.

    Args:
        robot: the robot as described.
        rows: regressor rows of the motions, with efforts as recorded.
        motions: some with known loads, some without or with others.
        prior: prior of the parameters of the rows.
        joints: indices of the joints with unknown gains, shape (u,).
        factors: initial guess of the gains, 1 where known, shape (n,).

    Raises:
        ParameterError: the iteration does not converge.
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
        raise ParameterError(
            'the gains do not converge: record longer motion with and without load'
        )
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
    """Return matrix and prior, extended by the six moments of inertia of each unknown load."""
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
    """Return a Gauss-Newton step of log k, shape (u,), and its covariance, shape (u, u).

    Args:
        rows: rows with efforts scaled by the current gains.
        loads: efforts of known loads, shape (R, n), N m or N.
        weighted: the fit of the p parameters at these gains.
        prior: prior of these parameters.
        joints: indices of the joints with unknown gains, shape (u,).
        away: log k minus its initial guess, shape (u,).
    """
    x = weighted.fit.parameters
    count, modelled = len(x), rows.matrix @ x + loads
    # Negative derivatives of the residuals of y, times k: by x, then by log k.
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
    # Residuals that are correlated in time carry less information, as in `weighted_fit`.
    further = gram(columns, rows.effort, weighted.weights * (weighted.correlation - 1.0)).matrix
    spread = np.concatenate([-covariance @ across, covariance], axis=1)
    return step, covariance + spread @ further @ spread.T
