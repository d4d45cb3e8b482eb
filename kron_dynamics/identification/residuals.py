# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Residuals of models: recorded efforts minus predicted ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.friction import BASIC_TERMS
from kron_dynamics.identification.least_squares import LeastSquares
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.results import Residual
from kron_dynamics.identification.structure import Structure
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Length of the pieces, in samples, that are evaluated at a time for residuals of raw efforts.
STRETCH = 2000


def residual_of(effort: FloatArray, predicted: FloatArray) -> Residual:
    """Return the norms of the residuals relative to the norms of the efforts.

    Args:
        effort: recorded efforts, shape (R, n), N m or N; NaN where unknown.
        predicted: efforts by a model, shape (R, n), N m or N.
    """
    known = np.isfinite(effort) & np.isfinite(predicted)
    residual = np.where(known, effort - predicted, 0.0)
    whole = np.where(known, effort, 0.0)
    with np.errstate(invalid='ignore', divide='ignore'):
        joints = np.linalg.norm(residual, axis=0) / np.linalg.norm(whole, axis=0)
        total = float(np.linalg.norm(residual) / np.linalg.norm(whole))
    return Residual(joints, total)


def compared(
    robot: Robot,
    motions: Sequence[Motion],
    structure: Structure,
    parameters: FloatArray,
    plain: LeastSquares | None,
    described: FloatArray,
) -> tuple[dict[str, Residual], dict[str, Residual]]:
    """Return the residuals of four models, on averaged (as in training) and on raw efforts.

    Args:
        robot: the robot as described.
        motions: held-out motion.
        structure: structure of the identified model.
        parameters: parameters of the identified model, shape (p,).
        plain: least-squares solution with `BASIC_TERMS`; None if there is none.
        described: Coulomb and viscous friction of the new URDF, shape (n, 2).
    """
    reference = Structure(structure.width, 'acceleration', terms=BASIC_TERMS)
    alone = with_described_rotors(robot, parameters)
    vectors = {
        'urdf': _with_friction(
            robot.inertial_parameters(), robot.model.friction, robot.model.damping
        ),
        'least_squares': plain.parameters if plain is not None else None,
        'urdf_alone': _with_friction(alone, *described.T),
    }
    averaged = _shares(robot, motions, reference, vectors, structure, parameters)
    pieces = [
        motion.part(first, min(first + STRETCH, len(motion.time)))
        for motion in motions
        for first in range(0, len(motion.time), STRETCH)
        if min(first + STRETCH, len(motion.time)) - first > 10
    ]
    raw = replace(structure, width=0.0, form='acceleration')
    return averaged, _shares(
        robot, pieces, replace(reference, width=0.0), vectors, raw, parameters
    )


def with_described_rotors(robot: Robot, parameters: FloatArray) -> FloatArray:
    """Return identified inertial parameters with the armatures of the URDF, shape (10 b + n,).

    Args:
        robot: the robot as described.
        parameters: identified parameters, inertial ones first, shape (p,).
    """
    inertial = robot.inertial_parameters()
    bodies = len(inertial) - robot.n
    return np.concatenate([parameters[:bodies], inertial[bodies:]])


def _with_friction(inertial: FloatArray, coulomb: FloatArray, viscous: FloatArray) -> FloatArray:
    offsets = np.zeros(len(coulomb))
    return np.concatenate([inertial, np.column_stack([coulomb, viscous, offsets]).ravel()])


def _shares(
    robot: Robot,
    motions: Sequence[Motion],
    reference: Structure,
    vectors: dict[str, FloatArray | None],
    structure: Structure,
    parameters: FloatArray,
) -> dict[str, Residual]:
    """Return the residuals on the rows that exist in both structures."""
    efforts, predicted = [], {name: list[FloatArray]() for name in (*vectors, 'identified')}
    for motion in motions:
        try:
            base = reference.rows(robot, [motion])
            own = structure.rows(robot, [motion])
        except ParameterError:
            continue
        _, first, second = np.intersect1d(base.keys, own.keys, return_indices=True)
        base, own = base.taken(first), own.taken(second)
        efforts.append(base.effort)
        for name, vector in vectors.items():
            if vector is not None:
                predicted[name].append(base.matrix @ vector)
        # Structures with a delay shift the recorded efforts. Offsetting the prediction by the
        # shift leaves the residual of the structure's own efforts.
        predicted['identified'].append(own.matrix @ parameters + base.effort - own.effort)
    if not efforts:
        raise ParameterError(
            'no held-out stretch of motion is long enough to compare on: cut off rest at the end, '
            'or validate on another recording'
        )
    effort = np.concatenate(efforts)
    return {
        name: residual_of(effort, np.concatenate(parts))
        for name, parts in predicted.items()
        if parts
    }
