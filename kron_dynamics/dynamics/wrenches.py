# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Generalized forces of several external wrenches, through Kane's body Jacobians."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.dynamics.body_matrices import body_matrices
from kron_dynamics.exceptions import ArgumentTypeError
from kron_dynamics.kinematics.relative import rotation_between
from kron_dynamics.kinematics.scalars import number_vector, on_link, widest, zeros_like
from kron_dynamics.kronecker import cross
from kron_dynamics.messages import shown
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


class Wrench(NamedTuple):
    """A force and a moment on a link.

    Attributes:
        link: name of the link they act on.
        force: shape (3,), N.
        moment: shape (3,), N m.
        point: where the force acts, in the link's frame, shape (3,), m; None for the mass centre
            of the link, or of its body if the link has no inertia and the body does not bend. On
            a flexible link it is fixed to the root and ignores bending; name a link attached to
            the beam instead.
        axes: link in whose axes force and moment are given; None for the link's own.
    """

    link: str
    force: ArrayLike
    moment: ArrayLike = (0.0, 0.0, 0.0)
    point: ArrayLike | None = None
    axes: str | None = None


def wrench_forces(model: RobotModel, q: ArrayLike, wrenches: Sequence[Wrench]) -> ScalarArray:
    """Return f = sum J_i^T [n_i; R_i f_i], shape (n,), N m or N.

    [P] eqs. (2), (4), (28), (31), [N] eq. (56).

    The wrenches on each body are first reduced to its mass centre, n_i and f_i, in its own axes;
    R_i is the rotation from these into base axes. Wrenches on the base have no effect.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        wrenches: any number of them, several on one link included.

    Raises:
        ArgumentTypeError: wrenches is no list, or an item is not a `Wrench`.
        UnknownFrameError: the model has no such link.
        ModelError: the robot has flexible links or closed loops.
    """
    n_b, f_b = body_wrenches(model, q, wrenches)
    forces = zeros_like(q, (model.n,))
    for body, n_i, f_i in zip(body_matrices(model, q), n_b, f_b, strict=True):
        R_i = body.rotation
        J_i = np.concatenate([R_i.T @ body.J_R, body.J_T])
        forces = forces + J_i.T @ np.concatenate([n_i, R_i @ f_i])
    return forces


def body_wrenches(
    model: RobotModel, q: ArrayLike, wrenches: Sequence[Wrench]
) -> tuple[ScalarArray, ScalarArray]:
    """Return moments and forces on bodies about their mass centres, shape (bodies, 3) each.

    In the axes of each body, N m and N.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        wrenches: any number of them, several on one link included.

    Raises:
        ArgumentTypeError: wrenches is no list, or an item is not a `Wrench`.
        UnknownFrameError: the model has no such link.
        ModelError: the robot has flexible links or closed loops.
    """
    tree, q = rigid_tree(model), number_vector(q, 'q', model.n)
    found = [on_body(model, tree, q, wrench) for wrench in checked_wrenches(wrenches)]
    numbers = widest(q, *(x for _, *vectors in found for x in vectors))
    n_b, f_b = (zeros_like(numbers, (len(tree.bodies), 3)) for _ in range(2))
    for k, force, moment, place in found:
        if k < 0:
            continue
        moment = moment + cross(place - tree.bodies[k].center_of_mass, force)
        n_b[k] = n_b[k] + moment
        f_b[k] = f_b[k] + force
    return n_b, f_b


def checked_wrenches(wrenches: Iterable[Wrench]) -> Iterable[Wrench]:
    """Return the argument itself if it is a list of wrenches, or some other iterable.

    Raises:
        ArgumentTypeError: it is a single wrench, or none.
    """
    if isinstance(wrenches, Wrench) or not isinstance(wrenches, Iterable):
        raise ArgumentTypeError(f'wrenches is {shown(wrenches)}, expected a list of Wrench')
    return wrenches


def on_body(
    model: RobotModel, tree: RigidModel, q: ArrayLike, wrench: Wrench
) -> tuple[int, ScalarArray, ScalarArray, ScalarArray]:
    """Return the body that a wrench acts on, and force, moment and point, shape (3,) each.

    The vectors are in the body's frame. The body is -1 for the base.

    Args:
        model: the robot.
        tree: tree of its bodies; the skeleton of a robot with flexible links.
        q: coordinates, shape (n,), rad or m.
        wrench: the wrench.

    Raises:
        ArgumentTypeError: it is not a `Wrench`.
        UnknownFrameError: the model has no such link.
    """
    if not isinstance(wrench, Wrench):
        raise ArgumentTypeError(f'wrenches hold {shown(wrench)}, expected a Wrench')
    frame = tree.frame(wrench.link)
    axes = wrench.link if wrench.axes is None else wrench.axes
    turn = frame.rotation @ rotation_between(model, q, wrench.link, axes)
    force = turn @ number_vector(wrench.force, 'force', 3)
    moment = turn @ number_vector(wrench.moment, 'moment', 3)
    if wrench.point is not None or frame.body < 0:
        return frame.body, force, moment, on_link(frame, wrench.point)
    body = tree.bodies[frame.body]
    own = [part for part in body.parts if wrench.link in part.links] or [body]
    return frame.body, force, moment, own[0].center_of_mass
