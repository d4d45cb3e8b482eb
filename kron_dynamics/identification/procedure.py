# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The identification procedure, from motions to a model validated on held-out data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.identification.base_parameters import base_parameters
from kron_dynamics.identification.calibration import calibrate, prior_for
from kron_dynamics.identification.consistent_fit import Prior
from kron_dynamics.identification.cross_validation import choose_strength, folds_of
from kron_dynamics.identification.delay_search import delay_notes
from kron_dynamics.identification.described_friction import described_friction
from kron_dynamics.identification.effort_units import unit_notes
from kron_dynamics.identification.gain_spread import (
    widened,
    widened_fit,
)
from kron_dynamics.identification.gravity_direction import tilt_notes, tilted_gravity
from kron_dynamics.identification.least_squares import LeastSquares, weighted_least_squares
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.parameter_table import base_table, parameter_table
from kron_dynamics.identification.prior import thin_notes
from kron_dynamics.identification.residuals import compared, with_described_rotors
from kron_dynamics.identification.results import Identification
from kron_dynamics.identification.rigid_trees import require_rigid_tree
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.standstill import (
    STANDSTILL,
    standing_joints,
    transition_notes,
    without_rest,
)
from kron_dynamics.identification.structure import Structure
from kron_dynamics.identification.weighted_fit import WeightedFit, weighted_fit
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, FloatArray

# Share of each motion, at its end, that is held out unless validation motion is given.
HELD_OUT = 0.3
# Least number of samples of either part.
LEAST_PART = 10
# Share of outliers above which a note is given.
MANY_OUTLIERS = 0.05
# Strength of the prior in the first fit; its weights are used in the choice of the strength.
FIRST_STRENGTH = 1.0
# Number of random states of the regressor whose rank is the structural rank.
STATES = 60


def identify(
    robot: Robot,
    motions: Sequence[Motion],
    validation: Sequence[Motion] | None = None,
    *,
    terms: Sequence[str] | None = None,
    strength: float | None = None,
    estimate_gains: Sequence[str] = (),
) -> Identification:
    """Return the model of a robot identified from its recorded motion.

    Args:
        robot: the robot as described.
        motions: recorded motion to train on.
        validation: to validate on; None holds out the last 30 % of each of `motions`.
        terms: names of `friction.TERMS`; None selects those that improve the prediction.
        strength: weight of the prior; None chooses it by cross-validation.
        estimate_gains: joints with efforts in unknown units, such as currents.

    Raises:
        ParameterError: too little motion or effort, unidentifiable gains, flexible links, loops.
        ShapeError: a motion has another number of joints.
    """
    _check(robot, motions, validation or (), strength)
    training, held, split = _split(motions, validation)
    training, standing = _moving(robot, training)
    calibration = calibrate(robot, training, terms=terms, estimate_gains=estimate_gains)
    structure = calibration.structure
    training, held = map(calibration.applied, (training, without_rest(robot, held)))
    prior = prior_for(robot, training, structure)
    rows = structure.rows(robot, training)
    weighted, strength = _fitted(rows, prior, strength)
    weighted = widened_fit(calibration.gains, robot, weighted, rows, training, prior, strength)
    x, count = weighted.fit.parameters, len(robot.inertial_parameters())
    basic = Structure(structure.width, 'acceleration').rows(robot, training)
    plain = _least_squares(basic, robust=False)
    free = widened(calibration.gains, robot, _least_squares(rows), rows, training)
    described = _described(robot, basic, rows, weighted)
    return Identification(
        robot.joint_names,
        x[:count],
        *_friction_and_gravity(robot, structure, x[count:]),
        described,
        structure,
        calibration.choices,
        strength,
        parameter_table(robot, structure, x, weighted, prior),
        base_table(robot, structure, rows, free),
        free.condition if free is not None else float('nan'),
        base_parameters(_random_regressor(robot)).rank,
        _excited(rows),
        weighted.noise,
        weighted.outliers,
        *compared(robot, held, structure, x, plain, described),
        _seconds(training),
        _seconds(held),
        split,
        _notes(robot, structure, standing, weighted, plain, rows, training),
        calibration.reported(robot),
    )


def _check(
    robot: Robot,
    motions: Sequence[Motion],
    validation: Sequence[Motion],
    strength: float | None,
) -> None:
    require_rigid_tree(robot.model)
    if strength is not None and not 0.0 < strength < np.inf:
        raise ParameterError(f'strength is {strength:g}, expected a finite number above 0')
    if not motions:
        raise ParameterError('there is no motion to identify from')
    for motion in (*motions, *validation):
        if motion.q.shape[1] != robot.n:
            raise ShapeError(
                f'{motion.label} has {motion.q.shape[1]} joints, expected {robot.n} of the robot'
            )
    if not any(np.isfinite(motion.effort).any() for motion in motions):
        raise ParameterError('no effort is recorded: there is nothing to identify from')
    if standing_joints(robot, motions).all():
        travel = np.max([np.ptp(motion.q, axis=0) for motion in motions])
        raise ParameterError(
            f'too little motion: no joint leaves standstill ({STANDSTILL}) for a second; they '
            f'move by {travel:.3g} at most'
        )


def _fitted(rows: Rows, prior: Prior, strength: float | None) -> tuple[WeightedFit, float]:
    """Return the fit, and the strength of the prior: as given, or by cross-validation."""
    weighted = weighted_fit(rows, prior, FIRST_STRENGTH)
    if strength is None:
        strength, _ = choose_strength(folds_of(rows, weighted.weights, prior))
    return weighted_fit(rows, prior, strength, weighted.fit.parameters), strength


def _moving(robot: Robot, motions: Sequence[Motion]) -> tuple[list[Motion], BoolArray]:
    """Return motion without efforts at standstill, and whether joints always stand still, (n,)."""
    standing = standing_joints(robot, motions)
    left = [
        replace(item, effort=np.where(standing, np.nan, item.effort))
        for item in without_rest(robot, motions)
    ]
    if not any(np.isfinite(item.effort).any() for item in left):
        raise ParameterError('too little motion: no joint with recorded efforts moves')
    return left, standing


def _split(
    motions: Sequence[Motion], validation: Sequence[Motion] | None
) -> tuple[list[Motion], list[Motion], str]:
    if validation is not None:
        if not validation:
            raise ParameterError('there is no motion to validate on')
        return list(motions), list(validation), 'other recordings'
    training, held = [], []
    for motion in motions:
        cut = round((1.0 - HELD_OUT) * len(motion.time))
        if min(cut, len(motion.time) - cut) >= LEAST_PART:
            training.append(motion.part(0, cut))
            held.append(motion.part(cut, len(motion.time)))
        else:
            training.append(motion)
    if not held:
        raise ParameterError(
            f'too little motion: {100.0 * HELD_OUT:.0f} % of no stretch are {LEAST_PART} samples '
            f'to hold out'
        )
    which = 'each stretch of motion'
    if len(held) < len(training):
        which = f'{len(held)} of {len(training)} stretches of motion, others being too short'
    return training, held, f'the last {100.0 * HELD_OUT:.0f} % of {which}'


def _notes(
    robot: Robot,
    structure: Structure,
    standing: BoolArray,
    weighted: WeightedFit,
    plain: LeastSquares | None,
    rows: Rows,
    training: Sequence[Motion],
) -> tuple[str, ...]:
    notes = list[str]()
    for joint, name in enumerate(robot.joint_names):
        if standing[joint]:
            notes.append(
                f"joint '{name}' stands still ({STANDSTILL}): static friction makes its effort "
                f'uninformative, so it is not used'
            )
        elif not np.isfinite(weighted.noise[joint]):
            notes.append(f"joint '{name}' has no recorded effort")
        elif weighted.outliers[joint] > MANY_OUTLIERS:
            share = 100.0 * weighted.outliers[joint]
            notes.append(f"joint '{name}': {share:.0f} % of the rows are outliers and not used")
    if structure.tilt:
        notes += tilt_notes(robot.model.gravity, weighted.fit.parameters[-2:])
    if plain is None:
        notes.append('too little motion for least squares: the description dominates the result')
    notes += (
        delay_notes(structure, training) + thin_notes(robot) + transition_notes(robot, training)
    )
    return (*notes, *unit_notes(robot, rows, training, structure.terms))


def _least_squares(rows: Rows, robust: bool = True) -> LeastSquares | None:
    """Return the weighted least-squares solution; None if the equations are too few."""
    try:
        return weighted_least_squares(rows.matrix, rows.effort, robust=robust)
    except ParameterError:
        return None


def _friction_and_gravity(
    robot: Robot, structure: Structure, x: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return friction by joint and term, shape (n, k), and gravity, shape (3,), m/s^2."""
    count = robot.n * len(structure.terms)
    return x[:count].reshape(robot.n, -1), tilted_gravity(robot.model.gravity, x[count:])


def _described(robot: Robot, basic: Rows, rows: Rows, weighted: WeightedFit) -> FloatArray:
    """Return the friction for the new URDF, fitted on the common rows with their weights."""
    _, first, second = np.intersect1d(basic.keys, rows.keys, return_indices=True)
    inertial = with_described_rotors(robot, weighted.fit.parameters)
    return described_friction(robot, basic.taken(first), inertial, weighted.weights[second])


def _random_regressor(robot: Robot) -> FloatArray:
    """Return the regressor at fixed random states within the limits, shape (N, n, p)."""
    rng = np.random.default_rng(1)
    lower = np.where(np.isfinite(robot.model.position_lower), robot.model.position_lower, -3.0)
    upper = np.where(np.isfinite(robot.model.position_upper), robot.model.position_upper, 3.0)
    q = rng.uniform(lower, upper, (STATES, robot.n))
    return robot.regressor(q, *rng.uniform(-1.0, 1.0, (2, STATES, robot.n)))


def _excited(rows: Rows) -> FloatArray:
    """Return the number of parameter combinations that each joint's efforts excite, shape (n,)."""
    known = np.isfinite(rows.effort)
    scale = np.linalg.norm(rows.matrix[known], axis=0)
    scale[scale == 0.0] = np.inf
    found = np.zeros(known.shape[1])
    for joint in np.flatnonzero(known.any(axis=0)):
        own = rows.matrix[known[:, joint], joint]
        sizes = np.linalg.svd(own / scale, compute_uv=False)
        found[joint] = np.count_nonzero(sizes > 1e-3 * sizes[0])
    return found


def _seconds(motions: Sequence[Motion]) -> float:
    return float(sum(motion.time[-1] - motion.time[0] for motion in motions))
