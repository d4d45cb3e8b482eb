# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Jacobians: translational and rotational, frame origin, base axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kron_dynamics.kinematics.forward import BodyPlacement, JointPlacement, place_bodies
from kron_dynamics.kinematics.scalars import zeros_like
from kron_dynamics.kronecker import cross
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@dataclass(frozen=True, slots=True, eq=False)
class PathColumns:
    """Columns of a Jacobian for the joints on the path to a point; the others are zero.

    Attributes:
        joints: indices of the joints, base first.
        linear: column of J_T of each joint, shape (3,) each.
        angular: column of J_R of each joint, shape (3,) each.
    """

    joints: tuple[int, ...]
    linear: tuple[ScalarArray, ...]
    angular: tuple[ScalarArray, ...]

    def shifted(self, offset: ScalarArray) -> PathColumns:
        """Return the columns of a point `offset` (base axes, m) away on the same body.

        J_TG = J_T - p~ J_R, [T] eq. (45).
        """
        linear = tuple(
            v + cross(z, offset) for v, z in zip(self.linear, self.angular, strict=True)
        )
        return PathColumns(self.joints, linear, self.angular)

    def turned(self, rotation: ScalarArray) -> PathColumns:
        """Return the columns in other axes: `rotation` holds the present ones in those."""
        return PathColumns(
            self.joints,
            tuple(rotation @ v for v in self.linear),
            tuple(rotation @ z for z in self.angular),
        )

    def followed_by(self, joint: int, linear: ScalarArray, angular: ScalarArray) -> PathColumns:
        """Return the columns with those of one more joint, shape (3,) each, behind them."""
        return PathColumns((*self.joints, joint), (*self.linear, linear), (*self.angular, angular))


def body_columns(model: RobotModel, placements: Sequence[BodyPlacement]) -> list[PathColumns]:
    """Return the Jacobian columns of every body's origin.

    Child from parent, one joint at a time: J_Tc = J_Tb - d~ J_Rb + bJ_Tc and
    J_Rc = J_Rb + bJ_Rc, [T] eqs. (77), (79), all in base axes.
    """
    columns: list[PathColumns] = []
    for k, (joint, placement) in enumerate(zip(model.joints, placements, strict=True)):
        carried = columns[joint.parent] if joint.parent >= 0 else PathColumns((), (), ())
        carried = carried.shifted(placement.offset)
        columns.append(carried.followed_by(k, placement.linear_axis, placement.angular_axis))
    return columns


def columns_in_body_axes(
    model: RobotModel, placements: Sequence[JointPlacement]
) -> list[PathColumns]:
    """Return the Jacobian columns of every body's origin, each in that body's axes.

    As `body_columns`, with [T] eq. (80), (82) for the change of axes: nothing is turned further
    than from one body to the next.

    Args:
        model: the robot.
        placements: of its bodies on their parents.
    """
    columns: list[PathColumns] = []
    for k, (joint, placed) in enumerate(zip(model.joints, placements, strict=True)):
        carried = columns[joint.parent] if joint.parent >= 0 else PathColumns((), (), ())
        carried = carried.shifted(placed.offset).turned(placed.rotation.T)
        columns.append(carried.followed_by(k, placed.linear_axis, placed.angular_axis))
    return columns


def frame_columns(
    model: RobotModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> PathColumns:
    """Return the Jacobian columns of a point on a link.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    frame = model.frame(link)
    if frame.body < 0:
        return PathColumns((), (), ())
    placements = place_bodies(model, q)
    columns = body_columns(model, placements)[frame.body]
    return columns.shifted(placements[frame.body].rotation @ frame.locate(point))


def assemble_jacobian(model: RobotModel, q: ArrayLike, columns: PathColumns) -> ScalarArray:
    """Return columns of joints as a Jacobian over the coordinates, shape (6, n)."""
    J = zeros_like(q, (6, model.n))
    for k, v, z in zip(columns.joints, columns.linear, columns.angular, strict=True):
        coordinate = model.joints[k].coordinate
        J[:3, coordinate] += v
        J[3:, coordinate] += z
    return J


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
    return assemble_jacobian(model, q, frame_columns(model, q, link, point))


def translational_jacobian(
    model: RobotModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return J_T (J_TG of a point), shape (3, n), base axes, m/rad or 1.  [T] (29), (45)."""
    return jacobian(model, q, link, point)[:3]


def rotational_jacobian(model: RobotModel, q: ArrayLike, link: str) -> ScalarArray:
    """Return J_R, shape (3, n), base axes: the lower rows of `jacobian`.  [T] eq. (37)."""
    return jacobian(model, q, link)[3:]
