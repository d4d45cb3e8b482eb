# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of one link as seen from another, in the axes of a third.

The chain from the reference to the link goes up the tree against its joints, then down with
them; seen from the reference, a joint gone against turns the rest of the chain the other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from kron_dynamics.kinematics.forward import BodyPlacement, body_placements
from kron_dynamics.kinematics.hessian import assemble_hessian
from kron_dynamics.kinematics.jacobian import Column, assemble_jacobian
from kron_dynamics.kinematics.scalars import zeros_like
from kron_dynamics.kronecker import block_skew, kronecker
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.traversal import paths_apart
from kron_dynamics.typing import ArrayLike, ScalarArray


@dataclass(frozen=True, slots=True, eq=False)
class _Branch:
    """A body's joints behind the common ancestor, and where they are, in base axes.

    Attributes:
        joints: indices, nearest to the ancestor first.
        origins: of their bodies, from the ancestor's origin.
        end: of the link, from the ancestor's origin.
        rotation: of the link.
    """

    joints: tuple[int, ...]
    origins: tuple[ScalarArray, ...]
    end: ScalarArray
    rotation: ScalarArray


def _branch(
    model: RigidModel, placements: list[BodyPlacement], link: str, joints: tuple[int, ...]
) -> _Branch:
    frame = model.frame(link)
    origins, end = [], np.zeros(3, dtype=int)
    for k in joints:
        end = end + placements[k].offset
        origins.append(end)
    rotation = placements[frame.body].rotation if frame.body >= 0 else np.eye(3, dtype=int)
    return _Branch(
        joints, tuple(origins), end + rotation @ frame.translation, rotation @ frame.rotation
    )


def _branches(
    model: RigidModel, placements: list[BodyPlacement], link: str, reference: str
) -> tuple[_Branch, _Branch]:
    """The branches to the reference and to the link, from the last body they share."""
    up, down = paths_apart(model, model.frame(reference).body, model.frame(link).body)
    return _branch(model, placements, reference, up), _branch(model, placements, link, down)


def relative_columns(
    model: RigidModel,
    q: ArrayLike,
    link: str,
    reference: str,
    point: ArrayLike | None = None,
) -> tuple[tuple[int, ...], list[Column]]:
    """Return the chain of joints from the reference to a link, and the columns of a point on it.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        reference: name of the link it is seen from.
        point: in the link's frame, shape (3,), m; None for its origin.

    Returns:
        numbers of the joints; their Jacobian columns as seen from the reference, base axes.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    bodies = body_placements(model, q)
    up, down = _branches(model, bodies, link, reference)
    end = down.end if point is None else down.end + down.rotation @ np.asarray(point)
    chain, columns = [], []
    for sign, branch, order in ((-1, up, -1), (1, down, 1)):
        for k, origin in list(zip(branch.joints, branch.origins, strict=True))[::order]:
            own = Column(sign * bodies[k].linear_axis, sign * bodies[k].angular_axis)
            chain.append(k)
            columns.append(own.shifted(end - origin))
    return tuple(chain), columns


@singledispatch
def rotation_between(model: RobotModel, q: ArrayLike, axes: str, link: str) -> ScalarArray:
    """Return A_link^(axes), shape (3, 3): turns components in a link's axes into another's.

    [T] eqs. (23), (24).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        axes: link whose axes the components are wanted in.
        link: link whose axes they are in.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    up, down = _branches(tree, body_placements(tree, q), link, axes)
    return up.rotation.T @ down.rotation


@singledispatch
def relative_pose(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return the pose of a link in the frame of another, shape (4, 4), m.  [T] (71)-(73).

    In the axes of a third link, the rotation is that of the link in those axes, and the place the
    vector from the reference's origin.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        reference: name of the link it is seen from.
        axes: link whose axes the components are in; None for the reference's.
        point: whose place is wanted, in the link's frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    up, down = _branches(tree, body_placements(tree, q), link, reference)
    end = down.end if point is None else down.end + down.rotation @ np.asarray(point)
    rotation, place = up.rotation.T @ down.rotation, up.rotation.T @ (end - up.end)
    return pose_in_axes(tree, q, rotation, place, axes, reference)


def pose_in_axes(
    model: RobotModel,
    q: ArrayLike,
    rotation: ScalarArray,
    place: ScalarArray,
    axes: str | None,
    reference: str,
) -> ScalarArray:
    """Return a rotation and a place in a reference's axes as a pose in those of a link, (4, 4).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        rotation: shape (3, 3).
        place: shape (3,), m.
        axes: link whose axes are wanted; None for the reference's.
        reference: name of the reference.
    """
    if axes is not None and axes != reference:
        A = rotation_between(model, q, axes, reference)
        rotation, place = A @ rotation, A @ place
    pose = zeros_like(q, (4, 4))
    pose[:3, :3], pose[:3, 3], pose[3, 3] = rotation, place, 1
    return pose


def _in_axes(model: RobotModel, q: ArrayLike, axes: str, matrix: ScalarArray) -> ScalarArray:
    """Upper and lower three rows of a matrix from base axes into a link's."""
    A = rotation_between(model, q, axes, model.root_link)
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
    """Return ^aJ_c^(k) of link c as seen from reference a, in the axes of k, shape (6, n).

    ``[v; omega]`` of c relative to a is this times qd.  [T] (21), (31)-(34), (39)-(48), (68)-(70),
    (74)-(82).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: c.
        reference: a.
        axes: k; None for the reference's.
        point: of c, in its frame, shape (3,), m; None for its origin. It gives J_TG and H_TG.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    J = assemble_jacobian(tree, q, *relative_columns(tree, q, link, reference, point))
    return _in_axes(tree, q, axes or reference, J)


@singledispatch
def relative_hessian(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return A_a^(k) d(^aJ_c^(a))/dq of link c as seen from a, in the axes of k, shape (6, n*n).

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
        point: of c, in its frame, shape (3,), m; None for its origin. It gives J_TG and H_TG.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree = rigid_tree(model)
    H = assemble_hessian(tree, q, *relative_columns(tree, q, link, reference, point))
    return _in_axes(tree, q, axes or reference, H)


def relative_jacobian_derivative(
    model: RobotModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return d(^aJ_c^(k))/dq, shape (6, n*n), Khang's layout.

    For k = c: H_T^(b) and H_R^(b) of [T] eqs. (53)-(55), (57), (61), (63), (64). With
    P = ^aJ_R,k^(k), the turning of the axes themselves: d(A J)/dq = A dJ/dq - bs(P)(A J (x) E_n).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: c.
        reference: a.
        axes: k; None for the reference's.
        point: of c, in its frame, shape (3,), m; None for its origin. It gives J_TG and H_TG.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    axes = axes or reference
    J = relative_jacobian(model, q, link, reference, axes, point)
    H = relative_hessian(model, q, link, reference, axes, point)
    turning = block_skew(relative_jacobian(model, q, axes, reference, axes)[3:])
    E = np.eye(model.n, dtype=int)
    return np.concatenate(
        [H[:3] - turning @ kronecker(J[:3], E), H[3:] - turning @ kronecker(J[3:], E)]
    )
