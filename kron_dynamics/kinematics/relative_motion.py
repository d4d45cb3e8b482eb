# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Velocity, acceleration and jerk of one link relative to another, in the axes of a third."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import singledispatch
from typing import NamedTuple

import numpy as np

from kron_dynamics.kinematics.forward import JointPlacement, joint_placements
from kron_dynamics.kinematics.motion import FrameMotion, given_rates, motion_of_base
from kron_dynamics.kinematics.relative import rotation_between
from kron_dynamics.kinematics.scalars import number_vector, on_link
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.model.traversal import paths_apart
from kron_dynamics.typing import ArrayLike, ScalarArray


class MovingTree(NamedTuple):
    """A tree of bodies in motion.

    Attributes:
        tree: the tree.
        placements: placement of each body on its parent.
        moved: returns a body's motion in its axes, given its index and its parent's motion in the
            parent's axes.
    """

    tree: RigidModel
    placements: Sequence[JointPlacement]
    moved: Callable[[int, FrameMotion], FrameMotion]


@singledispatch
def moving_tree(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None,
    qddd: ArrayLike | None,
) -> MovingTree:
    """Return the tree of a robot with the motion of each body on its parent.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,); None leaves accelerations and jerks out.
        qddd: third derivatives, shape (n,); None leaves the jerks out.
    """
    tree = rigid_tree(model)
    rates = given_rates(qd, qdd, qddd, length=tree.n)
    placements = joint_placements(tree, number_vector(q, 'q', tree.n))

    def moved(k: int, before: FrameMotion) -> FrameMotion:
        c = tree.joints[k].coordinate
        return before.moved(placements[k], [rate[c] for rate in rates])

    return MovingTree(tree, placements, moved)


def relative_motion(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None,
    qddd: ArrayLike | None,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> FrameMotion:
    """Return the motion of link c relative to reference a, in the axes of k.

    [T] (77)-(79), (83)-(85), solved for the relative motion: the motion of c less the transport by
    a and the Coriolis terms. Derivatives are taken in the moving frame of a; the axes of k only
    determine the components.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,); None leaves acceleration and jerk out.
        qddd: third derivatives, shape (n,); None leaves the jerk out.
        link: c.
        reference: a.
        axes: k; None for the reference's.
        point: of c, in its frame, shape (3,), m; None for its origin.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    tree, placements, moved = moving_tree(model, q, qd, qdd, qddd)
    frames = tree.frame(reference), tree.frame(link)
    paths = paths_apart(tree, frames[0].body, frames[1].body)
    # Both chains start at the last common body, whose own motion cancels.
    still, orders = np.zeros(3, dtype=int), len(given_rates(qd, qdd, qddd))
    ends = []
    for frame, path, at in zip(frames, paths, (None, point), strict=True):
        motion = motion_of_base(orders)
        turn, place = np.eye(3, dtype=int), still
        for k in path:
            motion, placed = moved(k, motion), placements[k]
            turn, place = turn @ placed.rotation, place + turn @ placed.offset
        r = on_link(frame, at)
        ends.append((motion.carried(r).turned(turn), turn @ frame.rotation, place + turn @ r))
    (observer, own, start), (seen, _, end) = ends
    relative = seen.seen_from(observer, end - start).turned(own.T)
    if axes is None or axes == reference:
        return relative
    return relative.turned(rotation_between(model, q, axes, reference))


def relative_velocity(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return [v; omega] of a link relative to another, shape (6,).  [T] (74)-(76).

    ``relative_jacobian(...) qd``, m/s and rad/s, in the axes of a third link; arguments and errors
    as in `relative_motion`.
    """
    motion = relative_motion(model, q, qd, None, None, link, reference, axes, point)
    return motion.stacked(0)


def relative_acceleration(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return [a; alpha] of a link relative to another, shape (6,).  [T] (83)-(85).

    ``relative_jacobian(...) qdd + relative_hessian(...) (qd (x) qd)``, m/s^2 and rad/s^2, in the
    axes of a third link; arguments and errors as in `relative_motion`.
    """
    motion = relative_motion(model, q, qd, qdd, None, link, reference, axes, point)
    return motion.stacked(1)


def relative_jerk(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    qddd: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return the derivative of `relative_acceleration` in the reference's frame, shape (6,).

    m/s^3 and rad/s^3, in the axes of a third link; arguments and errors as in `relative_motion`.
    """
    motion = relative_motion(model, q, qd, qdd, qddd, link, reference, axes, point)
    return motion.stacked(2)
