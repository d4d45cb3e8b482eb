# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Orientations in MJCF: quaternions, axis and angle, Euler angles, axes."""

from __future__ import annotations

import numpy as np

from kron_dynamics.constraints.loops import Attachment
from kron_dynamics.kinematics.quaternion import rotation_of
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.reproducible import cosine_and_sine, inner, norm, product
from kron_dynamics.typing import FloatArray

TURNS = ('quat', 'axisangle', 'euler', 'xyaxes', 'zaxis')
# Sine of the angle of two axes below which rounding decides the plane of both.
_PARALLEL = 1e-12


def orientation(node: Node, orders: str, degrees: bool) -> FloatArray:
    """Return the rotation of an element in any of MJCF's representations, shape (3, 3).

    Args:
        node: the element.
        orders: axes of Euler angles (eulerseq); capital letters are extrinsic (fixed) axes.
        degrees: whether angles are in degrees.

    Raises:
        ModelError: the orientation is malformed, or there are two.
    """
    unit = np.pi / 180 if degrees else 1.0
    given = [key for key in TURNS if node.text(key) is not None]
    if len(given) > 1:
        raise node.error(f'has the orientations {listed(given)}, expected one')
    if not given:
        return np.eye(3)
    key = given[0]
    counts = {'quat': 4, 'axisangle': 4, 'euler': 3, 'xyaxes': 6, 'zaxis': 3}
    values = node.numbers(key, counts[key])
    assert values is not None
    axes = {'quat': [values], 'xyaxes': [values[:3], values[3:]], 'euler': []}
    if not all(axis.any() for axis in axes.get(key, [values[:3]])):
        raise node.error(f"has {key} '{clipped(node.need(key))}', expected a direction")
    if key == 'quat':
        return quaternion_rotation(values)
    if key == 'axisangle':
        return _turn(values[:3], unit * float(values[3]))
    if key == 'zaxis':
        return Attachment('', axis=(values[0], values[1], values[2])).rotation()
    if key == 'euler':
        R = np.eye(3)
        for order, value in zip(orders, values, strict=True):
            turn = _turn(np.eye(3)['xyz'.index(order.lower())], unit * float(value))
            R = product(R, turn) if order.islower() else product(turn, R)
        return R
    x = values[:3] / norm(values[:3])
    y = values[3:] - inner(values[3:], x) * x
    if norm(y) <= _PARALLEL * norm(values[3:]):
        raise node.error(f"has xyaxes '{clipped(node.need(key))}', expected axes not parallel")
    y /= norm(y)
    return np.column_stack([x, y, np.cross(x, y)])


def quaternion_rotation(values: FloatArray) -> FloatArray:
    """Return the rotation of an MJCF quaternion w x y z, not necessarily unit, shape (3, 3)."""
    w, x, y, z = values / norm(values)
    return np.asarray(rotation_of(np.array([x, y, z, w])), dtype=np.float64)


def _turn(axis: FloatArray, angle: float) -> FloatArray:
    cosine, sine = cosine_and_sine(angle / 2)
    direction = axis / norm(axis) * sine
    return np.asarray(rotation_of(np.array([*direction, cosine])), dtype=np.float64)
