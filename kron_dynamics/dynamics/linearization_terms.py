# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The individual terms of the linearization, as [K] states them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics.coriolis import coriolis_matrix
from kron_dynamics.dynamics.gravity import gravity_vector
from kron_dynamics.dynamics.mass_matrix import mass_matrix
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.scalar_arguments import vector
from kron_dynamics.typing import ArrayLike, ScalarArray

if TYPE_CHECKING:
    from kron_dynamics.taylor import LinearizedProduct


class LinearizationTerms(NamedTuple):
    """The terms of ``M(s) sdd + C(s, sd) sd + g(s)`` to first order about a motion R.

    Each holds its value on the motion and the factors of the deviations y, yd and ydd of s, sd
    and sdd. Their sums are the `Linearization`: K_L is
    ``inertia.by_x + coriolis.by_x + gravity_slope``, D_L ``coriolis.by_y``, M_L ``inertia.by_y``.

    Attributes:
        inertia: M(s) sdd, [K] eq. (60): ``value`` M sdd, ``by_x`` (dM/ds)(sdd (x) E), ``by_y`` M.
        coriolis: C(s, sd) sd, [K] eq. (61): ``value`` C sd, ``by_x`` (dC/ds)(sd (x) E), ``by_y``
            C + (dC/dsd)(sd (x) E).
        gravity: g(s), [K] eq. (62): its value on the motion, shape (n,).
        gravity_slope: dg/ds, shape (n, n).
    """

    inertia: LinearizedProduct
    coriolis: LinearizedProduct
    gravity: ScalarArray
    gravity_slope: ScalarArray


def linearization_terms(
    model: RobotModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
) -> LinearizationTerms:
    """Return the terms of the equations of motion to first order.  [K] eqs. (60)-(62).

    With the Christoffel C and every derivative formed as written there; `linearization` is faster.

    Args:
        model: the robot.
        q: coordinates s on the motion, shape (n,), rad or m.
        qd: their rates, shape (n,).
        qdd: their second derivatives, shape (n,).

    Raises:
        ArgumentTypeError: q, qd or qdd is not an array of numbers.
        ShapeError: q, qd or qdd has another shape.
    """
    # Imported late, for a faster start.
    from kron_dynamics.taylor import linearized_product

    n = model.n
    q, qd, qdd = (vector(x, name, n) for x, name in ((q, 'q'), (qd, 'qd'), (qdd, 'qdd')))
    M, M_s = jacobian_of(lambda s: mass_matrix(model, s), q)
    C, C_all = jacobian_of(lambda s: coriolis_matrix(model, s[:n], s[n:]), np.concatenate([q, qd]))
    g, g_s = jacobian_of(lambda s: gravity_vector(model, s), q)
    C_s, C_sd = C_all[..., :n].reshape(n, n * n), C_all[..., n:].reshape(n, n * n)
    return LinearizationTerms(
        linearized_product(M, M_s.reshape(n, n * n), qdd),
        linearized_product(C, C_s, qd, C_sd),
        g,
        g_s,
    )
