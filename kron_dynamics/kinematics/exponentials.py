# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Matrix exponentials of one joint: rotations about an axis and screw motions.  [N] 2.2.

Every function takes floats, SymPy expressions and traced scalars alike.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from kron_dynamics.arguments import instance
from kron_dynamics.elementary import cos, sin
from kron_dynamics.exceptions import ShapeError
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.messages import shown
from kron_dynamics.scalar_arguments import scalar, scalars, vector
from kron_dynamics.typing import ScalarArray

_NONE = np.zeros(3, dtype=int)


def rotation_exponential(axis: ScalarArray, angle: Any) -> ScalarArray:
    """Return exp(k~ angle), shape (3, 3), the rotation about a unit vector.  [N] eqs. (5), (32).

    E + k~ sin + k~^2 (1 - cos); the identity E for a zero vector.

    Args:
        axis: k, shape (3,), of length one (or zero).
        angle: rad.
    """
    k = skew(axis)
    return np.asarray(np.eye(3, dtype=int) + k * sin(angle) + (k @ k) * (1 - cos(angle)))


def rotation_exponential_rate(axis: ScalarArray, angle: Any, rate: Any) -> ScalarArray:
    """Return d exp(k~ angle)/dt = k~ rate exp(k~ angle), shape (3, 3), 1/s.  [N] eq. (44).

    Args:
        axis: k, shape (3,), of length one, constant.
        angle: rad.
        rate: time derivative of the angle, rad/s.

    Raises:
        ArgumentTypeError: an argument is not of numbers.
        ShapeError: an argument has another shape.
    """
    angle, rate = scalar(angle, 'angle'), scalar(rate, 'rate')
    return np.asarray((skew(axis) * rate) @ rotation_exponential(axis, angle))


@dataclass(frozen=True, slots=True, eq=False)
class Screw:
    """Screw of a joint with all joint positions 0; components in base axes.

    Attributes:
        point: p, shape (3,), a point on the axis, m.
        axis: k, shape (3,), of length one.
        angular: Delta k, shape (3,): k for a revolute or screw joint, 0 for a prismatic one.
        linear: v, shape (3,), velocity at the base's origin per unit joint rate: p x k for a
            revolute joint, k for a prismatic one, p x k + pitch k for a screw joint.
    """

    point: ScalarArray
    axis: ScalarArray
    angular: ScalarArray
    linear: ScalarArray

    @classmethod
    def turning(cls, axis: ScalarArray, point: ScalarArray, pitch: Any = 0) -> Screw:
        """Return the screw of a revolute or screw joint.  [N] eq. (2), Delta = 1.

        Args:
            axis: k, shape (3,), of length one.
            point: p, shape (3,), m.
            pitch: translation along the axis per angle, m/rad; 0 for a revolute joint.

        Raises:
            ArgumentTypeError: an argument is not of numbers.
            ShapeError: an argument has another shape.
        """
        k, p = vector(axis, 'axis', 3), vector(point, 'point', 3)
        return cls(p, k, k, cross(p, k) + scalar(pitch, 'pitch') * k)

    @classmethod
    def sliding(cls, axis: ScalarArray, point: ScalarArray) -> Screw:
        """Return the screw of a prismatic joint.  [N] eq. (2), Delta = 0.

        Args:
            axis: k, shape (3,), of length one.
            point: p, shape (3,), m; it does not affect the motion.
        """
        k = vector(axis, 'axis', 3)
        return cls(vector(point, 'point', 3), k, _NONE, k)

    @property
    def matrix(self) -> ScalarArray:
        """The constant matrix A = [Delta k~, v; 0, 0], shape (4, 4).  [N] eq. (3)."""
        upper = np.column_stack([skew(self.angular), self.linear])
        return np.vstack([upper, np.zeros(4, dtype=int)])

    @property
    def row(self) -> ScalarArray:
        """[p; k; v], shape (9,): its row of `screw_table`, in m and 1.  [N] eq. (1)."""
        return np.concatenate([self.point, self.axis, self.linear])


def screw_exponential(screw: Screw, position: Any) -> ScalarArray:
    """Return exp(A q), shape (4, 4): the motion of all bodies that the joint carries.

    [N] eqs. (4), (6), (7), the translation b in m. (6) is b = {E q + k~ (1 - cos q) + k~^2 (q -
    sin q)} v, where k k^T is printed for k~^2. With Delta k for k, which is 0 for a prismatic
    joint, rotation and b hold for all kinds of joints: q* of (4) is not needed.

    Args:
        screw: screw of the joint.
        position: q, rad or m.

    Raises:
        ArgumentTypeError: screw is no `Screw`, or position no number.
        ShapeError: position is an array.
    """
    instance(screw, Screw, 'the screw', 'a Screw')
    position = scalar(position, 'position')
    z = skew(screw.angular)
    b = screw.linear * position
    b = (
        b
        + z @ screw.linear * (1 - cos(position))
        + z @ z @ screw.linear * (position - sin(position))
    )
    upper = np.column_stack([rotation_exponential(screw.angular, position), b])
    return np.vstack([upper, np.array([0, 0, 0, 1])])


def screw_exponential_derivatives(
    screw: Screw, position: Any, rates: Sequence[Any]
) -> list[ScalarArray]:
    """Return exp(A q) and its time derivatives, shape (4, 4) each, in m, m/s, ...

    From d exp(A q)/dt = A exp(A q) qd by Leibniz' rule.

    Args:
        screw: screw of the joint.
        position: q, rad or m.
        rates: qd, qdd, ..., one for each derivative.

    Raises:
        ArgumentTypeError: screw is no `Screw`, or position or rates no numbers.
        ShapeError: position is an array, or rates is none of shape (k,).
    """
    found = [screw_exponential(screw, position)]
    if scalars(rates, 'rates').ndim != 1:
        raise ShapeError(f'rates is {shown(rates)}, expected one number for each derivative')
    A = screw.matrix
    for order in range(len(rates)):
        found.append(A @ leibniz(operator.mul, found, rates, order))
    return found


def leibniz(
    product: Callable[[Any, Any], Any], first: Sequence[Any], second: Sequence[Any], order: int
) -> Any:
    """Return a derivative of a product by Leibniz' rule, in the unit of the product.

    It has the shape of the product: () or (r,) or (r, s).

    Args:
        product: function that multiplies two factors.
        first: the first factor and its derivatives, at least up to `order`.
        second: the second factor and its derivatives, likewise.
        order: order of the derivative; 0 for the product itself.
    """
    terms = [comb(order, i) * product(first[i], second[order - i]) for i in range(order + 1)]
    return sum(terms[1:], start=terms[0])
