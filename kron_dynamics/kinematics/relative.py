# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Pose, Jacobian and Hessian of one link relative to another, in the axes of a third.

The chain from the reference ascends to the last common body, then descends to the link;
ascending joints enter with reversed sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, singledispatch
from typing import NamedTuple

import numpy as np

from kron_dynamics.kinematics.forward import JointPlacement, joint_placements
from kron_dynamics.kinematics.hessian import assemble_hessian
from kron_dynamics.kinematics.jacobian import Column, assemble_jacobian
from kron_dynamics.kinematics.scalars import number_vector, on_link, widest, zeros_like
from kron_dynamics.kronecker import block_skew, contract_last, kronecker
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.traversal import paths_apart
from kron_dynamics.typing import ArrayLike, ScalarArray


class PlacedTree(NamedTuple):
    """A tree of bodies in one configuration.

    Attributes:
        tree: the tree.
        placements: placement of each body on its parent.
    """

    tree: RigidModel
    placements: Sequence[JointPlacement]


@singledispatch
def placed_tree(model: RobotModel, q: ArrayLike) -> PlacedTree:
    """Return the tree of a robot with the placement of each body on its parent.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    tree = rigid_tree(model)
    q = number_vector(q, 'q', tree.n)
    if isinstance(q, np.ndarray) and q.dtype == np.float64:
        return PlacedTree(tree, _placements_at(tree, q.tobytes()))
    return PlacedTree(tree, joint_placements(tree, q))


@lru_cache(maxsize=1)
def _placements_at(tree: RigidModel, q: bytes) -> tuple[JointPlacement, ...]:
    """Return `joint_placements` at the coordinates with these bytes.

    The last ones are kept: several loops, or pose, Jacobian and Hessian, are evaluated in turn.
    """
    return tuple(joint_placements(tree, np.frombuffer(q)))


class _Branch(NamedTuple):
    """The joints from the last common body of two links to one of them, in that body's axes.

    Attributes:
        joints: joint indices, nearest to the common body first.
        columns: axes of these joints as Jacobian columns at their own bodies' origins.
        origins: positions of their bodies' origins, from the common body's origin, m.
        rotation: rotation of the link.
        end: position of the point on the link, from the common body's origin, m.
    """

    joints: tuple[int, ...]
    columns: list[Column]
    origins: list[ScalarArray]
    rotation: ScalarArray
    end: ScalarArray


def _branches(
    model: RobotModel, q: ArrayLike, link: str, reference: str, point: ArrayLike | None = None
) -> list[_Branch]:
    """Return the branches to the reference's origin and to a point on the link.

    They start at the last common body: joints that move both links do not affect the relative
    motion.
    """
    tree, placements = placed_tree(model, q)
    frames = tree.frame(reference), tree.frame(link)
    branches = []
    for frame, path, at in zip(
        frames, paths_apart(tree, frames[0].body, frames[1].body), (None, point), strict=True
    ):
        turn, place = np.eye(3, dtype=int), np.zeros(3, dtype=int)
        columns, origins = [], []
        for k in path:
            placed = placements[k]
            # The axis has the same components in the joint frame and in the body frame; the
            # joint frame's rotation takes fewer operations.
            own = Column(placed.linear_axis, placed.angular_axis)
            columns.append(own.turned(turn @ tree.joints[k].rotation))
            place = place + turn @ placed.offset
            turn = turn @ placed.rotation
            origins.append(place)
        end = place + turn @ on_link(frame, at)
        branches.append(_Branch(path, columns, origins, turn @ frame.rotation, end))
    return branches


def relative_columns(
    model: RigidModel,
    q: ArrayLike,
    link: str,
    reference: str,
    point: ArrayLike | None = None,
) -> tuple[tuple[int, ...], list[Column]]:
    """Return the chain of joints from the reference to a link, and its Jacobian columns.

    Args:
        model: the robot, of rigid links.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        reference: name of the reference link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Returns:
        indices of the joints; the point's Jacobian columns relative to the reference, in its
        axes.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    return _columns(*_branches(model, q, link, reference, point))


def _columns(up: _Branch, down: _Branch) -> tuple[tuple[int, ...], list[Column]]:
    """Return the joints of both branches and the columns of `relative_columns`."""
    chain, columns = [], []
    for sign, branch, order in ((-1, up, -1), (1, down, 1)):
        steps = list(zip(branch.joints, branch.columns, branch.origins, strict=True))
        for k, own, origin in steps[::order]:
            signed = Column(sign * own.linear, sign * own.angular)
            chain.append(k)
            columns.append(signed.shifted(down.end - origin).turned(up.rotation.T))
    return tuple(chain), columns


def rotation_between(model: RobotModel, q: ArrayLike, axes: str, link: str) -> ScalarArray:
    """Return A_link^(axes), shape (3, 3), from the axes of `link` into the axes of `axes`.

    [T] eqs. (23), (24).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        axes: link whose axes the matrix maps components into.
        link: link whose axes the matrix maps components from.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    up, down = _branches(model, q, link, axes)
    rotation: ScalarArray = up.rotation.T @ down.rotation
    return rotation


def relative_pose(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return the pose of a link in the frame of another, shape (4, 4), m.  [T] (71)-(73).

    With `axes`, the rotation is from the link's axes into those axes, and the position is the
    vector from the reference's origin with components in those axes.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        reference: name of the reference link.
        axes: link in whose axes the result is expressed; None for the reference's.
        point: point of the position, in the link's frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    up, down = _branches(model, q, link, reference, point)
    to_axes = up.rotation.T
    if axes is not None and axes != reference:
        to_axes = rotation_between(model, q, axes, reference) @ to_axes
    return _pose(widest(q, point), up, down, to_axes)


def _pose(numbers: ScalarArray, up: _Branch, down: _Branch, to_axes: ScalarArray) -> ScalarArray:
    """Return `relative_pose` from both branches and the rotation into the axes of the result."""
    pose = zeros_like(numbers, (4, 4))
    pose[:3, :3], pose[:3, 3], pose[3, 3] = (
        to_axes @ down.rotation,
        to_axes @ (down.end - up.end),
        1,
    )
    return pose


def in_axes(
    model: RobotModel, q: ArrayLike, axes: str | None, reference: str, matrix: ScalarArray
) -> ScalarArray:
    """Return a Jacobian or Hessian expressed in the axes of another link, same shape.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        axes: link into whose axes the matrix is transformed; None for the reference's.
        reference: link in whose axes the matrix is given.
        matrix: three linear rows, then three angular ones, shape (6, ...).
    """
    if axes is None or axes == reference:
        return matrix
    A = rotation_between(model, q, axes, reference)
    return np.concatenate([A @ matrix[:3], A @ matrix[3:]])


@singledispatch
def relative_jacobian(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return ^aJ_c^(k) of link c relative to reference a, in the axes of k, shape (6, n).

    Times qd it is ``[v; omega]`` of c relative to a.  [T] (21), (31)-(34), (39)-(48), (68)-(70),
    (74)-(82).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: c.
        reference: a.
        axes: k; None for the reference's.
        point: of c, in its frame, shape (3,), m, for J_TG and H_TG; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    chain, columns = relative_columns(tree, q, link, reference, point)
    J = assemble_jacobian(tree, widest(q, point), chain, columns)
    return in_axes(model, q, axes, reference, J)


def relative_pose_and_jacobian(
    model: RobotModel, q: ArrayLike, link: str, reference: str, point: ArrayLike | None = None
) -> tuple[ScalarArray, ScalarArray]:
    """Return `relative_pose` and `relative_jacobian` in the reference's axes, which is faster.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        reference: name of the reference link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    if not isinstance(model, RigidModel):
        pose = relative_pose(model, q, link, reference, point=point)
        return pose, relative_jacobian(model, q, link, reference, point=point)
    up, down = _branches(model, q, link, reference, point)
    numbers = widest(q, point)
    J = assemble_jacobian(model, numbers, *_columns(up, down))
    return _pose(numbers, up, down, up.rotation.T), J


@singledispatch
def relative_hessian(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return A_a^(k) d(^aJ_c^(a))/dq of link c relative to a, in the axes of k, shape (6, n*n).

    The acceleration of c relative to a, in the axes of k, is ``relative_jacobian(...) qdd`` plus
    this times ``qd (x) qd``.  [T] eqs. (51), (58)-(60), (65)-(67), (83)-(91); for k = c the
    translational rows are H*_T of eq. (58). Where k is not a, it is not the derivative of
    ``relative_jacobian`` ([T] eq. (56)): that is `relative_jacobian_derivative`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: c.
        reference: a.
        axes: k; None for the reference's.
        point: of c, in its frame, shape (3,), m, for J_TG and H_TG; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    chain, columns = relative_columns(tree, q, link, reference, point)
    H = assemble_hessian(tree, widest(q, point), chain, columns)
    return in_axes(model, q, axes, reference, H)


def relative_jacobian_derivative(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return d(^aJ_c^(k))/dq, shape (6, n*n), Khang's layout.

    For k = c: H_T^(b) and H_R^(b) of [T] eqs. (53)-(55), (57), (61), (63), (64). The rotation of
    the axes contributes through P = ^aJ_R,k^(k):
    d(A J)/dq = A dJ/dq - bs(P)(A J (x) E_n), with bs for `block_skew`.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: c.
        reference: a.
        axes: k; None for the reference's.
        point: of c, in its frame, shape (3,), m, for J_TG and H_TG; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    axes = reference if axes is None else axes
    J = relative_jacobian(model, q, link, reference, axes, point)
    H = relative_hessian(model, q, link, reference, axes, point)
    turning = block_skew(relative_jacobian(model, q, axes, reference, axes)[3:])
    E = np.eye(model.n, dtype=int)
    return np.concatenate(
        [H[:3] - turning @ kronecker(J[:3], E), H[3:] - turning @ kronecker(J[3:], E)]
    )


def relative_jacobian_dot(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return d(^aJ_c^(k))/dt, shape (6, n): ``d(^aJ_c^(k))/dq (E_n (x) qd)``, [T] eq. (8).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        link: c.
        reference: a.
        axes: k; None for the reference's.
        point: of c, in its frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    dJ = relative_jacobian_derivative(model, q, link, reference, axes, point)
    return contract_last(dJ, number_vector(qd, 'qd', model.n))
