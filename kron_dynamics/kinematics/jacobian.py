# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Geometric Jacobians (translational, rotational) of frame origins or points, base axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

from kron_dynamics.kinematics.forward import BodyPlacement, JointPlacement, body_placements
from kron_dynamics.kinematics.scalars import on_link, widest, zeros_like
from kron_dynamics.kronecker import cross
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


class Column(NamedTuple):
    """The columns of J_T and J_R of one joint, for a point on a body that it moves.

    Attributes:
        linear: velocity of the point per unit rate of the joint, shape (3,).
        angular: angular velocity per unit rate, shape (3,).
    """

    linear: ScalarArray
    angular: ScalarArray

    def shifted(self, offset: ScalarArray) -> Column:
        """Return the column of a point displaced by `offset` (m) on the same body.

        J_TG = J_T - p~ J_R, [T] eq. (45).
        """
        return Column(self.linear + cross(self.angular, offset), self.angular)

    def turned(self, rotation: ScalarArray) -> Column:
        """Return the column in other axes; `rotation` maps components into them."""
        return Column(rotation @ self.linear, rotation @ self.angular)


def columns_in_body_axes(model: RigidModel, placements: Sequence[JointPlacement]) -> Any:
    """Return the Jacobian columns of every body's origin, each in that body's axes.

    Forward recursion from parent b to child c: J_Tc = J_Tb - d~ J_Rb + bJ_Tc and
    J_Rc = J_Rb + bJ_Rc, [T] eqs. (80), (81).

    Args:
        model: the robot.
        placements: placements of its bodies on their parents.

    Returns:
        path table of the model with the `Column` at (body, position on its path).
    """
    columns = model.path_table()
    for k, joint in model.outward():
        placed = placements[k]
        columns[k, model.depth(k)] = Column(placed.linear_axis, placed.angular_axis)
        for d, _, _ in model.ancestors(k):
            carried = columns[joint.parent, d].shifted(placed.offset)
            columns[k, d] = carried.turned(placed.rotation.T)
    return columns


def body_columns(
    model: RigidModel, bodies: Sequence[BodyPlacement], body: int, point: ScalarArray
) -> Any:
    """Return the Jacobian columns of a point on a body, base axes.

    Args:
        model: the robot.
        bodies: placements of its bodies.
        body: index of the body.
        point: vector from the body's origin, base axes, shape (3,), m.

    Returns:
        path table of the model with the `Column` at each position on the body's path.
    """
    columns = model.path_table()
    reach = model.table()  # vector from each body's origin to the point, a sum of short vectors
    reach[body] = point
    for d, k, joint in model.back(model.path(body)):
        placed = bodies[k]
        columns[d] = Column(placed.linear_axis, placed.angular_axis).shifted(reach[k])
        reach[joint.parent] = reach[k] + placed.offset
    return columns


def frame_columns(
    model: RigidModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> Any:
    """Return the Jacobian columns of a point on a link, base axes, as `body_columns` does.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    frame = model.frame(link)
    bodies = body_placements(model, q)
    offset = bodies[frame.body].rotation @ on_link(frame, point)
    return body_columns(model, bodies, frame.body, offset)


def assemble_jacobian(
    model: RigidModel, q: ArrayLike, chain: Sequence[int], columns: Any
) -> ScalarArray:
    """Return the Jacobian from the columns of a chain of joints, shape (6, n).

    Columns of joints that share a coordinate (mimic joints) are added.

    Args:
        model: the robot.
        q: coordinates, shape (n,); only their number type is used.
        chain: indices of the joints.
        columns: the `Column` at each position of the chain.
    """
    J = zeros_like(q, (6, model.n))
    for d, _, joint in model.each(chain):
        J[:3, joint.coordinate] += columns[d].linear
        J[3:, joint.coordinate] += columns[d].angular
    return J


@singledispatch
def jacobian(
    model: RobotModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return the geometric Jacobian of a link, shape (6, n): ``[v; omega] = J qd``.

    Rows: velocity of the link's origin (or of a point fixed on it: J_TG), then angular velocity,
    both in base axes.  [T] eqs. (29), (37), (45).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    chain = tree.path(tree.frame(link).body)
    columns = frame_columns(tree, q, link, point)
    return assemble_jacobian(tree, widest(q, point), chain, columns)


def translational_jacobian(
    model: RobotModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return J_T (J_TG of a point), shape (3, n), base axes, m/rad or 1.  [T] (29), (45)."""
    return jacobian(model, q, link, point)[:3]


def rotational_jacobian(model: RobotModel, q: ArrayLike, link: str) -> ScalarArray:
    """Return J_R, shape (3, n), base axes: the lower rows of `jacobian`.  [T] (35)-(38)."""
    return jacobian(model, q, link)[3:]
