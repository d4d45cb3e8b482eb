# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Selection of the model structure together with unknown effort gains and load inertias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.consistent_fit import Prior
from kron_dynamics.identification.effort_units import described_gains
from kron_dynamics.identification.gains import GainFit, fit_gains
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.prior import prior_of
from kron_dynamics.identification.results import Gain
from kron_dynamics.identification.selection import choose_structure, usual_values
from kron_dynamics.identification.structure import Structure, average_width
from kron_dynamics.messages import clipped, listed
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Calibration:
    """Model structure, and gains and loads that make recorded efforts comparable with the model.

    Attributes:
        structure: structure of the model.
        choices: a line for each extension of the structure that improved the prediction.
        gains: gains of the efforts, and loads with their inertias; None if all are known.
    """

    structure: Structure
    choices: tuple[str, ...]
    gains: GainFit | None

    def applied(self, motions: Sequence[Motion]) -> list[Motion]:
        """Return the motions with efforts in N m or N, and with loads whose inertia is known."""
        return list(motions) if self.gains is None else self.gains.applied(motions)

    def reported(self, robot: Robot) -> tuple[Gain, ...]:
        """Return the estimated gains."""
        return () if self.gains is None else self.gains.reported(robot)


def calibrate(
    robot: Robot,
    motions: Sequence[Motion],
    *,
    terms: Sequence[str] | None = None,
    estimate_gains: Sequence[str] = (),
) -> Calibration:
    """Return the structure that predicts recorded efforts best, with gains and loads.

    Args:
        robot: the robot as described.
        motions: the training data.
        terms: friction terms; None selects those that improve the prediction.
        estimate_gains: joints whose efforts are recorded in another unit than N m or N.

    Raises:
        ParameterError: a joint does not exist, or the gains are not identifiable.
    """
    joints = _unknown_gains(robot, motions, estimate_gains)
    if not len(joints) and all(load.has_inertia for each in motions for load in each.loads):
        first = Structure(average_width(motions))
        structure, choices = choose_structure(robot, motions, first, terms=terms)
        return Calibration(structure, tuple(choices), None)
    # Alternate: structures are compared on efforts in N m or N, and gains need a structure.
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
    """Return gains that scale efforts of some joints to the described ones, (n,), else 1.

    Args:
        robot: the robot as described.
        motions: the training data, efforts as recorded.
        structure: structure of the model.
        joints: indices of the joints with unknown gains, shape (u,).
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
    """Return the gains of joints and unknown inertias of loads, for a given structure.

    Args:
        robot: the robot as described.
        motions: the training data, efforts as recorded.
        structure: structure of the model.
        joints: indices of the joints with unknown gains, shape (u,).
        factors: initial guess of the gains, 1 where known, shape (n,).
    """
    prior = prior_for(robot, _times(motions, factors), structure)
    return fit_gains(robot, structure.rows(robot, motions), motions, prior, joints, factors)


def prior_for(robot: Robot, motions: Sequence[Motion], structure: Structure) -> Prior:
    """Return the prior of a model's parameters, scaled by the recorded efforts and speeds.

    Args:
        robot: the robot as described.
        motions: the training data, efforts in N m or N.
        structure: structure of the model.
    """
    usual = usual_values(robot, motions)
    return prior_of(robot, structure.terms, usual.effort, usual.speed, structure.tilt)


def _times(motions: Sequence[Motion], factors: FloatArray) -> list[Motion]:
    return [replace(motion, effort=motion.effort * factors) for motion in motions]


def _unknown_gains(robot: Robot, motions: Sequence[Motion], names: Sequence[str]) -> IntArray:
    """Return the indices of the joints with unknown gains and recorded efforts, shape (u,)."""
    for name in names:
        if name not in robot.joint_names:
            raise ParameterError(
                f"the robot has no joint '{clipped(name)}', expected one of "
                f'{listed(robot.joint_names)}'
            )
    recorded = np.any([np.isfinite(motion.effort).any(axis=0) for motion in motions], axis=0)
    wanted = np.array([name in names for name in robot.joint_names]) & recorded
    carried = {tuple(sorted(load.values for load in each.loads)) for each in motions}
    if (wanted == recorded).all() and wanted.any() and len(carried) < 2:
        raise ParameterError(
            'gains of all joints cannot be identified from motion with one load alone, since all '
            'masses may be scaled alike: record the robot with a known load and without'
        )
    return np.flatnonzero(wanted)
