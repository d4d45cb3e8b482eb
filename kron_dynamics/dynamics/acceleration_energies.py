# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Energies of acceleration of first and second order: Appell's function, and that of the jerk.

Half the integral of the squared acceleration, or jerk, over all mass, without gravity. A rotor
contributes half its armature times the squared derivative of its coordinate, as in the kinetic
energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

import numpy as np

from kron_dynamics.dynamics.composite import Inertia, body_inertias
from kron_dynamics.kinematics.forward import joint_placements
from kron_dynamics.kinematics.motion import FrameMotion, body_motions
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.kronecker import cross
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.scalar_arguments import matrix, vector
from kron_dynamics.typing import ArrayLike, ScalarArray


@singledispatch
def acceleration_energy(model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Any:
    """Return E_A^(1) = 1/2 int a^T a dm, complete, W/s: Appell's function.  [N] eq. (49).

    Its derivative with respect to qdd is M qdd + c. Complete: with the terms free of qdd.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
    """
    tree, at_rest = rigid_tree(model), np.zeros(3, dtype=int)
    placements = joint_placements(tree, number_vector(q, 'q', tree.n))
    motions = body_motions(tree, placements, (qd, qdd), at_rest)
    moved = energy_of_bodies(tree, motions, tree.per_body(body_inertias), 1)
    return moved + energy_of_rotors(tree, qdd)


@singledispatch
def second_order_acceleration_energy(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, qddd: ArrayLike
) -> Any:
    """Return E_A^(2) = 1/2 int j^T j dm of the jerk j, complete, W/s^3.  [N] eq. (52).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,).
    """
    tree, at_rest = rigid_tree(model), np.zeros(3, dtype=int)
    placements = joint_placements(tree, number_vector(q, 'q', tree.n))
    motions = body_motions(tree, placements, (qd, qdd, qddd), at_rest)
    moved = energy_of_bodies(tree, motions, tree.per_body(body_inertias), 2)
    return moved + energy_of_rotors(tree, qddd)


def energy_of_bodies(
    tree: RigidModel, motions: Sequence[FrameMotion], inertias: Sequence[Inertia], order: int
) -> Any:
    """Return half the integral of a squared derivative of position over all mass, SI.

    Args:
        tree: the tree of bodies.
        motions: motions of the bodies' origins, a table of the tree.
        inertias: inertias of the bodies, likewise.
        order: 0 for the velocity, 1 for the acceleration, 2 for the jerk.
    """
    energies = tree.table(0)
    for k, _ in tree.outward():
        field = motions[k].linear[order], motions[k].field(order)
        energies[k] = inertias[k].moments(*field).along(*field) / 2
    for k, joint in tree.inward():
        energies[joint.parent] += energies[k]
    return energies[-1]


def energy_of_rotors(model: RobotModel, rates: ArrayLike) -> Any:
    """Return half the sum of the armatures times the squared rates, SI.

    Args:
        model: the robot.
        rates: a derivative of the coordinates, shape (n,).
    """
    rates = number_vector(rates, 'rates', model.n)
    momenta = zeros_like(rates, (model.n,))
    for k in model.coordinates():
        momenta[k] += model.armature[k] * rates[k]
    return momenta @ rates / 2


def body_acceleration_energy(
    mass: Any,
    inertia: ScalarArray,
    acceleration: ArrayLike,
    angular_velocity: ArrayLike,
    angular_acceleration: ArrayLike,
) -> Any:
    """Return E_A^(1) of a rigid body from its mass centre's motion, W/s.  [N] eq. (50), general.

    ``1/2 m a^2 + 1/2 wd.I wd + wd.(w x I w) + 1/2 w^2 w.I w``, all components in the same axes.

    Args:
        mass: m, kg.
        inertia: I about the mass centre, shape (3, 3), kg m^2.
        acceleration: a of the mass centre, shape (3,), m/s^2.
        angular_velocity: w, shape (3,), rad/s.
        angular_acceleration: wd, shape (3,), rad/s^2.

    Raises:
        ArgumentTypeError: an argument is not an array of numbers.
        ShapeError: an argument has another shape.
    """
    (m,), inertia = vector([mass], 'mass', 1), matrix(inertia, 'inertia', 3, 3)
    a = vector(acceleration, 'acceleration', 3)
    w = vector(angular_velocity, 'angular_velocity', 3)
    wd = vector(angular_acceleration, 'angular_acceleration', 3)
    Iw = inertia @ w
    turning = wd @ (inertia @ wd) + (w @ w) * (w @ Iw)
    return (m * (a @ a) + turning) / 2 + wd @ cross(w, Iw)


def body_second_order_acceleration_energy(
    mass: Any,
    inertia: ScalarArray,
    jerk: ArrayLike,
    angular_velocity: ArrayLike,
    angular_acceleration: ArrayLike,
    angular_jerk: ArrayLike,
) -> Any:
    """Return E_A^(2) of a rigid body by its mass centre, complete, W/s^3.  [N] eqs. (53), (63).

    (63) has the terms that depend on wdd. Of the other terms of (53), which do not affect the
    equations of motion, only the last two are right as printed. All components in the same axes.

    Args:
        mass: m, kg.
        inertia: I about the mass centre, shape (3, 3), kg m^2.
        jerk: jerk of the mass centre, shape (3,), m/s^3.
        angular_velocity: w, shape (3,), rad/s.
        angular_acceleration: wd, shape (3,), rad/s^2.
        angular_jerk: wdd, shape (3,), rad/s^3.

    Raises:
        ArgumentTypeError: an argument is not an array of numbers.
        ShapeError: an argument has another shape.
    """
    (m,), inertia = vector([mass], 'mass', 1), matrix(inertia, 'inertia', 3, 3)
    j, w = vector(jerk, 'jerk', 3), vector(angular_velocity, 'angular_velocity', 3)
    wd = vector(angular_acceleration, 'angular_acceleration', 3)
    wdd = vector(angular_jerk, 'angular_jerk', 3)
    total = np.trace(inertia) / 2
    planar = total * np.eye(3, dtype=int) - inertia  # int r r^T dm
    Iw, Pw, Pwd = inertia @ w, planar @ w, planar @ wd
    square, mixed = w @ w, w @ wd
    with_jerk = (
        (m * (j @ j) + wdd @ (inertia @ wdd)) / 2
        + 2 * (w @ cross(wdd, Pwd))
        + wd @ cross(wdd, Pw)
        - square * (wdd @ Iw)
    )
    rest = (
        2 * square * (wd @ Pwd)
        + (wd @ wd) * (w @ Pw) / 2
        + 9 * mixed * mixed * total / 2
        - 7 * mixed * (w @ Pwd)
        + square * (w @ cross(wd, Pw))
        + square * square * (w @ Iw) / 2
    )
    return with_jerk + rest
