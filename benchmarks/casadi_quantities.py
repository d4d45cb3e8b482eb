# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The quantities that `Robot.prepare` compiles (dynamics, kinematics of a link), with CasADi.

Efforts, mass matrix and poses are textbook recursions; the others are CasADi's derivatives of
these. Joint friction is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import casadi
import numpy as np

from benchmarks.casadi_algorithms import efforts, function, inertia, poses
from benchmarks.tree import Link


def quantities(
    links: Sequence[Link], tip: tuple[int, Any], gravity: Any
) -> Iterator[casadi.Function]:
    """Yield the functions one after the other; matrices are flattened by columns.

    Args:
        links: links of the robot.
        tip: the link that the frame is fixed to, and its homogeneous placement there.
        gravity: m/s^2, shape (3,).
    """
    n = len(links)
    q, qd, qdd, qddd = (casadi.SX.sym(name, n) for name in ('q', 'qd', 'qdd', 'qddd'))
    tau, still = casadi.SX.sym('tau', n), casadi.SX(n, 1)
    M = inertia(links, q)
    c, g = efforts(links, (0.0, 0.0, 0.0), q, qd, still), efforts(links, gravity, q, still, still)
    bias = efforts(links, gravity, q, qd, still)
    yield function('mass_matrix', [q], M)
    yield function('velocity_free_coriolis_matrix', [q], christoffel := _christoffel(M, q))
    yield function('mass_matrix_derivative', [q], casadi.jacobian(casadi.vec(M), q))
    yield function('coriolis_matrix', [q, qd], casadi.reshape(christoffel @ qd, n, n))
    yield function('coriolis_vector', [q, qd], c)
    yield function('gravity_vector', [q], g)
    yield function('bias_forces', [q, qd], bias)
    yield function('inverse_dynamics', [q, qd, qdd], efforts(links, gravity, q, qd, qdd))
    D, LT, order = casadi.ldl(casadi.densify(M))
    yield function('forward_dynamics', [q, qd, tau], casadi.ldl_solve(tau - bias, D, LT, order))
    yield function('kinetic_energy', [q, qd], casadi.dot(qd, M @ qd) / 2)
    where = poses(links, q)
    yield function('potential_energy', [q], _potential(links, where, gravity))
    yield from _frame(links, where, tip, (q, qd, qdd, qddd), (M, c, g))


def _christoffel(M: casadi.SX, q: casadi.SX) -> casadi.SX:
    """Return the Christoffel symbols: row i + n j, column k is the factor of qd_j qd_k in c_i."""
    n = q.numel()
    dM = [casadi.jacobian(M[:, j], q) for j in range(n)]  # [j][i, k]: dM_ij/dq_k
    rows = [
        (dM[j][i, :] + casadi.horzcat(*(dM[k][i, j] for k in range(n))) - dM[j].T[i, :]) / 2
        for j in range(n)
        for i in range(n)
    ]
    # The last term, dM_jk/dq_i, is dM[j][k, i].
    return casadi.vertcat(*rows)


def _potential(links: Sequence[Link], where: Sequence[Any], gravity: Any) -> casadi.SX:
    weight = casadi.SX(casadi.DM(np.asarray(gravity, dtype=float)))
    energy = casadi.SX(0)
    for link, (rotation, origin) in zip(links, where, strict=True):
        energy -= link.mass * casadi.dot(weight, origin + rotation @ casadi.DM(link.center))
    return energy


def _frame(
    links: Sequence[Link],
    where: Sequence[Any],
    tip: tuple[int, Any],
    state: Sequence[casadi.SX],
    dynamics: Sequence[casadi.SX],
) -> Iterator[casadi.Function]:
    q, qd, qdd, qddd = state
    n, (index, placement) = len(links), tip
    rotation, origin = where[index]
    place = origin + rotation @ casadi.DM(placement[:3, 3])
    turned = rotation @ casadi.DM(np.round(placement[:3, :3], 15))
    bottom = casadi.DM([[0.0, 0.0, 0.0, 1.0]])
    yield function('pose', [q], casadi.vertcat(casadi.horzcat(turned, place), bottom))
    J = _jacobian(links, where, index, place)
    J_dot = casadi.reshape(casadi.jtimes(casadi.vec(J), q, qd), 6, n)
    velocity = J @ qd
    acceleration = J @ qdd + J_dot @ qd
    both, rates = casadi.vertcat(q, qd, qdd), casadi.vertcat(qd, qdd, qddd)
    force, moment = casadi.SX.sym('force', 3), casadi.SX.sym('moment', 3)
    yield function('jacobian', [q], J)
    yield function('kinematic_hessian', [q], casadi.jacobian(casadi.vec(J), q))
    yield function('jacobian_dot', [q, qd], J_dot)
    yield function('velocity', [q, qd], velocity)
    yield function('acceleration', [q, qd, qdd], acceleration)
    yield function('jerk', [q, qd, qdd, qddd], casadi.jtimes(acceleration, both, rates))
    yield function('control_step', [q, qd], *dynamics, J, J_dot @ qd)
    yield function('external_wrench', [q, force, moment], J.T @ casadi.vertcat(force, moment))


def control_step(links: Sequence[Link], tip: tuple[int, Any], gravity: Any) -> casadi.Function:
    """Return M, c, g, J and dJ/dt qd in one function; J is flattened by rows.

    Args:
        links: links of the robot.
        tip: the link that the frame is fixed to, and its homogeneous placement there.
        gravity: m/s^2, shape (3,).
    """
    n, (index, placement) = len(links), tip
    q, qd, still = casadi.SX.sym('q', n), casadi.SX.sym('qd', n), casadi.SX(n, 1)
    where = poses(links, q)
    place = where[index][1] + where[index][0] @ casadi.DM(placement[:3, 3])
    J = _jacobian(links, where, index, place)
    drift = casadi.reshape(casadi.jtimes(casadi.vec(J), q, qd), 6, n) @ qd
    c, g = efforts(links, (0.0, 0.0, 0.0), q, qd, still), efforts(links, gravity, q, still, still)
    return function('control_step', [q, qd], inertia(links, q), c, g, J.T, drift)


def _jacobian(links: Sequence[Link], where: Sequence[Any], index: int, place: Any) -> casadi.SX:
    """Return the Jacobian of a frame on a link."""
    J = casadi.SX(6, len(links))
    while index >= 0:
        axis = where[index][0] @ casadi.DM(links[index].axis)
        if links[index].revolute:
            J[:3, index], J[3:, index] = casadi.cross(axis, place - where[index][1]), axis
        else:
            J[:3, index] = axis
        index = links[index].parent
    return J
