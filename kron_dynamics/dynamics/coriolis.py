# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Coriolis and centrifugal terms: ``c = C* (qd (x) qd) = C(q, qd) qd``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kron_dynamics.dynamics.composite import Subtree, subtrees
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like
from kron_dynamics.kronecker import contract_last, cross
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


def velocity_free_coriolis_matrix(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return the symmetrised velocity-free Coriolis matrix C*(q), shape (n, n*n).

    ``C* (qd (x) qd)`` is the vector of Coriolis and centrifugal terms, [T] eq. (100). C* is not
    unique; this one has equal columns ``i*n + j`` and ``j*n + i``, so its entries are the
    Christoffel symbols of the first kind, Gamma[a, i, j] = C*[a, i*n + j], and
    ``C* (E (x) qd)`` is the Coriolis matrix for which dM/dt - 2C is skew. Computed without
    dM/dq: Gamma[a, i, j] = tr(X_a P (X_i X_j)^T) with the twists X of the joints and the
    pseudo-inertia P of the subtree behind both a and j, i being nearer the base than j.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.

    Returns:
        row a in N m or N per product of two rates.
    """
    n = model.n
    C = zeros_like(q, (n, n * n))
    for subtree in subtrees(model, q):
        for a, i, j, value in _christoffel_symbols(subtree):
            C[a, i * n + j] += value
    return C


def _christoffel_symbols(subtree: Subtree) -> Iterator[tuple[int, int, int, Any]]:
    """Yield (a, i, j, Gamma) of all triples of which this subtree's joint is the last.

    Joints on one path only: i is nearer the base than j or equal. Each symbol is yielded for
    (i, j) and (j, i).
    """
    columns, composite, momentum = subtree.columns, subtree.composite, subtree.momentum
    h, S = composite.first, composite.second
    v_k, z_k = columns.linear[-1], columns.angular[-1]
    k, last = subtree.coordinate, len(subtree.coordinates) - 1
    for b, i in enumerate(subtree.coordinates):
        z_i = columns.angular[b]
        second = S @ z_i
        # The field of accelerations X_i X_k r gives the subtree this force and this moment.
        force = cross(z_i, momentum)
        moment = cross(h, cross(z_i, v_k)) + cross(second, z_k)
        for a, v_a, z_a in zip(subtree.coordinates, columns.linear, columns.angular, strict=True):
            value = v_a @ force + z_a @ moment
            yield a, i, k, value
            if b != last:
                yield a, k, i, value
        # And the fields X_i X_j r of the joints before k, seen by joint k.
        torque = cross(z_k, second)
        pull = cross(v_k, z_i)
        for c in range(b, last):
            j, v_j, z_j = subtree.coordinates[c], columns.linear[c], columns.angular[c]
            value = momentum @ cross(z_i, v_j) + z_j @ torque + pull @ cross(z_j, h)
            yield k, i, j, value
            if b != c:
                yield k, j, i, value


def mass_matrix_derivative(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return dM/dq, shape (n, n*n): column ``j*n + k`` is d M[:, j] / d q_k.

    From the Christoffel symbols: d M[i, j] / d q_k = Gamma[i, j, k] + Gamma[j, i, k].

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
    """
    n = model.n
    Gamma = velocity_free_coriolis_matrix(model, q).reshape(n, n, n)
    return (Gamma + Gamma.transpose(1, 0, 2)).reshape(n, n * n)


def coriolis_matrix(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return the Coriolis matrix C(q, qd), shape (n, n), ``C* (E (x) qd)``.

    The Christoffel one: dM/dt - 2C is skew-symmetric.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), 1/s.
    """
    return contract_last(velocity_free_coriolis_matrix(model, q), as_scalars(qd))
