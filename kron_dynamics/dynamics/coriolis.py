# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Coriolis and centrifugal terms: ``c = C* (qd (x) qd) = C(q, qd) qd``.

C* is computed from composite bodies here. In `lagrange.py` it is as the paper prints it, from
dM/dq, and, which the paper has not, as the sum over bodies of their Jacobians and Hessians.
"""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from kron_dynamics.dynamics.composite import subtree_momenta
from kron_dynamics.kinematics.forward import joint_placements
from kron_dynamics.kinematics.jacobian import columns_in_body_axes
from kron_dynamics.kinematics.scalars import number_vector, zeros_like
from kron_dynamics.kronecker import contract_last, cross
from kron_dynamics.model.rigid_model import rigid_tree
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import ArrayLike, ScalarArray


@singledispatch
def velocity_free_coriolis_matrix(model: RobotModel, q: ArrayLike) -> ScalarArray:
    """Return the symmetrised velocity-free Coriolis matrix C*(q), shape (n, n*n).

    ``C* (qd (x) qd)`` is the vector of Coriolis and centrifugal terms, [T] eq. (100). C* is not
    unique; this one, the symmetrised form of [T] eq. (101), has equal columns ``i*n + j`` and
    ``j*n + i``, so its entries are the Christoffel symbols of the first kind,
    Gamma[a, i, j] = C*[a, i*n + j], and ``C* (E (x) qd)``, E the identity, is the Coriolis matrix
    for which dM/dt - 2C is skew-symmetric. Computed without dM/dq:
    Gamma[a, i, j] = tr(X_a P (X_i X_j)^T) with the joints' twists X as 4 x 4 matrices in common
    axes, and P the 4 x 4 pseudo-inertia of all bodies beyond both joint a and joint j; joint i is
    j or nearer to the base, the others follow by symmetry. Entries of joints that share a
    coordinate (mimic joints), whose twists carry their multipliers, are added up.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.

    Returns:
        row a in N m or N per product of two rates.
    """
    tree = rigid_tree(model)
    n = tree.n
    q = number_vector(q, 'q', n)
    C = zeros_like(q, (n, n, n))
    placements = joint_placements(tree, q)
    momenta = subtree_momenta(tree, placements)
    columns = columns_in_body_axes(tree, placements)
    for last, joint in tree.outward():
        k, own = joint.coordinate, columns[last, tree.depth(last)]
        # All triples in which this joint is the one farthest from the base. With E the identity
        # and X_k P = [[Q, p], [0, 0]], Gamma[a, i, k] = v_a . (z_i x p) + z_a . (tr(Q) E - Q) z_i
        # for any a and i, and Gamma[k, i, a] = -Gamma[a, i, k] for an ancestor a of k and i an
        # ancestor of a or a itself.
        p, Q = momenta[last].force, momenta[last].matrix
        N = np.trace(Q) * np.eye(3, dtype=int) - Q
        for b, _, joint_i in tree.ancestors(last):
            i, z = joint_i.coordinate, columns[last, b].angular
            force, moment = cross(z, p), N @ z
            symbols = tree.path_table()
            for c, _, joint_a in tree.path_to(last):
                a, column = joint_a.coordinate, columns[last, c]
                symbols[c] = column.linear @ force + column.angular @ moment
                C[a, i, k] += symbols[c]
                C[a, k, i] += symbols[c]
            C[k, i, i] -= symbols[b]
            for c, _, joint_a in tree.ancestors(last, b + 1):
                a = joint_a.coordinate
                C[k, i, a] -= symbols[c]
                C[k, a, i] -= symbols[c]
        force, moment = cross(own.angular, p), N @ own.angular
        for c, _, joint_a in tree.path_to(last):
            column = columns[last, c]
            C[joint_a.coordinate, k, k] += column.linear @ force + column.angular @ moment
    return C.reshape(n, n * n)


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


@singledispatch
def coriolis_matrix(model: RobotModel, q: ArrayLike, qd: ArrayLike) -> ScalarArray:
    """Return the Coriolis matrix C(q, qd), shape (n, n), ``C* (E (x) qd)``.

    It is the Christoffel form (E is the identity): dM/dt - 2C is skew-symmetric.

    Args:
        model: the robot.
        q: coordinates, shape (n,), rad or m.
        qd: their rates, shape (n,), rad/s or m/s.
    """
    return contract_last(velocity_free_coriolis_matrix(model, q), number_vector(qd, 'qd', model.n))
