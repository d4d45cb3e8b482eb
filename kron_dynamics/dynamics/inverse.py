# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics by one recursion out and back (Newton-Euler in base axes)."""

from __future__ import annotations

import numpy as np

from kron_dynamics.kinematics.forward import place_bodies
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.kronecker import cross
from kron_dynamics.model.inertia import rotational_inertia
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def inverse_dynamics(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> ScalarArray:
    """Return ``tau = M qdd + C* (qd (x) qd) + g``, shape (n,), N m or N, without friction.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: their second derivatives, shape (n,).
    """
    return _newton_euler(model, q, qd, qdd, model.gravity)


def bias_forces(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return ``c + g``, shape (n,), N m or N: inverse dynamics at zero acceleration.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
    """
    return _newton_euler(model, q, qd, zeros_like(q, (model.n,)), model.gravity)


def coriolis_vector(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return ``c = C* (qd (x) qd)``, shape (n,), N m or N: without acceleration and gravity.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
    """
    return _newton_euler(model, q, qd, zeros_like(q, (model.n,)), zeros_like(q, (3,)))


def _newton_euler(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, gravity: ScalarArray
) -> ScalarArray:
    qd, qdd = as_scalars(qd), as_scalars(qdd)
    placements = place_bodies(model, q)
    rest = np.zeros(3, dtype=int)
    # Gravity enters as an acceleration of the base against it.
    motions = [(rest, rest, -gravity)]
    wrenches = []
    for joint, body, placed in zip(model.joints, model.bodies, placements, strict=True):
        w, wd, a = motions[joint.parent + 1]
        rate, rate2 = qd[joint.coordinate], qdd[joint.coordinate]
        a = a + cross(wd, placed.offset) + cross(w, cross(w, placed.offset))
        if joint.is_prismatic:
            a = a + placed.linear_axis * rate2 + 2 * cross(w, placed.linear_axis * rate)
        else:
            spin = placed.angular_axis * rate
            wd = wd + placed.angular_axis * rate2 + cross(w, spin)
            w = w + spin
        motions.append((w, wd, a))
        # Constant moments live in body axes, so that is where they are multiplied.
        R = placed.rotation
        w_b, wd_b, a_b = w @ R, wd @ R, a @ R
        h, inertia = body.first_moment, rotational_inertia(body.second_moment)
        force = body.mass * a_b + cross(wd_b, h) + cross(w_b, cross(w_b, h))
        moment = cross(h, a_b) + inertia @ wd_b + cross(w_b, inertia @ w_b)
        wrenches.append((R @ force, R @ moment))
    tau = zeros_like(np.concatenate([as_scalars(q), qd, qdd]), (model.n,))
    tau += model.armature * qdd
    for k in reversed(range(len(wrenches))):
        joint, placed = model.joints[k], placements[k]
        force, moment = wrenches[k]
        tau[joint.coordinate] += placed.linear_axis @ force + placed.angular_axis @ moment
        if joint.parent >= 0:
            carried_force, carried_moment = wrenches[joint.parent]
            wrenches[joint.parent] = (
                carried_force + force,
                carried_moment + moment + cross(placed.offset, force),
            )
    return tau
