# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Velocity, acceleration and jerk of frames, by forward recursion over the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from kron_dynamics.exceptions import ArgumentTypeError
from kron_dynamics.kinematics.forward import JointPlacement, body_placements, joint_placements
from kron_dynamics.kinematics.scalars import number_vector, on_link
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray

# Names of the derivatives of the coordinates, by order.
_RATES = ('qd', 'qdd', 'qddd')


@dataclass(frozen=True, slots=True, eq=False)
class FrameMotion:
    """Velocity, acceleration and jerk of a body, in its own axes, at index (order) 0, 1, 2.

    The derivatives are taken in base axes, then expressed in the rotating body axes. The highest
    orders may be left out; motions that are combined have the same orders.

    Attributes:
        linear: velocity, acceleration, jerk of the origin, shape (3,) each, m/s and so on.
        angular: angular velocity and its first two time derivatives, shape (3,) each, rad/s, ...
    """

    linear: tuple[ScalarArray, ...]
    angular: tuple[ScalarArray, ...]

    def stacked(self, order: int) -> ScalarArray:
        """Return the linear, then the angular derivative of an order, shape (6,).

        Raises:
            ArgumentTypeError: the motion was computed without this order.
        """
        if order >= len(self.linear):
            raise ArgumentTypeError(f'{_RATES[order]} is None, expected numbers')
        return np.concatenate([self.linear[order], self.angular[order]])

    def field(self, order: int) -> ScalarArray:
        """Return U, shape (3, 3): ``linear[order] + U @ r`` is the derivative at point r (m).

        [N] eq. (51) for the acceleration (order 1): U = wd~ + w~ w~.
        """
        w = self.angular[0]
        if order == 0:
            return skew(w)
        wd = self.angular[1]
        # w~ w~ = w w^T - w^2 E, written out to share the squares.
        xx, yy, zz = w * w
        xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
        squares = np.array([[-(yy + zz), xy, xz], [xy, -(xx + zz), yz], [xz, yz, -(xx + yy)]])
        field: ScalarArray = skew(wd) + squares
        if order == 2:
            W = skew(w)
            field = skew(self.angular[2]) + 2 * skew(wd) @ W + W @ field
        return field

    def carried(self, r: ScalarArray) -> FrameMotion:
        """Return the motion of a point of the same body, displaced by r (body axes, m)."""
        linear = tuple(x + self.field(order) @ r for order, x in enumerate(self.linear))
        return FrameMotion(linear, self.angular)

    def composed(self, relative: FrameMotion, d: ScalarArray) -> FrameMotion:
        """Return the motion of c from this motion of b and the motion of c relative to b.

        [T] (77), (78), (83), (84), and one derivative more: transport by b, Coriolis terms and the
        relative motion itself. [T] (79), (85), for a point fixed on b, are `carried`.

        Args:
            relative: motion of c relative to b, in the axes of this motion.
            d: vector from b's origin to c's, shape (3,), in these axes, m.
        """
        w, d1, r = self.angular[0], relative.linear[0], relative.angular[0]
        linear, angular = [self.linear[0] + self.field(0) @ d + d1], [w + r]
        if len(self.linear) > 1:
            wd, d2, r1 = self.angular[1], relative.linear[1], relative.angular[1]
            wr = cross(w, r)
            linear.append(self.linear[1] + self.field(1) @ d + 2 * cross(w, d1) + d2)
            angular.append(wd + wr + r1)
        if len(self.linear) > 2:
            carried = self.linear[2] + self.field(2) @ d + 3 * (self.field(1) @ d1)
            linear.append(carried + 3 * cross(w, d2) + relative.linear[2])
            turned = self.angular[2] + cross(wd, r) + cross(w, wr + 2 * r1)
            angular.append(turned + relative.angular[2])
        return FrameMotion(tuple(linear), tuple(angular))

    def seen_from(self, reference: FrameMotion, d: ScalarArray) -> FrameMotion:
        """Return the motion of this frame relative to another: the inverse of `composed`.

        Args:
            reference: motion of the other frame, in the axes of this motion and of the result.
            d: vector from the other frame's origin to this one's, shape (3,), in these axes, m.
        """
        before = reference.carried(d)
        turn = before.angular[0]
        d1, r = self.linear[0] - before.linear[0], self.angular[0] - turn
        linear, angular = [d1], [r]
        if len(self.linear) > 1:
            d2 = self.linear[1] - before.linear[1] - 2 * cross(turn, d1)
            carried = cross(turn, r)
            r1 = self.angular[1] - before.angular[1] - carried
            linear.append(d2)
            angular.append(r1)
        if len(self.linear) > 2:
            d3 = self.linear[2] - before.linear[2] - 3 * (before.field(1) @ d1)
            linear.append(d3 - 3 * cross(turn, d2))
            r2 = self.angular[2] - before.angular[2] - cross(before.angular[1], r)
            angular.append(r2 - cross(turn, carried + 2 * r1))
        return FrameMotion(tuple(linear), tuple(angular))

    def turned(self, rotation: ScalarArray) -> FrameMotion:
        """Return the motion in other axes; `rotation` maps components into them."""
        linear, angular = (
            tuple([rotation @ x for x in parts]) for parts in (self.linear, self.angular)
        )
        return FrameMotion(linear, angular)

    def moved(self, body: JointPlacement, rates: Sequence[Any]) -> FrameMotion:
        """Return the motion of a child body whose joint moves with rates (qd, qdd, qddd).

        Of the rates, too, the highest orders may be left out.
        """
        before = self.carried(body.offset).turned(body.rotation.T)
        s, z = body.linear_axis, body.angular_axis
        w, qd = before.angular[0], rates[0]
        linear, angular = [before.linear[0] + s * qd], [w + z * qd]
        if len(self.linear) > 1:
            wd, qdd = before.angular[1], rates[1]
            ws, wz = cross(w, s), cross(w, z)
            linear.append(before.linear[1] + s * qdd + ws * (2 * qd))
            angular.append(wd + z * qdd + wz * qd)
        if len(self.linear) > 2:
            qddd = rates[2]
            s2 = cross(wd, s) + cross(w, ws)  # second derivative of an axis rotating with w
            z2 = cross(wd, z) + cross(w, wz)
            linear.append(before.linear[2] + s * qddd + ws * (3 * qdd) + s2 * (3 * qd))
            angular.append(before.angular[2] + z * qddd + wz * (2 * qdd) + z2 * qd)
        return FrameMotion(tuple(linear), tuple(angular))


def body_motions(
    model: RigidModel,
    placements: Sequence[JointPlacement],
    rates: Sequence[ArrayLike],
    base_acceleration: ScalarArray,
) -> list[FrameMotion]:
    """Return the motion of every body's origin, body axes, as a table of the model.

    Args:
        model: the robot.
        placements: placements of its bodies on their parents.
        rates: qd, qdd, qddd, shape (n,) each; the last may be missing, and motions have as many
            orders.
        base_acceleration: acceleration of the base, shape (3,), base axes, m/s^2.

    Raises:
        ArgumentTypeError: a derivative holds no numbers.
        ShapeError: a derivative has another shape.
    """
    rates = rate_vectors(*rates, length=model.n)
    motions = model.table(motion_of_base(len(rates), base_acceleration))
    for k, joint in model.outward():
        c = joint.coordinate
        motions[k] = motions[joint.parent].moved(placements[k], [rate[c] for rate in rates])
    return motions


def rate_vectors(*rates: ArrayLike, length: int | None = None) -> list[ScalarArray]:
    """Return derivatives of the coordinates as arrays of numbers, shape (n,) each.

    Args:
        rates: qd, qdd, qddd, in this order; the last may be missing.
        length: n; None allows any.

    Raises:
        ArgumentTypeError: a derivative is None or holds no numbers.
        ShapeError: a derivative has another shape.
    """
    named = zip(_RATES, rates, strict=False)
    return [number_vector(rate, name, length) for name, rate in named]


def given_rates(*rates: ArrayLike | None, length: int | None = None) -> list[ScalarArray]:
    """Return the derivatives before the first that is left out; see `rate_vectors`.

    Args:
        rates: qd, qdd, qddd, in this order; the last ones may be None.
        length: n; None allows any.

    Raises:
        ArgumentTypeError: a derivative holds no numbers, or None stands for one below the highest.
        ShapeError: a derivative has another shape.
    """
    orders = max((k for k, rate in enumerate(rates) if rate is not None), default=0) + 1
    return rate_vectors(*rates[:orders], length=length)  # type: ignore[arg-type]


def motion_of_base(orders: int, acceleration: ScalarArray | None = None) -> FrameMotion:
    """Return the motion of the base up to a number of orders.

    Args:
        orders: 1 for the velocity alone, 3 for velocity, acceleration and jerk.
        acceleration: shape (3,), base axes, m/s^2; None for a base at rest.
    """
    zero = np.zeros(3, dtype=int)
    linear = (zero, zero if acceleration is None else acceleration, zero)
    return FrameMotion(linear[:orders], (zero,) * orders)


@singledispatch
def frame_motion(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None,
    qddd: ArrayLike | None,
    link: str,
    point: ArrayLike | None = None,
) -> FrameMotion:
    """Return the velocity, acceleration and jerk of a point on a link, base axes.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,); None leaves acceleration and jerk out.
        qddd: third derivatives, shape (n,); None leaves the jerk out.
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        ArgumentTypeError: a derivative below one that is given is left out.
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    frame = tree.frame(link)
    q = number_vector(q, 'q', tree.n)
    rates = given_rates(qd, qdd, qddd, length=tree.n)
    motions = body_motions(tree, joint_placements(tree, q), rates, np.zeros(3, dtype=int))
    rotation = body_placements(tree, q)[frame.body].rotation
    return motions[frame.body].carried(on_link(frame, point)).turned(rotation)


def frame_velocity(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return [v; omega] of a link, shape (6,), m/s and rad/s, base axes.  [T] eqs. (30), (38).

    [T] eqs. (19), (20), (28), (43) for a point in the link's frame, shape (3,), m; [N] (18), (21).
    """
    motion = frame_motion(model, q, qd, None, None, link, point)
    return motion.stacked(0)


def frame_acceleration(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    link: str,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return [a; alpha] of a link, shape (6,), m/s^2 and rad/s^2, base axes.

    Classical acceleration of the link's origin, or of a point in its frame, shape (3,), m, without
    gravity: ``J qdd + H (qd (x) qd)``, [T] eqs. (49), (50), (52), (62), (85); [N] eqs. (19), (22).
    """
    motion = frame_motion(model, q, qd, qdd, None, link, point)
    return motion.stacked(1)


def frame_jerk(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    qddd: ArrayLike,
    link: str,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return the time derivative of `frame_acceleration`, shape (6,), m/s^3 and rad/s^3.

    [N] eqs. (20), (23).

    ``J qddd + H (2 qdd (x) qd + qd (x) qdd) + dH/dq (qd (x) qd (x) qd)``, base axes.
    """
    motion = frame_motion(model, q, qd, qdd, qddd, link, point)
    return motion.stacked(2)
