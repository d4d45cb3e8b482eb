# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Inertias as moments of the mass distribution: of bodies, regrouped, and of whole subtrees.

With the pseudo-inertia P = [[S, h], [h^T, m]] of a body and a vector field U r + u over its
particles r (a velocity or an acceleration field), [[U, u], [0, 0]] P contains the field's moments.
M, C*, g and tau depend on a body through these alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kron_dynamics.kinematics.forward import JointPlacement
from kron_dynamics.kronecker import cross, skew
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.typing import ScalarArray


@dataclass(frozen=True, slots=True, eq=False)
class Wrench:
    """A force and a moment about a body's origin (or a momentum and its moment), body axes.

    Attributes:
        force: shape (3,).
        moment: shape (3,).
    """

    force: ScalarArray
    moment: ScalarArray

    def __add__(self, other: Wrench) -> Wrench:
        """Return the sum of two wrenches about the same origin, in the same axes."""
        return Wrench(self.force + other.force, self.moment + other.moment)

    def to_parent(self, placed: JointPlacement) -> Wrench:
        """Return the wrench about the parent body's origin, in its axes."""
        force = placed.rotation @ self.force
        return Wrench(force, placed.rotation @ self.moment + cross(placed.offset, force))

    def joint_effort(self, placed: JointPlacement) -> Any:
        """Return the component along the body's joint axis: the effort of its drive."""
        return placed.linear_axis @ self.force + placed.angular_axis @ self.moment


@dataclass(frozen=True, slots=True, eq=False)
class FieldMoments:
    """Moments of a vector field over a mass distribution, about the origin of its axes.

    Attributes:
        force: integral of the field, shape (3,): the momentum of a velocity field, the inertia
            force of an acceleration field.
        matrix: Q = integral of (field) r^T, shape (3, 3).
    """

    force: ScalarArray
    matrix: ScalarArray

    def __add__(self, other: FieldMoments) -> FieldMoments:
        """Return the sum of moments about the same origin, in the same axes."""
        return FieldMoments(self.force + other.force, self.matrix + other.matrix)

    def to_parent(self, placed: JointPlacement) -> FieldMoments:
        """Return the moments about the parent body's origin, in its axes."""
        R = placed.rotation
        force = R @ self.force
        return FieldMoments(force, R @ self.matrix @ R.T + np.outer(force, placed.offset))

    def along(self, linear: ScalarArray, matrix: ScalarArray) -> Any:
        """Return the integral of the scalar product with the field ``matrix @ r + linear``."""
        return linear @ self.force + (matrix * self.matrix).sum()

    @property
    def wrench(self) -> Wrench:
        """The wrench of the force and the integral of r x (field)."""
        Q = self.matrix
        moment = np.array([Q[2, 1] - Q[1, 2], Q[0, 2] - Q[2, 0], Q[1, 0] - Q[0, 1]])
        return Wrench(self.force, moment)


@dataclass(frozen=True, slots=True, eq=False)
class Inertia:
    """Moments of a mass distribution about the origin of a body, in its axes.

    The blocks of the pseudo-inertia [[S, h], [h^T, m]].

    Attributes:
        mass: m, kg.
        first: h = integral of r dm, shape (3,), kg m.
        second: S = integral of r r^T dm, shape (3, 3), kg m^2.
    """

    mass: Any
    first: ScalarArray
    second: ScalarArray

    def __add__(self, other: Inertia) -> Inertia:
        """Return the sum of two inertias about the same point, in the same axes."""
        return Inertia(
            self.mass + other.mass, self.first + other.first, self.second + other.second
        )

    def __sub__(self, other: Inertia) -> Inertia:
        """Return the difference of two inertias about the same point, in the same axes."""
        return Inertia(
            self.mass - other.mass, self.first - other.first, self.second - other.second
        )

    def turned(self, rotation: ScalarArray) -> Inertia:
        """Return the moments in other axes; `rotation` maps components into them."""
        return Inertia(self.mass, rotation @ self.first, _turned(rotation, self.second))

    def about(self, offset: ScalarArray) -> Inertia:
        """Return the moments about another point; `offset` leads from it to this origin."""
        shift = np.outer(self.first + self.mass / 2 * offset, offset)
        return Inertia(self.mass, self.first + self.mass * offset, self.second + (shift + shift.T))

    def moments(self, linear: ScalarArray, matrix: ScalarArray) -> FieldMoments:
        """Return the moments of the field ``matrix @ r + linear`` over this distribution."""
        return FieldMoments(
            self.mass * linear + matrix @ self.first,
            np.outer(linear, self.first) + matrix @ self.second,
        )


def _turned(R: ScalarArray, S: ScalarArray) -> ScalarArray:
    """Return R S R^T for symmetric S, with each entry computed once."""
    RS = R @ S
    upper = [[RS[i] @ R[j] if i <= j else None for j in range(3)] for i in range(3)]
    return np.array([[upper[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)])


def body_inertias(model: RigidModel) -> list[Inertia]:
    """Return the inertia of every body about its frame's origin, in its axes."""
    return [Inertia(body.mass, body.first_moment, body.second_moment) for body in model.bodies]


def regrouped_inertias(model: RigidModel) -> list[Inertia]:
    """Return inertias of the bodies that give the same dynamics with fewer parameters.

    The base inertial parameters of Gautier and Khalil: a part P of a body's inertia with X P = 0
    for its joint's twist X has the same effect on either side of the joint and is moved to the
    parent. For a revolute joint this is m, and h and S along the axis; for a prismatic joint all
    of S; for a screw joint S along the axis. The part that reaches the base is dropped. M, C*, g
    and tau do not change; energies and the reactions in the joints do.
    """
    inertias = body_inertias(model)
    none = np.zeros(3, dtype=int)
    for k in reversed(range(len(inertias))):
        joint, inertia = model.joints[k], inertias[k]
        mass, first, second = inertia.mass, inertia.first, inertia.second
        if joint.motion.turns:
            z = joint.axis
            first, second = first @ z * z, z @ second @ z * np.outer(z, z)
        if joint.motion.slides:
            mass, first = 0, none
        shared = Inertia(mass, first, second)
        inertias[k] = inertia - shared
        if joint.parent >= 0:
            inertias[joint.parent] += shared.turned(joint.rotation).about(joint.translation)
    return inertias


def composite_inertias(
    model: RigidModel, placements: Sequence[JointPlacement], inertias: Sequence[Inertia]
) -> list[Inertia]:
    """Return the composite inertia of every joint's subtree, as a table of the model.

    Each is about the origin of the joint's body, in its axes; the base has that of the robot.

    Args:
        model: the robot.
        placements: placements of its bodies on their parents.
        inertias: inertias of its bodies.
    """
    none = np.zeros(3, dtype=int)
    composites = model.table(Inertia(0, none, np.zeros((3, 3), dtype=int)))
    for k, _ in model.outward():
        composites[k] = inertias[k]
    for k, joint in model.inward():
        placed = placements[k]
        composites[joint.parent] += composites[k].turned(placed.rotation).about(placed.offset)
    return composites


def subtree_momenta(model: RigidModel, placements: Sequence[JointPlacement]) -> list[FieldMoments]:
    """Return the momentum of every subtree per unit rate of its joint: X_k P_k, body axes.

    Args:
        model: the robot.
        placements: placements of its bodies on their parents.

    Returns:
        the momenta, a table of the model.
    """
    composites = composite_inertias(model, placements, model.per_body(regrouped_inertias))
    momenta = model.table()
    for k, _ in model.outward():
        placed = placements[k]
        momenta[k] = composites[k].moments(placed.linear_axis, skew(placed.angular_axis))
    return momenta
