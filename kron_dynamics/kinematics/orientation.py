# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The twelve sets of orientation angles and their rotations.  [N] 2.3.

R = R_A(alpha) R_B(beta) R_C(gamma), intrinsic rotations about the moving axes. A set is named by
its axes, such as 'zyx'. The functions take floats, SymPy expressions and traced scalars alike.
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

# Cardan (Tait-Bryan) sets with three different axes, then Euler sets, which repeat the first axis.
ORIENTATION_SETS = (
    *('xyz', 'xzy', 'yxz', 'yzx', 'zxy', 'zyx'),
    *('xyx', 'xzx', 'yxy', 'yzy', 'zxz', 'zyz'),
)


def orientation_axes(sequence: str) -> ScalarArray:
    """Return the unit vectors A, B, C as columns, shape (3, 3); adjacent ones always differ.

    [N] eqs. (29)-(31).

    Args:
        sequence: the angle set, one of `ORIENTATION_SETS`.

    Raises:
        ParameterError: the set does not exist.
    """
    if not isinstance(sequence, str) or sequence not in ORIENTATION_SETS:
        raise ParameterError(
            f'sequence is {shown(sequence)}, expected one of {", ".join(ORIENTATION_SETS)}'
        )
    return np.eye(3, dtype=int)[:, ['xyz'.index(axis) for axis in sequence]]


def rotation_of_angles(angles: ArrayLike, sequence: str) -> ScalarArray:
    """Return R, shape (3, 3), whose columns are the rotated axes in base axes.

    [N] eqs. (28), (32), (33): the product in this order. It is not the exponential of a sum in the
    last line of (33).

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        sequence: the angle set, one of `ORIENTATION_SETS`.

    Raises:
        ParameterError: the set does not exist.
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

    It is smooth across singular angles, and changes sign with each full turn of an angle.

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        sequence: the angle set, one of `ORIENTATION_SETS`.

    Raises:
        ParameterError: the set does not exist.
    """
    turns = [
        np.array([*(sin(angle / 2) * axis), cos(angle / 2)])
        for axis, angle in zip(
            orientation_axes(sequence).T, vector(angles, 'angles', 3), strict=True
        )
    ]
    return star(star(turns[0], turns[1]), turns[2])


def distance_to_singularity(angles: ArrayLike, sequence: str) -> float | None:
    """Return the distance of beta to the nearest singularity, rad.

    The first and third axis are parallel at pi/2 and -pi/2 for sets of three different axes, else
    at 0 and pi. None where beta is symbolic or traced, NaN where it is NaN or infinite.

    Args:
        angles: alpha, beta, gamma, shape (3,), rad.
        sequence: the angle set, one of `ORIENTATION_SETS`.

    Raises:
        ParameterError: the set does not exist.
    """
    A, _, C = orientation_axes(sequence).T
    beta = vector(angles, 'angles', 3)[1]
    if not isinstance(beta, (int, float, np.integer, np.floating)):
        if not getattr(beta, 'is_number', False):  # SymPy's attribute of constants
            return None
    if not math.isfinite(beta):
        return math.nan
    place = 0.0 if A @ C else math.pi / 2
    return abs(math.remainder(float(beta) - place, math.pi))
