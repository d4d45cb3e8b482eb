# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Velocity, acceleration and jerk of frames, by recursion from body to body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.kinematics.forward import BodyPlacement, place_bodies
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.kronecker import cross
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@dataclass(frozen=True, slots=True, eq=False)
class FrameMotion:
    """Derivatives of a frame's motion in base axes: order 1, 2, 3 at index 0, 1, 2.

    Attributes:
        linear: velocity, acceleration, jerk of the origin, shape (3,) each.
        angular: angular velocity and its first and second time derivatives, shape (3,) each.
    """

    linear: tuple[ScalarArray, ScalarArray, ScalarArray]
    angular: tuple[ScalarArray, ScalarArray, ScalarArray]

    @classmethod
    def rest(cls, like: ArrayLike) -> FrameMotion:
        """Return the motion of the base, in the number system of an array."""
        zero = zeros_like(like, (3,))
        return cls((zero, zero, zero), (zero, zero, zero))

    def carried(self, r: ScalarArray) -> FrameMotion:
        """Return the motion of a point r (base axes, m) away and fixed on the same body."""
        (v, a, jerk), (w, wd, wdd) = self.linear, self.angular
        wr = cross(w, r)
        wwr = cross(w, wr)
        wdr = cross(wd, r)
        return FrameMotion(
            (
                v + wr,
                a + wdr + wwr,
                jerk + cross(wdd, r) + 2 * cross(wd, wr) + cross(w, wdr) + cross(w, wwr),
            ),
            self.angular,
        )

    def moved(self, body: BodyPlacement, rates: ScalarArray) -> FrameMotion:
        """Return the motion of the next body, its joint moving with rates (qd, qdd, qddd)."""
        (v, a, jerk), (w, wd, wdd) = self.carried(body.offset).linear, self.angular
        qd, qdd, qddd = rates
        s, z = body.linear_axis, body.angular_axis
        ws, wz = cross(w, s), cross(w, z)
        s2 = cross(wd, s) + cross(w, ws)  # second derivative of an axis that turns with w
        z2 = cross(wd, z) + cross(w, wz)
        return FrameMotion(
            (
                v + s * qd,
                a + s * qdd + 2 * ws * qd,
                jerk + s * qddd + 3 * ws * qdd + 3 * s2 * qd,
            ),
            (w + z * qd, wd + z * qdd + wz * qd, wdd + z * qddd + 2 * wz * qdd + z2 * qd),
        )


def body_motions(
    model: RobotModel,
    placements: Sequence[BodyPlacement],
    qd: ArrayLike,
    qdd: ArrayLike,
    qddd: ArrayLike,
) -> list[FrameMotion]:
    """Return the motion of every body's origin, base axes, in the order of `model.joints`.

    Args:
        model: the robot.
        placements: of its bodies.
        qd: first derivatives of the coordinates, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,).
    """
    rates = np.array([as_scalars(qd), as_scalars(qdd), as_scalars(qddd)])
    motions = [FrameMotion.rest(rates)]  # the base's, at index -1 + 1
    for joint, placed in zip(model.joints, placements, strict=True):
        motions.append(motions[joint.parent + 1].moved(placed, rates[:, joint.coordinate]))
    return motions[1:]


def frame_motion(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike, link: str
) -> FrameMotion:
    """Return velocity, acceleration and jerk of a link's origin, base axes.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,).
        link: name of the link.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    frame = model.frame(link)
    if frame.body < 0:
        return FrameMotion.rest(q)
    placements = place_bodies(model, q)
    motion = body_motions(model, placements, qd, qdd, qddd)[frame.body]
    return motion.carried(placements[frame.body].rotation @ frame.translation)


def frame_velocity(model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str) -> ScalarArray:
    """Return [v; omega] of a link, shape (6,), m/s and rad/s, base axes.  [T] eqs. (30), (38)."""
    none = zeros_like(q, (model.n,))
    motion = frame_motion(model, q, qd, none, none, link)
    return np.concatenate([motion.linear[0], motion.angular[0]])


def frame_acceleration(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, link: str
) -> ScalarArray:
    """Return [a; alpha] of a link, shape (6,), m/s^2 and rad/s^2, base axes.

    Classical acceleration of the link's origin, without gravity: ``J qdd + H (qd (x) qd)``,
    [T] eqs. (52), (62).
    """
    motion = frame_motion(model, q, qd, qdd, zeros_like(q, (model.n,)), link)
    return np.concatenate([motion.linear[1], motion.angular[1]])


def frame_jerk(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike, link: str
) -> ScalarArray:
    """Return the time derivative of `frame_acceleration`, shape (6,), m/s^3 and rad/s^3.

    ``J qddd + H (2 qdd (x) qd + qd (x) qdd) + dH/dq (qd (x) qd (x) qd)``, base axes.
    """
    motion = frame_motion(model, q, qd, qdd, qddd, link)
    return np.concatenate([motion.linear[2], motion.angular[2]])
