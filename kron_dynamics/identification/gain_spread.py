# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Propagation of the uncertainty of estimated gains into the covariance of the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kron_dynamics.identification.consistent_fit import Prior, consistent_fit
from kron_dynamics.identification.effort_units import load_efforts
from kron_dynamics.identification.gains import GainFit
from kron_dynamics.identification.least_squares import RANK_TOLERANCE, LeastSquares
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.weighted_fit import WeightedFit
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray


def widened_fit(
    gains: GainFit | None,
    robot: Robot,
    weighted: WeightedFit,
    rows: Rows,
    motions: Sequence[Motion],
    prior: Prior,
    strength: float,
) -> WeightedFit:
    """Return the fit with the uncertainty of the gains added to its covariance.

    Args:
        gains: estimated gains; None if there are none.
        robot: the robot.
        weighted: the fit.
        rows: the rows of the fit.
        motions: the motions of the rows, with gains applied.
        prior: prior of the parameters.
        strength: weight of the prior.
    """
    if gains is None or not len(gains.joints):
        return weighted
    fit = weighted.fit
    inverse = consistent_fit(weighted.data, prior, strength, fit.parameters).covariance
    targets = _targets(gains, robot, rows, motions)
    root = np.sqrt(weighted.weights)
    A, b = _scaled(rows.matrix, root), _scaled(targets, root)
    moved = inverse @ (A.T @ b)
    further = moved @ gains.covariance @ moved.T
    return replace(weighted, fit=replace(fit, covariance=fit.covariance + further))


def widened(
    gains: GainFit | None,
    robot: Robot,
    found: LeastSquares | None,
    rows: Rows,
    motions: Sequence[Motion],
) -> LeastSquares | None:
    """Return the least-squares solution, if any, with its covariance enlarged likewise."""
    if found is None or gains is None or not len(gains.joints):
        return found
    root = np.where(np.isfinite(rows.effort), found.scales, 0.0)
    A, b = _scaled(rows.matrix, root), _scaled(_targets(gains, robot, rows, motions), root)
    scale = np.linalg.norm(A, axis=0)
    scale[scale == 0.0] = np.inf
    moved = np.linalg.lstsq(A / scale, b, rcond=RANK_TOLERANCE)[0] / scale[:, None]
    further = moved @ gains.covariance @ moved.T
    return replace(found, covariance=found.covariance + further)


def _targets(gains: GainFit, robot: Robot, rows: Rows, motions: Sequence[Motion]) -> FloatArray:
    """Return the derivatives of the rows' efforts by the log gains, shape (R, n, u)."""
    efforts = np.nan_to_num(rows.effort + load_efforts(robot, rows, motions))
    targets = np.zeros((*efforts.shape, len(gains.joints)))
    for place, joint in enumerate(gains.joints):
        targets[:, joint, place] = efforts[:, joint]
    return targets


def _scaled(columns: FloatArray, root: FloatArray) -> FloatArray:
    """Return columns, shape (R, n, k), times `root`, shape (R, n), flattened to (R n, k)."""
    return (columns * root[..., None]).reshape(-1, columns.shape[2])
