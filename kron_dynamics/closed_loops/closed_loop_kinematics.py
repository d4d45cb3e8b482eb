# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of robots with closed loops: the same functions as for trees.

Positions, rates and accelerations of all joints follow from those of the drives, [P] eqs. (8)
and (9); the kinematics of the spanning tree does the rest. Importing this module registers the
`ClosedLoopModel` implementations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kron_dynamics.closed_loops.closed_loop_model import ClosedLoopModel
from kron_dynamics.constraints.reduction import Reduction, reduction
from kron_dynamics.dual import jacobian_of
from kron_dynamics.kinematics.automatic_derivatives import (
    derived_jacobian_dot,
    derived_kinematic_hessian,
    derived_relative_hessian,
)
from kron_dynamics.kinematics.forward import forward_kinematics
from kron_dynamics.kinematics.hessian import jacobian_dot, kinematic_hessian
from kron_dynamics.kinematics.jacobian import jacobian
from kron_dynamics.kinematics.motion import FrameMotion, frame_motion
from kron_dynamics.kinematics.relative import (
    PlacedTree,
    placed_tree,
    relative_hessian,
    relative_jacobian,
)
from kron_dynamics.kinematics.relative_motion import MovingTree, moving_tree
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.kinematics.tree import tree_coordinates, tree_rates
from kron_dynamics.typing import ArrayLike, ScalarArray


def closed(model: ClosedLoopModel, q: ArrayLike, qd: ArrayLike) -> tuple[ScalarArray, Reduction]:
    """Return the coordinates of the tree, shape (n,), and their `Reduction` to the drives.

    Args:
        model: the robot.
        q: positions of the drives, shape (m,), rad or m.
        qd: their rates, shape (m,).
    """
    q, qd = number_vector(q, 'q', model.n), number_vector(qd, 'qd', model.n)
    x = model.closing(model.tree, q)
    return x, reduction(model.tree, model.closing.choice, x, qd)


def tree_motion(
    model: ClosedLoopModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None,
    qddd: ArrayLike | None,
) -> tuple[ScalarArray, ScalarArray, Any, Any]:
    """Return the coordinates of the tree and their three derivatives, shape (n,) each.

    Args:
        model: the robot.
        q: positions of the drives, shape (m,), rad or m.
        qd: their first derivatives, shape (m,).
        qdd: their second derivatives, shape (m,); None leaves those of the tree out.
        qddd: their third derivatives, shape (m,); None leaves those of the tree out.
    """
    q, qd = number_vector(q, 'q', model.n), number_vector(qd, 'qd', model.n)
    x, found = closed(model, q, qd)
    if qdd is None:
        return x, found.qd, None, None
    qdd = number_vector(qdd, 'qdd', model.n)
    if qddd is None:
        return x, found.qd, found.B @ qdd + found.gamma, None
    qddd = number_vector(qddd, 'qddd', model.n)

    def accelerations(t: ScalarArray) -> ScalarArray:
        moved = closed(model, q + t[0] * qd, qd + t[0] * qdd)[1]
        xdd: ScalarArray = moved.B @ (qdd + t[0] * qddd) + moved.gamma
        return xdd

    xdd, xddd = jacobian_of(accelerations, np.zeros(1))
    return x, found.qd, xdd, xddd[:, 0]


@tree_coordinates.register
def _closed_tree_coordinates(model: ClosedLoopModel, q: ArrayLike) -> ScalarArray:
    return model.closing(model.tree, number_vector(q, 'q', model.n))


@tree_rates.register
def _closed_tree_rates(model: ClosedLoopModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    return closed(model, q, qd)[1].qd


@moving_tree.register
def _closed_moving_tree(
    model: ClosedLoopModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None,
    qddd: ArrayLike | None,
) -> MovingTree:
    return moving_tree(model.tree, *tree_motion(model, q, qd, qdd, qddd))


@forward_kinematics.register
def _closed_forward_kinematics(model: ClosedLoopModel, q: ArrayLike, link: str) -> ScalarArray:
    return forward_kinematics(model.tree, tree_coordinates(model, q), link)


@placed_tree.register
def _closed_placed_tree(model: ClosedLoopModel, q: ArrayLike) -> PlacedTree:
    return placed_tree(model.tree, tree_coordinates(model, q))


@frame_motion.register
def _closed_frame_motion(
    model: ClosedLoopModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike | None,
    qddd: ArrayLike | None,
    link: str,
    point: ArrayLike | None = None,
) -> FrameMotion:
    return frame_motion(model.tree, *tree_motion(model, q, qd, qdd, qddd), link, point)


def _B(model: ClosedLoopModel, q: ArrayLike) -> tuple[ScalarArray, ScalarArray]:
    x, found = closed(model, q, zeros_like(q, (model.n,)))
    return x, found.B


@jacobian.register
def _closed_jacobian(
    model: ClosedLoopModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    x, B = _B(model, q)
    J: ScalarArray = jacobian(model.tree, x, link, point) @ B
    return J


@relative_jacobian.register
def _closed_relative_jacobian(
    model: ClosedLoopModel,
    q: ArrayLike,
    link: str,
    reference: str,
    axes: str | None = None,
    point: ArrayLike | None = None,
) -> ScalarArray:
    x, B = _B(model, q)
    J: ScalarArray = relative_jacobian(model.tree, x, link, reference, axes, point) @ B
    return J


kinematic_hessian.register(ClosedLoopModel, derived_kinematic_hessian)
jacobian_dot.register(ClosedLoopModel, derived_jacobian_dot)
relative_hessian.register(ClosedLoopModel, derived_relative_hessian)
