# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The structure of a model together with the gains and loads that it is found with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.consistent_fit import Prior, consistent_fit
from kron_dynamics.identification.gains import (
    GainFit,
    described_gains,
    fit_gains,
    load_efforts,
)
from kron_dynamics.identification.least_squares import RANK_TOLERANCE, LeastSquares
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.prior import prior_of
from kron_dynamics.identification.results import Gain
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.selection import choose_structure, usual_values
from kron_dynamics.identification.structure import Structure, average_width
from kron_dynamics.identification.weighted_fit import WeightedFit
from kron_dynamics.messages import clipped, listed
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray, IntArray

# Described efforts that are this many times those recorded, or the other way round, and correlated
# with them by this much at least, are in another unit.
OTHER_UNIT = 2.0
ALIKE = 0.7


@dataclass(frozen=True, eq=False)
class Calibration:
    """How recorded efforts become those of a model.

    Attributes:
        structure: of the model.
        choices: a line for each choice of the structure that paid.
        gains: what efforts are multiplied by, and loads; None where nothing of them is unknown.
    """

    structure: Structure
    choices: tuple[str, ...]
    gains: GainFit | None

    def applied(self, motions: Sequence[Motion]) -> list[Motion]:
        """Return motions with efforts in N m or N, and with loads whose inertia is known."""
        return list(motions) if self.gains is None else self.gains.applied(motions)

    def told(self, robot: Robot) -> tuple[Gain, ...]:
        """Return the estimated gains."""
        return () if self.gains is None else self.gains.told(robot)

    def widened_fit(
        self,
        robot: Robot,
        weighted: WeightedFit,
        rows: Rows,
        motions: Sequence[Motion],
        prior: Prior,
        strength: float,
    ) -> WeightedFit:
        """Return a fit whose covariance has the uncertainty of the gains.

        Args:
            robot: the robot.
            weighted: the fit.
            rows: what it is of.
            motions: what these are of, with `applied`.
            prior: of the parameters.
            strength: of the prior.
        """
        if self.gains is None or not len(self.gains.joints):
            return weighted
        fit = weighted.fit
        inverse = consistent_fit(weighted.data, prior, strength, fit.parameters).covariance
        targets = self._targets(robot, rows, motions)
        root = np.sqrt(weighted.weights)
        A, b = _scaled(rows.matrix, root), _scaled(targets, root)
        moved = inverse @ (A.T @ b)
        further = moved @ self.gains.covariance @ moved.T
        return replace(weighted, fit=replace(fit, covariance=fit.covariance + further))

    def widened(
        self, robot: Robot, found: LeastSquares | None, rows: Rows, motions: Sequence[Motion]
    ) -> LeastSquares | None:
        """Return least squares likewise, if there are any; see `widened_fit`."""
        if found is None or self.gains is None or not len(self.gains.joints):
            return found
        noise = np.where(np.isfinite(found.noise), found.noise, 1.0)
        root = np.sqrt(np.where(np.isfinite(rows.effort), found.weights, 0.0)) / noise
        A, b = _scaled(rows.matrix, root), _scaled(self._targets(robot, rows, motions), root)
        scale = np.linalg.norm(A, axis=0)
        scale[scale == 0.0] = np.inf
        moved = np.linalg.lstsq(A / scale, b, rcond=RANK_TOLERANCE)[0] / scale[:, None]
        further = moved @ self.gains.covariance @ moved.T
        return replace(found, covariance=found.covariance + further)

    def _targets(self, robot: Robot, rows: Rows, motions: Sequence[Motion]) -> FloatArray:
        """Return the slopes of the rows' efforts by the logarithms of gains, shape (R, n, u)."""
        assert self.gains is not None
        efforts = np.nan_to_num(rows.effort + load_efforts(robot, rows, motions))
        targets = np.zeros((*efforts.shape, len(self.gains.joints)))
        for place, joint in enumerate(self.gains.joints):
            targets[:, joint, place] = efforts[:, joint]
        return targets


def _scaled(columns: FloatArray, root: FloatArray) -> FloatArray:
    """Return columns of all equations, shape (R, n, k), times something, as (R n, k)."""
    return (columns * root[..., None]).reshape(-1, columns.shape[2])


def calibrate(
    robot: Robot,
    motions: Sequence[Motion],
    *,
    terms: Sequence[str] | None = None,
    estimate_gains: Sequence[str] = (),
) -> Calibration:
    """Return the structure that explains recorded efforts, with gains and loads.

    Args:
        robot: the robot as described.
        motions: the training data.
        terms: friction terms; None for those that pay.
        estimate_gains: joints whose efforts are no N m or N.

    Raises:
        ParameterError: there is no such joint, or nothing that could tell the gains.
    """
    joints = _unknown_gains(robot, motions, estimate_gains)
    if not len(joints) and all(load.has_inertia for each in motions for load in each.loads):
        first = Structure(average_width(motions))
        structure, choices = choose_structure(robot, motions, first, terms=terms)
        return Calibration(structure, tuple(choices), None)
    # By turns: structures are compared on efforts in the right units, and gains need a structure.
    rough = Structure(average_width(motions))
    factors = rough_gains(robot, motions, rough, joints)
    rough = Structure(average_width(_times(motions, factors)))
    gains = estimated_gains(robot, motions, rough, joints, factors)
    structure, choices = choose_structure(robot, gains.applied(motions), rough, terms=terms)
    gains = estimated_gains(robot, motions, structure, joints, gains.factors)
    return Calibration(structure, tuple(choices), gains)


def rough_gains(
    robot: Robot, motions: Sequence[Motion], structure: Structure, joints: IntArray
) -> FloatArray:
    """Return gains by which joints have the described efforts, shape (n,), 1 of all others.

    Args:
        robot: the robot as described.
        motions: the training data, efforts as recorded.
        structure: of the model.
        joints: whose gains are unknown, shape (u,).
    """
    factors = np.ones(robot.n)
    rows = structure.rows(robot, motions)
    factors[joints] = described_gains(robot, rows, motions, structure.terms)[0][joints]
    return factors


def estimated_gains(
    robot: Robot,
    motions: Sequence[Motion],
    structure: Structure,
    joints: IntArray,
    factors: FloatArray,
) -> GainFit:
    """Return the gains of joints and what else is unknown of loads, in one structure.

    Args:
        robot: the robot as described.
        motions: the training data, efforts as recorded.
        structure: of the model.
        joints: whose gains are unknown, shape (u,).
        factors: gains to begin with, 1 where known, shape (n,).
    """
    prior = prior_for(robot, _times(motions, factors), structure)
    return fit_gains(robot, structure.rows(robot, motions), motions, prior, joints, factors)


def prior_for(robot: Robot, motions: Sequence[Motion], structure: Structure) -> Prior:
    """Return the prior of a model's parameters, with the scales of recorded motion.

    Args:
        robot: the robot as described.
        motions: the training data, efforts in N m or N.
        structure: of the model.
    """
    usual = usual_values(robot, motions)
    return prior_of(robot, structure.terms, usual.effort, usual.speed)


def _times(motions: Sequence[Motion], factors: FloatArray) -> list[Motion]:
    return [replace(motion, effort=motion.effort * factors) for motion in motions]


def _unknown_gains(robot: Robot, motions: Sequence[Motion], names: Sequence[str]) -> IntArray:
    """Return the joints whose gains are unknown and that have efforts, shape (u,)."""
    for name in names:
        if name not in robot.joint_names:
            raise ParameterError(
                f"the robot has no joint '{clipped(name)}', expected one of "
                f'{listed(robot.joint_names)}'
            )
    recorded = np.any([np.isfinite(motion.effort).any(axis=0) for motion in motions], axis=0)
    wanted = np.array([name in names for name in robot.joint_names]) & recorded
    if (wanted == recorded).all() and wanted.any() and len({each.loads for each in motions}) < 2:
        raise ParameterError(
            'gains of all joints cannot be told from motion with one load alone, since all masses '
            'may be larger by the same factor: record the robot with a known load and without'
        )
    return np.flatnonzero(wanted)


def unit_notes(
    robot: Robot, rows: Rows, motions: Sequence[Motion], terms: Sequence[str]
) -> list[str]:
    """Return a line for each joint whose efforts look like described ones in another unit.

    Args:
        robot: the robot as described.
        rows: of the motions.
        motions: what they are from.
        terms: friction terms of the rows.
    """
    factors, correlation = described_gains(robot, rows, motions, terms)
    notes = []
    for joint, name in enumerate(robot.joint_names):
        other = not 1.0 / OTHER_UNIT < factors[joint] < OTHER_UNIT
        if other and abs(correlation[joint]) > ALIKE:
            notes.append(
                f"joint '{name}': the description's efforts are {factors[joint]:.3g} times those "
                f'recorded: currents or another unit (--scale), or other masses? Motion with a '
                f'known load tells gains: --estimate-gains, --loaded, --load'
            )
    return notes
