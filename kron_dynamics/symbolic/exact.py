# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of a model's floats to exact SymPy numbers, so that terms cancel exactly.

A number in a URDF is a decimal, and becomes that decimal as a fraction. Rotation matrices and unit
vectors of floats are orthonormal only up to rounding; they become exactly orthonormal ones that
agree with the floats up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from kron_dynamics.typing import FloatArray, ScalarArray

_EPSILON = float(np.finfo(float).eps)
# Significant digits that are correct after the few operations between a URDF and the model.
_DIGITS = 15
_STEP = sympy.pi / 12  # sines and cosines of its multiples are expressed by square roots
_LARGEST_DENOMINATOR = 100  # of the ratios of a direction's components


def exact_number(value: float, scale: float = 0.0) -> sympy.Rational:
    """Return the decimal with at most 15 digits that a float approximates.

    Args:
        value: a finite number.
        scale: magnitude of the numbers it was computed from; a value of the size of their
            rounding errors becomes 0.
    """
    if abs(value) <= 8 * _EPSILON * scale:
        return sympy.Integer(0)
    return sympy.Rational(f'{value:.{_DIGITS}g}')


def exact_array(values: Any) -> ScalarArray:
    """Return an object array, same shape, of exact numbers."""
    floats = np.asarray(values, dtype=np.float64)
    scale = abs(floats).max(initial=0.0)
    return frozen([exact_number(value, scale) for value in floats.flat], floats.shape)


def frozen(entries: Sequence[Any], shape: tuple[int, ...]) -> ScalarArray:
    """Return entries as a read-only object array of a shape."""
    array = np.empty(len(entries), dtype=object)
    array[:] = entries
    array = array.reshape(shape)
    array.setflags(write=False)
    return array


def exact_rotation(rotation: FloatArray) -> ScalarArray:
    """Return an exactly orthogonal rotation matrix, object array of shape (3, 3).

    For multiples of 15 degrees the entries have square roots; for other angles they are rational,
    within 1e-14 of the given ones.
    """
    if np.isin(rotation, (-1.0, 0.0, 1.0)).all():
        return frozen([sympy.Integer(round(entry)) for entry in rotation.flat], (3, 3))
    R = rotation
    cos_pitch = np.hypot(R[0, 0], R[1, 0])
    pitch = np.arctan2(-R[2, 0], cos_pitch)
    if cos_pitch > _EPSILON:
        angles = np.arctan2(R[2, 1], R[2, 2]), pitch, np.arctan2(R[1, 0], R[0, 0])
    else:  # roll and yaw turn about one axis
        angles = np.arctan2(-R[1, 2], R[1, 1]), pitch, 0.0
    (cr, sr), (cp, sp), (cy, sy) = (_cosine_and_sine(float(angle)) for angle in angles)
    entries = [
        *(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        *(sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        *(-sp, cp * sr, cp * cr),
    ]
    turned = frozen([sympy.expand(entry) for entry in entries], (3, 3))
    if abs(turned.astype(float) - rotation).max() > 1e-14:
        # With the pitch this close to 90 degrees, roll and yaw are only noise.
        return _of_quaternion(rotation)
    return turned


def _of_quaternion(R: FloatArray) -> ScalarArray:
    """Return the rotation matrix of a rational quaternion, whose largest component is 1."""
    # Rows of 4 times the products of its components w, x, y, z with each other.
    w = [1 + R[0, 0] + R[1, 1] + R[2, 2], *(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0])]
    w.append(R[1, 0] - R[0, 1])
    rows = [np.array(w)]
    for i in range(3):
        row = [w[i + 1], *(R[i, j] + R[j, i] for j in range(3))]
        row[i + 1] = 1 + 2 * R[i, i] - np.trace(R)
        rows.append(np.array(row))
    k = max(range(4), key=lambda k: rows[k][k])
    a, b, c, d = exact_array(rows[k] / rows[k][k])
    entries = [
        *(a * a + b * b - c * c - d * d, 2 * (b * c - a * d), 2 * (b * d + a * c)),
        *(2 * (b * c + a * d), a * a - b * b + c * c - d * d, 2 * (c * d - a * b)),
        *(2 * (b * d - a * c), 2 * (c * d + a * b), a * a - b * b - c * c + d * d),
    ]
    square = a * a + b * b + c * c + d * d
    return frozen([entry / square for entry in entries], (3, 3))


def _cosine_and_sine(angle: float) -> tuple[Any, Any]:
    """Return cos and sin of an angle up to rounding, with squares that sum to exactly 1."""
    steps = round(angle / float(_STEP))
    if abs(angle - steps * float(_STEP)) < 4 * _EPSILON:
        return sympy.cos(steps * _STEP), sympy.sin(steps * _STEP)
    quarters = round(angle / (np.pi / 2))
    t = exact_number(float(np.tan((angle - quarters * np.pi / 2) / 2)))
    c, s = (1 - t**2) / (1 + t**2), 2 * t / (1 + t**2)
    for _ in range(quarters % 4):
        c, s = -s, c
    return c, s


def exact_direction(direction: FloatArray) -> ScalarArray:
    """Return a vector of length exactly 1, object array of shape (3,).

    A multiple of a vector of small integers is normalized by a square root; others get rational
    components.
    """
    largest = int(np.argmax(abs(direction)))
    ratios = direction / abs(direction[largest])
    fractions = [Fraction(float(x)).limit_denominator(_LARGEST_DENOMINATOR) for x in ratios]
    if max(abs(float(f) - x) for f, x in zip(fractions, ratios, strict=True)) < 4 * _EPSILON:
        vector = [sympy.Rational(f.numerator, f.denominator) for f in fractions]
        length = sympy.sqrt(sum(x**2 for x in vector))
        return frozen([x / length for x in vector], (3,))
    # Stereographic projection from the opposite pole gives rational points on the sphere.
    t = [exact_number(float(x)) for x in direction / (1 + abs(direction[largest]))]
    t[largest] = sympy.Integer(0)
    square = sum(x**2 for x in t)
    vector = [2 * x / (1 + square) for x in t]
    vector[largest] = int(np.sign(direction[largest])) * (1 - square) / (1 + square)
    return frozen(vector, (3,))
