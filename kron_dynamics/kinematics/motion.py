# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Velocity, acceleration and jerk of frames, by forward recursion over the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np

from kron_dynamics.kinematics.forward import JointPlacement, body_placements, joint_placements
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@dataclass(frozen=True, slots=True, eq=False)
class FrameMotion:
    """Velocity, acceleration and jerk of a body, in its own axes, at index (order) 0, 1, 2.

    The derivatives are taken in base axes, then expressed in the rotating body axes.

    Attributes:
        linear: velocity, acceleration, jerk of the origin, shape (3,) each, m/s and so on.
        angular: angular velocity and its first two time derivatives, shape (3,) each, rad/s, ...
    """

    linear: tuple[ScalarArray, ScalarArray, ScalarArray]
    angular: tuple[ScalarArray, ScalarArray, ScalarArray]

    def field(self, order: int) -> ScalarArray:
        """Return U, shape (3, 3): ``linear[order] + U @ r`` is the derivative at point r (m).

        [N] eq. (51) for the acceleration (order 1): U = wd~ + w~ w~.
        """
        w, wd, wdd = self.angular
        if order == 0:
            return skew(w)
        # w~ w~ = w w^T - w^2 E, written out to share the squares.
        xx, yy, zz = w * w
        xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
        squares = np.array([[-(yy + zz), xy, xz], [xy, -(xx + zz), yz], [xz, yz, -(xx + yy)]])
        field: ScalarArray = skew(wd) + squares
        if order == 2:
            W = skew(w)
            field = skew(wdd) + 2 * skew(wd) @ W + W @ field
        return field

    def carried(self, r: ScalarArray) -> FrameMotion:
        """Return the motion of a point of the same body, displaced by r (body axes, m)."""
        v, a, jerk = (linear + self.field(order) @ r for order, linear in enumerate(self.linear))
        return FrameMotion((v, a, jerk), self.angular)

    def composed(self, relative: FrameMotion, d: ScalarArray) -> FrameMotion:
        """Return the motion of c from this motion of b and the motion of c relative to b.

        [T] (77), (78), (83), (84), and one derivative more: transport by b, Coriolis terms and the
        relative motion itself. [T] (79), (85), for a point fixed on b, are `carried`.

        Args:
            relative: motion of c relative to b, in the axes of this motion.
            d: vector from b's origin to c's, shape (3,), in these axes, m.
        """
        (v, a, jerk), (w, wd, wdd) = self.linear, self.angular
        (d1, d2, d3), (r, r1, r2) = relative.linear, relative.angular
        wr = cross(w, r)
        return FrameMotion(
            (
                v + self.field(0) @ d + d1,
                a + self.field(1) @ d + 2 * cross(w, d1) + d2,
                jerk + self.field(2) @ d + 3 * (self.field(1) @ d1) + 3 * cross(w, d2) + d3,
            ),
            (w + r, wd + wr + r1, wdd + cross(wd, r) + cross(w, wr + 2 * r1) + r2),
        )

    def seen_from(self, reference: FrameMotion, d: ScalarArray) -> FrameMotion:
        """Return the motion of this frame relative to another: the inverse of `composed`.

        Args:
            reference: motion of the other frame, in the axes of this motion and of the result.
            d: vector from the other frame's origin to this one's, shape (3,), in these axes, m.
        """
        (v, a, jerk), (w, wd, wdd) = self.linear, self.angular
        before = reference.carried(d)
        turn, turn1, _ = before.angular
        d1 = v - before.linear[0]
        d2 = a - before.linear[1] - 2 * cross(turn, d1)
        d3 = jerk - before.linear[2] - 3 * (before.field(1) @ d1) - 3 * cross(turn, d2)
        r = w - turn
        carried = cross(turn, r)
        r1 = wd - turn1 - carried
        r2 = wdd - before.angular[2] - cross(turn1, r) - cross(turn, carried + 2 * r1)
        return FrameMotion((d1, d2, d3), (r, r1, r2))

    def turned(self, rotation: ScalarArray) -> FrameMotion:
        """Return the motion in other axes; `rotation` maps components into them."""
        v, a, jerk = (rotation @ x for x in self.linear)
        w, wd, wdd = (rotation @ x for x in self.angular)
        return FrameMotion((v, a, jerk), (w, wd, wdd))

    def moved(self, body: JointPlacement, rates: Sequence[Any]) -> FrameMotion:
        """Return the motion of a child body whose joint moves with rates (qd, qdd, qddd)."""
        before = self.carried(body.offset).turned(body.rotation.T)
        (v, a, jerk), (w, wd, wdd) = before.linear, before.angular
        qd, qdd, qddd = rates
        s, z = body.linear_axis, body.angular_axis
        ws, wz = cross(w, s), cross(w, z)
        s2 = cross(wd, s) + cross(w, ws)  # second derivative of an axis rotating with w
        z2 = cross(wd, z) + cross(w, wz)
        return FrameMotion(
            (
                v + s * qd,
                a + s * qdd + ws * (2 * qd),
                jerk + s * qddd + ws * (3 * qdd) + s2 * (3 * qd),
            ),
            (w + z * qd, wd + z * qdd + wz * qd, wdd + z * qddd + wz * (2 * qdd) + z2 * qd),
        )


def body_motions(
    model: RigidModel,
    placements: Sequence[JointPlacement],
    qd: ArrayLike,
    qdd: ArrayLike,
    qddd: ArrayLike,
    base_acceleration: ScalarArray,
) -> list[FrameMotion]:
    """Return the motion of every body's origin, body axes, as a table of the model.

    Args:
        model: the robot.
        placements: placements of its bodies on their parents.
        qd: first derivatives of the coordinates, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,).
        base_acceleration: acceleration of the base, shape (3,), base axes, m/s^2.
    """
    qd, qdd, qddd = as_scalars(qd), as_scalars(qdd), as_scalars(qddd)
    zero = np.zeros(3, dtype=int)
    motions = model.table(FrameMotion((zero, base_acceleration, zero), (zero, zero, zero)))
    for k, joint in model.outward():
        c = joint.coordinate
        motions[k] = motions[joint.parent].moved(placements[k], (qd[c], qdd[c], qddd[c]))
    return motions


@singledispatch
def frame_motion(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    qddd: ArrayLike,
    link: str,
    point: ArrayLike | None = None,
) -> FrameMotion:
    """Return the velocity, acceleration and jerk of a point on a link, base axes.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,).
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    frame = tree.frame(link)
    motions = body_motions(tree, joint_placements(tree, q), qd, qdd, qddd, np.zeros(3, dtype=int))
    rotation = body_placements(tree, q)[frame.body].rotation
    return motions[frame.body].carried(frame.locate(point)).turned(rotation)


def frame_velocity(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return [v; omega] of a link, shape (6,), m/s and rad/s, base axes.  [T] eqs. (30), (38).

    [T] eqs. (19), (20), (28), (43) for a point in the link's frame, shape (3,), m; [N] (18), (21).
    """
    none = zeros_like(q, (model.n,))
    motion = frame_motion(model, q, qd, none, none, link, point)
    return np.concatenate([motion.linear[0], motion.angular[0]])


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
    motion = frame_motion(model, q, qd, qdd, zeros_like(q, (model.n,)), link, point)
    return np.concatenate([motion.linear[1], motion.angular[1]])


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
    return np.concatenate([motion.linear[2], motion.angular[2]])
