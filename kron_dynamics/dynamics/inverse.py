# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Inverse dynamics by one recursion out and back (Newton-Euler in the bodies' axes)."""

from __future__ import annotations

import numpy as np

from kron_dynamics.dynamics.composite import regrouped_inertias
from kron_dynamics.kinematics.forward import place_joints
from kron_dynamics.kinematics.motion import body_motions
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.kronecker import cross
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
    placements = place_joints(model, q)
    # Gravity enters as an acceleration of the base against it.
    motions = body_motions(model, placements, qd, qdd, zeros_like(q, (model.n,)), -gravity)
    moments = [
        inertia.moments(motion.linear[1], motion.field(1))
        for inertia, motion in zip(regrouped_inertias(model), motions, strict=True)
    ]
    wrenches = [(moment.force, moment.moment) for moment in moments]
    tau = zeros_like(np.concatenate([as_scalars(x) for x in (q, qd, qdd)]), (model.n,))
    tau += model.armature * as_scalars(qdd)
    for k in reversed(range(len(wrenches))):
        joint, placed = model.joints[k], placements[k]
        force, moment = wrenches[k]
        tau[joint.coordinate] += placed.linear_axis @ force + placed.angular_axis @ moment
        if joint.parent >= 0:
            force, moment = placed.rotation @ force, placed.rotation @ moment
            carried_force, carried_moment = wrenches[joint.parent]
            wrenches[joint.parent] = (
                carried_force + force,
                carried_moment + moment + cross(placed.offset, force),
            )
    return tau
