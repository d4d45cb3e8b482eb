# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of named parameters, as described and as identified, with 95 % intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.identification.base_parameters import identified_base
from kron_dynamics.identification.consistent_fit import Prior, consistent_fit, gram
from kron_dynamics.identification.friction import friction_names
from kron_dynamics.identification.gravity_direction import TILT_NAMES
from kron_dynamics.identification.least_squares import LeastSquares
from kron_dynamics.identification.results import BaseParameter, Parameter
from kron_dynamics.identification.rows import Rows
from kron_dynamics.identification.structure import Structure
from kron_dynamics.identification.weighted_fit import WeightedFit
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

TEN = ('mass', 'mx', 'my', 'mz', 'Ixx', 'Ixy', 'Ixz', 'Iyy', 'Iyz', 'Izz')
UNITS = ('kg', *['kg m'] * 3, *['kg m^2'] * 6)
# Half of a 95 % interval in standard deviations.
NORMAL_95 = 1.959964
# A parameter is excited if data reduce its standard deviation below this share of the prior's.
EXCITED_SHARE = 0.5


def parameter_names(
    model: RobotModel, terms: Sequence[str], tilt: bool = False
) -> tuple[tuple[str, str], ...]:
    """Return name and unit of every parameter, in the order of the regressor with friction.

    Args:
        model: the robot.
        terms: friction terms.
        tilt: whether the two components of gravity across the described one come last.
    """
    names = [
        (f'{joint.name}: {ten}', unit)
        for joint in model.joints
        for ten, unit in zip(TEN, UNITS, strict=True)
    ]
    turns = [joint.motion.turns for joint in model.independent_joints]
    names += [
        (f'{joint} armature', 'kg m^2' if turning else 'kg')
        for joint, turning in zip(model.joint_names, turns, strict=True)
    ]
    effort = ['N m' if turning else 'N' for turning in turns]
    angle = ['rad' if turning else 'm' for turning in turns]
    for place, name in enumerate(friction_names(model.joint_names, terms)):
        joint, term = divmod(place, len(terms))
        per = {'viscous': f' s/{angle[joint]}', 'cubic': f' s^3/{angle[joint]}^3'}
        unit = '1' if terms[term] == 'load' else effort[joint] + per.get(terms[term], '')
        names.append((name, unit))
    if tilt:
        names += [(name, 'm/s^2') for name in TILT_NAMES]
    return tuple(names)


def parameter_table(
    robot: Robot, structure: Structure, x: FloatArray, weighted: WeightedFit, prior: Prior
) -> tuple[Parameter, ...]:
    """Return all parameters, as described and as identified.

    Args:
        robot: the robot as described.
        structure: structure of the model.
        x: identified parameters, shape (p,).
        weighted: the fit.
        prior: prior of the parameters.
    """
    said = {'coulomb': robot.model.friction, 'viscous': robot.model.damping}
    friction = [
        said[term][joint] if term in said else 0.0
        for joint in range(robot.n)
        for term in structure.terms
    ]
    level = [0.0] * (2 * structure.tilt)
    before = np.concatenate([robot.inertial_parameters(), friction, level])
    names = parameter_names(robot.model, structure.terms, structure.tilt)
    spread = np.sqrt(np.clip(np.diag(weighted.fit.covariance), 0.0, None))
    # With a prior of strength 1, so that excitation does not depend on the chosen strength.
    data = weighted.data
    nothing = gram(np.zeros((1, 1, len(x))), np.zeros((1, 1)), np.zeros((1, 1)))
    known = np.sqrt(np.diag(consistent_fit(nothing, prior, 1.0).covariance))
    posterior = np.sqrt(np.diag(consistent_fit(data, prior, 1.0, x).covariance))
    return tuple(
        Parameter(
            name,
            unit,
            float(before[k]),
            float(x[k]),
            float(x[k] - NORMAL_95 * spread[k]),
            float(x[k] + NORMAL_95 * spread[k]),
            bool(posterior[k] < EXCITED_SHARE * known[k]),
        )
        for k, (name, unit) in enumerate(names)
    )


def base_table(
    robot: Robot, structure: Structure, rows: Rows, found: LeastSquares | None
) -> tuple[BaseParameter, ...]:
    """Return the base parameters that the rows determine; empty without a solution.

    Args:
        robot: the robot.
        structure: structure of the rows.
        rows: training data.
        found: least-squares solution of the rows; None if there is none.
    """
    if found is None:
        return ()
    base = identified_base(rows.matrix, found)
    named = parameter_names(robot.model, structure.terms, structure.tilt)
    names = base.names([name for name, _ in named])
    values = base.combination @ found.parameters
    variance = np.einsum('ij,jk,ik->i', base.combination, found.covariance, base.combination)
    spread = NORMAL_95 * np.sqrt(np.clip(variance, 0.0, None))
    return tuple(
        BaseParameter(name, float(value), float(value - apart), float(value + apart))
        for name, value, apart in zip(names, values, spread, strict=True)
    )
