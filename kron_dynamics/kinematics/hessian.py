# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinematic Hessians dJ/dq of frame origins or points, Khang's layout, base axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from typing import Any

from kron_dynamics.kinematics.jacobian import frame_columns
from kron_dynamics.kinematics.scalars import number_vector, widest, zeros_like
from kron_dynamics.kronecker import contract_last, cross
from kron_dynamics.model.rigid_model import RigidModel, rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def assemble_hessian(
    model: RigidModel, q: ArrayLike, chain: Sequence[int], columns: Any
) -> ScalarArray:
    """Return dJ/dq from the Jacobian columns of a chain of joints, shape (6, n*n).

    With i = j or i before j in the chain, H_T(i,j) = H_T(j,i) = J_R,i x J_T,j. With i before j,
    H_R(j,i) = J_R,i x J_R,j, else 0: a joint rotates only the axes after it in the chain.

    Args:
        model: the robot.
        q: coordinates, shape (n,); only their number type is used.
        chain: indices of the joints, the one nearest to the reference first.
        columns: the `Column` at each position of the chain.
    """
    n = model.n
    H = zeros_like(q, (6, n, n))
    for a, _, first in model.each(chain):
        i, turn = first.coordinate, columns[a].angular
        H[:3, i, i] += cross(turn, columns[a].linear)
        for b, _, second in model.each(chain, a + 1):
            j, bend = second.coordinate, cross(turn, columns[b].linear)
            H[:3, i, j] += bend
            H[:3, j, i] += bend
            H[3:, j, i] += cross(turn, columns[b].angular)
    return H.reshape(6, n * n)


@singledispatch
def kinematic_hessian(
    model: RobotModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return H = dJ/dq of a link, shape (6, n*n): ``[a; alpha] = J qdd + H (qd (x) qd)``.

    Column ``i*n + j`` is d J[:, i] / d q_j, base axes.  [T] eqs. (51), (60), (67), in closed
    form.

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
    return assemble_hessian(tree, widest(q, point), chain, columns)


def translational_hessian(
    model: RobotModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return H_T = dJ_T/dq (H_TG of a point), (3, n*n), base axes, m/rad^2.  [T] (51), (67)."""
    return kinematic_hessian(model, q, link, point)[:3]


def rotational_hessian(model: RobotModel, q: ArrayLike, link: str) -> ScalarArray:
    """Return H_R = dJ_R/dq, shape (3, n*n), base axes, 1/rad.  [T] eq. (60)."""
    return kinematic_hessian(model, q, link)[3:]


@singledispatch
def jacobian_dot(model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str) -> ScalarArray:
    """Return dJ/dt of a link, shape (6, n): ``H (E_n (x) qd)``, [T] eq. (8).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
        link: name of the link.

    Raises:
        UnknownFrameError: the model has no such link.
    """
    return contract_last(kinematic_hessian(model, q, link), number_vector(qd, 'qd', model.n))
