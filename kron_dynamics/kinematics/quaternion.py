# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Quaternions, vector part first, with both products.  [P] appendices A and B.

Robots have none: their bases do not float. Rotations compose as Q(e1 star e2) = Q(e1) Q(e2);
``times`` is the same product with swapped factors. Every function takes floats, SymPy
expressions and traced scalars alike.
"""

from __future__ import annotations

import numpy as np

from kron_dynamics.exceptions import ShapeError
from kron_dynamics.kronecker import skew
from kron_dynamics.scalar_arguments import scalars, vector
from kron_dynamics.typing import ScalarArray

# D of [P], with conjugate(e) = -D e.
CONJUGATION = np.diag([1, 1, 1, -1])


def star_matrix(quaternion: ScalarArray) -> ScalarArray:
    """Return [e star], (4, 4), in the unit of e: star(e, x) = [e star] x.  [P] eq. (B-10)."""
    return _product_matrix(quaternion, 1)


def times_matrix(quaternion: ScalarArray) -> ScalarArray:
    """Return [e times], (4, 4), in the unit of e: times(e, x) = [e times] x.  [P] eq. (B-10)."""
    return _product_matrix(quaternion, -1)


def _product_matrix(quaternion: ScalarArray, sign: int) -> ScalarArray:
    e = vector(quaternion, 'quaternion', 4)
    upper = e[3] * np.eye(3, dtype=int) + sign * skew(e[:3])
    rows = [np.concatenate([upper[k], e[k : k + 1]]) for k in range(3)]
    return np.array([*rows, np.concatenate([-e[:3], e[3:]])])


def star(first: ScalarArray, second: ScalarArray) -> ScalarArray:
    """Return first star second, shape (4,): Hamilton's product.  [P] eqs. (B-9), (B-11).

    Its unit is the product of theirs. [P] eq. (B-16) prints the same operator on both sides, but
    D (e star x) = conjugate(e) times (D x).
    """
    product: ScalarArray = star_matrix(first) @ vector(second, 'second', 4)
    return product


def times(first: ScalarArray, second: ScalarArray) -> ScalarArray:
    """Return first times second, shape (4,), which is second star first.  [P] (B-9), (B-12).

    Its unit is the product of theirs.
    """
    product: ScalarArray = times_matrix(first) @ vector(second, 'second', 4)
    return product


def conjugate(quaternion: ScalarArray) -> ScalarArray:
    """Return [-e_v; e_0], shape (4,): the inverse rotation of a unit quaternion.  [P] (B-13)."""
    e = vector(quaternion, 'quaternion', 4)
    return np.concatenate([-e[:3], e[3:]])


def conjugate_derivative(quaternion: ScalarArray, derivative: ScalarArray) -> ScalarArray:
    """Return de*/dq = -e* times (e* star de/dq), shape (4, n).  [P] eqs. (A-8), (B-17).

    For a unit quaternion, where it equals -D de/dq, [P] (B-14), (B-15).

    Args:
        quaternion: e, shape (4,), of length one.
        derivative: de/dq, shape (4, n), or its product with a virtual displacement, shape (4,).

    Raises:
        ArgumentTypeError: an argument is not of numbers.
        ShapeError: an argument has another shape.
    """
    e, d = conjugate(quaternion), scalars(derivative, 'derivative')
    if d.ndim not in (1, 2) or d.shape[0] != 4:
        raise ShapeError(f'derivative has shape {d.shape}, expected (4, n) or (4,)')
    result: ScalarArray = -times_matrix(e) @ (star_matrix(e) @ d)
    return result


def rotation_of(quaternion: ScalarArray) -> ScalarArray:
    """Return the rotation matrix Q of a unit quaternion, shape (3, 3)."""
    e = vector(quaternion, 'quaternion', 4)
    v, w = e[:3], e[3]
    Q: ScalarArray = (w * w - v @ v) * np.eye(3, dtype=int)
    turned: ScalarArray = Q + 2 * np.outer(v, v) + 2 * w * skew(v)
    return turned


def quaternion_rate(quaternion: ScalarArray, omega: ScalarArray) -> ScalarArray:
    """Return de/dt = 1/2 e star [omega; 0], shape (4,), 1/s, omega in body axes.  [P] (B-18).

    Args:
        quaternion: e, shape (4,), of length one.
        omega: angular velocity in the axes of the body, shape (3,), rad/s.
    """
    w = vector(omega, 'omega', 3)
    return star(quaternion, np.concatenate([w, [0]])) / 2


def body_angular_velocity(quaternion: ScalarArray, rate: ScalarArray) -> ScalarArray:
    """Return omega in body axes, shape (3,), rad/s, by 2 e* star de/dt.  [P] (A-2), (B-19).

    It equals 2 (de/dt) times e*; in base axes omega is 2 (de/dt) star e*. [P] eq. (A-3):
    half the difference of [w star] and [w times] is diag([omega x], 0).

    Args:
        quaternion: e, shape (4,), of length one.
        rate: de/dt, shape (4,), 1/s.
    """
    return 2 * star(conjugate(quaternion), rate)[:3]
