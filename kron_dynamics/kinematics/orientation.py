# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The twelve sets of orientation angles and their rotations.  [N] 2.3.

R = R_A(alpha) R_B(beta) R_C(gamma) about axes that turn along. A set goes by the axes' names,
'zyx'. All functions but those that say so take floats, SymPy expressions and traced scalars.
"""

from __future__ import annotations

import math

import numpy as np

from kron_dynamics.elementary import cos, sin
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.kinematics.exponentials import rotation_exponential
from kron_dynamics.kinematics.quaternion import star
from kron_dynamics.messages import shown
from kron_dynamics.scalar_arguments import vector
from kron_dynamics.typing import ArrayLike, ScalarArray

# Three different axes (Cardan, Tait, Bryan), then the first axis once more as the third (Euler).
ORIENTATION_SETS = (
    *('xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx'),
    *('xyx', 'xzx', 'yxy', 'yzy', 'zxz', 'zyz'),
)


def orientation_axes(sequence: str) -> ScalarArray:
    """Return A, B, C as columns, shape (3, 3), unit vectors: no two in turn are one.

    [N] eqs. (29)-(31).

    Args:
        sequence: a set of `ORIENTATION_SETS`.

    Raises:
        ParameterError: there is no such set.
    """
    if not isinstance(sequence, str) or sequence not in ORIENTATION_SETS:
        raise ParameterError(
            f'sequence is {shown(sequence)}, expected one of {", ".join(ORIENTATION_SETS)}'
        )
    return np.eye(3, dtype=int)[:, ['xyz'.index(axis) for axis in sequence]]


def rotation_of_angles(angles: ArrayLike, sequence: str) -> ScalarArray:
    """Return R, shape (3, 3), whose columns are the turned axes in base axes.

    [N] eqs. (28), (32), (33): the product in this order; the last line of (33), one exponential of
    a sum, is something else.

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        sequence: the set, as of `orientation_axes`.

    Raises:
        ParameterError: there is no such set.
    """
    A, B, C = orientation_axes(sequence).T
    alpha, beta, gamma = vector(angles, 'angles', 3)
    R: ScalarArray = (
        rotation_exponential(A, alpha)
        @ rotation_exponential(B, beta)
        @ rotation_exponential(C, gamma)
    )
    return R


def quaternion_of_angles(angles: ArrayLike, sequence: str) -> ScalarArray:
    """Return the unit quaternion of the same rotation, shape (4,), vector part first.

    It goes on where its angles are singular, and changes its sign with each whole turn.

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        sequence: the set, as of `orientation_axes`.

    Raises:
        ParameterError: there is no such set.
    """
    turns = [
        np.array([*(sin(angle / 2) * axis), cos(angle / 2)])
        for axis, angle in zip(
            orientation_axes(sequence).T, vector(angles, 'angles', 3), strict=True
        )
    ]
    return star(star(turns[0], turns[1]), turns[2])


def distance_to_singularity(angles: ArrayLike, sequence: str) -> float | None:
    """Return how far beta is from where the first axis and the third are parallel, rad.

    That is at pi/2 and -pi/2 with three different axes, else at 0 and pi. None where beta is no
    number, NaN where it is NaN or infinite.

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        sequence: the set, as of `orientation_axes`.

    Raises:
        ParameterError: there is no such set.
    """
    A, _, C = orientation_axes(sequence).T
    beta = vector(angles, 'angles', 3)[1]
    if not isinstance(beta, (int, float, np.integer, np.floating)):
        if not getattr(beta, 'is_number', False):  # of SymPy
            return None
    if not math.isfinite(beta):
        return math.nan
    place = 0.0 if A @ C else math.pi / 2
    return abs(math.remainder(float(beta) - place, math.pi))
