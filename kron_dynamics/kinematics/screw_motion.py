# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Jacobians and motions by products of matrix exponentials.  [N] 2.2.

An independent implementation of the quantities of `jacobian` and `motion`, which recurse from
body to body in body axes. Here joints are screws in base axes at zero positions, and derivatives
follow from the product rule. Large distances from the base cost digits.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence

import numpy as np

from kron_dynamics.kinematics.exponentials import (
    leibniz,
    screw_exponential_derivatives,
)
from kron_dynamics.kinematics.scalars import number_vector, widest, zeros_like
from kron_dynamics.kinematics.screw_poses import joint_position
from kron_dynamics.kinematics.screws import joint_screws, zero_pose
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import Joint, RobotModel
from kron_dynamics.scalar_arguments import vector
from kron_dynamics.typing import ArrayLike, ScalarArray


def screw_jacobian(
    model: RobotModel, q: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return the Jacobian of a link, shape (6, n), [v; omega] in base axes, m/rad or 1.

    [N] eqs. (11)-(17), with Delta_i k_i in (16).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        ModelError: the robot has flexible links or closed loops.
        ShapeError: an array has another shape.
        UnknownFrameError: the model has no such link.
    """
    q = number_vector(q, 'q', model.n)
    columns = list(_columns(model, q, (), link, point))
    J = zeros_like(widest(q, point), (6, model.n))
    for joint, (column,) in columns:
        J[:, joint.coordinate] += joint.multiplier * column
    return J


def screw_velocity(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, link: str, point: ArrayLike | None = None
) -> ScalarArray:
    """Return [v; omega] of a link, shape (6,), m/s and rad/s, base axes.  [N] eqs. (18), (21).

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,).
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        ModelError: the robot has flexible links or closed loops.
        ShapeError: an array has another shape.
        UnknownFrameError: the model has no such link.
    """
    return _twist_derivative(model, q, (qd,), link, point)


def screw_acceleration(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    link: str,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return the time derivative of `screw_velocity`, shape (6,), m/s^2 and rad/s^2.

    [N] eqs. (19), (22), with (dJ/dt) qd of the complete columns: screws times exponentials.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        ModelError: the robot has flexible links or closed loops.
        ShapeError: an array has another shape.
        UnknownFrameError: the model has no such link.
    """
    return _twist_derivative(model, q, (qd, qdd), link, point)


def screw_jerk(
    model: RobotModel,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    qddd: ArrayLike,
    link: str,
    point: ArrayLike | None = None,
) -> ScalarArray:
    """Return the time derivative of `screw_acceleration`, shape (6,), m/s^3 and rad/s^3.

    [N] eqs. (20), (23): J qddd + 2 (dJ/dt) qdd + (d2J/dt2) qd.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: first derivatives, shape (n,).
        qdd: second derivatives, shape (n,).
        qddd: third derivatives, shape (n,).
        link: name of the link.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        ModelError: the robot has flexible links or closed loops.
        ShapeError: an array has another shape.
        UnknownFrameError: the model has no such link.
    """
    return _twist_derivative(model, q, (qd, qdd, qddd), link, point)


def _twist_derivative(
    model: RobotModel,
    q: ArrayLike,
    rates: Sequence[ArrayLike],
    link: str,
    point: ArrayLike | None,
) -> ScalarArray:
    """Return the time derivative of [v; omega] of order ``len(rates) - 1``."""
    q = number_vector(q, 'q', model.n)
    names = ('qd', 'qdd', 'qddd')
    moving = [vector(rate, name, model.n) for rate, name in zip(rates, names, strict=False)]
    total = zeros_like(q, (6,))
    for joint, column in _columns(model, q, moving[:-1], link, point):
        own = [joint.multiplier * rate[joint.coordinate] for rate in moving]
        total = total + leibniz(operator.mul, column, own, len(rates) - 1)
    return total


def _columns(
    model: RobotModel,
    q: ScalarArray,
    rates: Sequence[ScalarArray],
    link: str,
    point: ArrayLike | None,
) -> Iterator[tuple[Joint, list[ScalarArray]]]:
    """Yield each joint from the base to a link with its Jacobian column and time derivatives.

    V_i [v_i + Delta_i k_i x y_i; Delta_i k_i], [N] (11)-(17): V_i is the rotation by all previous
    joints, and y_i the point moved by this joint and all later ones, y_i = exp(A_i q_i) y_(i+1).
    """
    tree = rigid_tree(model)
    frame, screws = tree.frame(link), joint_screws(tree)
    path = list(tree.path_to(frame.body))
    orders = range(len(rates) + 1)
    exponentials = [
        screw_exponential_derivatives(
            screws[k],
            joint_position(joint, q),
            [joint.multiplier * rate[joint.coordinate] for rate in rates],
        )
        for _, k, joint in path
    ]
    at = np.zeros(3, dtype=int) if point is None else vector(point, 'point', 3)
    start = zero_pose(tree, link) @ np.concatenate([at, [1]])
    reach = [[start, *(np.zeros(4, dtype=int) for _ in rates)]]
    for E in reversed(exponentials):
        reach.append([leibniz(operator.matmul, E, reach[-1], r) for r in orders])
    V = [np.eye(3, dtype=int), *(np.zeros((3, 3), dtype=int) for _ in rates)]
    for (_, k, joint), E, y in zip(path, exponentials, reversed(reach), strict=False):
        screw = screws[k]
        moving = [(screw.matrix @ place)[:3] for place in y]
        linear = [leibniz(operator.matmul, V, moving, r) for r in orders]
        yield joint, [np.concatenate([linear[r], V[r] @ screw.angular]) for r in orders]
        R = [each[:3, :3] for each in E]
        V = [leibniz(operator.matmul, V, R, r) for r in orders]
