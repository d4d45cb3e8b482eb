# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Orientation angles of rotation matrices and of links.  [N] 2.3.

These functions select between solutions and therefore take floats only.
"""

from __future__ import annotations

import math

import numpy as np

from kron_dynamics.arguments import finite_array
from kron_dynamics.exceptions import ParameterError, ShapeError, SingularOrientationError
from kron_dynamics.kinematics.exponentials import rotation_exponential
from kron_dynamics.kinematics.forward import forward_kinematics
from kron_dynamics.kinematics.orientation import orientation_axes
from kron_dynamics.kronecker import cross
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, FloatArray

# Sine of the distance to a singularity below which the first and third angle are only rounding:
# of floats, and per error of an entry.
_ROUNDING, _PER_ENTRY = 1e-12, 4
# Numbers of decimals with which a matrix may be written, and the largest entry of R^T R - E of one
# that has all digits, though they may be few: 1 and 1e-8 in a turn by 1e-8 rad.
_DECIMALS, _EXACT = range(5, 12), 1e-15
# Tolerance for the entries of R^T R - E: a rotation matrix written with six digits passes.
_ORTHOGONAL = 1e-5
_TURN = 2 * math.pi


def angles_of_rotation(
    rotation: ArrayLike, sequence: str, reference: ArrayLike | None = None
) -> FloatArray:
    """Return alpha, beta, gamma of a rotation matrix, shape (3,), rad.  [N] eq. (28) solved.

    `rotation_of_angles` recovers the matrix from them, also near singularities, with as many
    digits as it has. Singular are also angles that its rounding alone would determine.

    Args:
        rotation: R, shape (3, 3), whose columns are the rotated axes.
        sequence: the angle set, one of `ORIENTATION_SETS`.
        reference: angles to stay near, such as those of the previous time step, shape (3,), rad:
            selects the nearer of the two solutions, whole turns included, and at a singularity,
            where only the sum or the difference of alpha and gamma is determined, the nearest
            solution. None for beta within -pi/2 ... pi/2 (0 ... pi for sets whose first and last
            axis are equal) and the others within -pi ... pi.

    Raises:
        ParameterError: the set does not exist, or the matrix is not a rotation.
        ShapeError: the matrix or the reference has another shape.
        SingularOrientationError: the angles are singular and there is no reference.
    """
    R = _rotation(rotation)
    A, B, C = orientation_axes(sequence).T
    near = None if reference is None else finite_array(reference, 'reference')
    if near is not None and near.shape != (3,):
        raise ShapeError(f'reference has shape {near.shape}, expected (3,)')
    along, across, up = (axis @ R @ C for axis in (A, B, cross(A, B)))
    is_euler = bool(A @ C)
    # The sign of det J_Omega in the first solution.
    sign = -1 if is_euler else int(A @ cross(B, C))
    beside = math.hypot(across, up)
    beta = math.atan2(beside, along) if is_euler else math.atan2(sign * along, beside)
    rounding = _ROUNDING
    if beside < _PER_ENTRY * _ORTHOGONAL:  # the most that the error of an entry can tell
        rounding = max(_ROUNDING, _PER_ENTRY * _entry_error(R))
    if beside < rounding:
        if near is None:
            raise SingularOrientationError(sequence, beta, beside, rounding)
        return _at_singularity(R, sequence, near, along, beta)
    alpha = math.atan2(-sign * across, sign * up)
    first = np.array([alpha, beta, _third(R, sequence, alpha)])
    if near is None:
        return first
    mirrored = -first[1] if is_euler else math.pi - first[1]
    second = np.array([first[0] + math.pi, mirrored, first[2] + math.pi])
    candidates = [_nearest(angles, near) for angles in (first, second)]
    return min(candidates, key=lambda angles: float(np.linalg.norm(angles - near)))


def orientation_angles(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    sequence: str,
    reference: ArrayLike | None = None,
) -> FloatArray:
    """Return the orientation angles of a link, shape (3,), rad.  [N] eq. (27).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m; floats.
        link: name of the link.
        sequence: the angle set, one of `ORIENTATION_SETS`.
        reference: as in `angles_of_rotation`.

    Raises:
        ParameterError: the set does not exist.
        SingularOrientationError: the angles are singular and there is no reference.
        UnknownFrameError: the model has no such link.
    """
    return angles_of_rotation(forward_kinematics(model, q, link)[:3, :3], sequence, reference)


def quaternion_of_rotation(rotation: ArrayLike, reference: ArrayLike | None = None) -> FloatArray:
    """Return the unit quaternion of a rotation matrix, shape (4,), vector part first, no unit.

    `rotation_of` recovers the matrix from it.

    Args:
        rotation: R, shape (3, 3), whose columns are the rotated axes.
        reference: quaternion to stay near, such as that of the previous time step, shape (4,):
            selects the nearer of the two with opposite signs. None for the quaternion whose last
            entry is not negative.

    Raises:
        ParameterError: the matrix is not a rotation.
        ShapeError: the matrix or the reference has another shape.
    """
    R = _rotation(rotation)
    towards = np.array([0.0, 0.0, 0.0, 1.0])
    if reference is not None:
        towards = finite_array(reference, 'reference')
        if towards.shape != (4,):
            raise ShapeError(f'reference has shape {towards.shape}, expected (4,)')
    # 4 e e^T; its column with the largest diagonal entry loses no digits.
    products = np.empty((4, 4))
    products[:3, :3] = R + R.T + (1 - np.trace(R)) * np.eye(3)
    products[3, :3] = products[:3, 3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    products[3, 3] = 1 + np.trace(R)
    column = products[:, np.argmax(products.diagonal())]
    return np.asarray(math.copysign(1.0, column @ towards) * column / np.linalg.norm(column))


def _rotation(rotation: ArrayLike) -> FloatArray:
    """Return the checked matrix."""
    R = finite_array(rotation, 'rotation')
    if R.shape != (3, 3):
        raise ShapeError(f'rotation has shape {R.shape}, expected (3, 3)')
    off = float(np.abs(R.T @ R - np.eye(3)).max())
    if off > _ORTHOGONAL or np.linalg.det(R) < 0:
        raise ParameterError(
            f'rotation is no rotation: R^T R differs from E by {off:.3g} and det R is '
            f'{np.linalg.det(R):.3g}, expected at most {_ORTHOGONAL:g} and 1'
        )
    return R


def _entry_error(R: FloatArray) -> float:
    """Return the error of the entries of R, by R^T R - E and by the decimals they have.

    Rounded entries may by chance fit each other better than their decimals allow.
    """
    off = float(np.abs(R.T @ R - np.eye(3)).max())
    if off <= _EXACT:
        return off
    written = (10.0**-count for count in _DECIMALS if np.array_equal(R, np.round(R, count)))
    return max(off, next(written, 0.0))


def _third(R: FloatArray, sequence: str, alpha: float) -> float:
    """Return gamma for a known alpha, from B rotated by alpha, which is orthogonal to R C."""
    A, B, C = orientation_axes(sequence).T
    turned = rotation_exponential(A, alpha) @ B
    return math.atan2(-(turned @ R @ cross(C, B)), turned @ R @ B)


def _nearest(angles: FloatArray, near: FloatArray) -> FloatArray:
    return np.asarray(angles + _TURN * np.round((near - angles) / _TURN))


def _at_singularity(
    R: FloatArray, sequence: str, near: FloatArray, along: float, beta: float
) -> FloatArray:
    """Return the singular solution nearest to `near`; R fixes only alpha + gamma or alpha - gamma.

    The difference is determined where the rotated third axis is opposite to the first.
    """
    gamma = _third(R, sequence, float(near[0]))
    missing = math.remainder(gamma - float(near[2]), _TURN)
    alpha = float(near[0]) + math.copysign(missing / 2, along * missing)
    return _nearest(np.array([alpha, beta, _third(R, sequence, alpha)]), near)
