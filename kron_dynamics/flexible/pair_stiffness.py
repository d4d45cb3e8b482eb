# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Fourth-order part of the elastic energy, for large bending."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.flexible.link_modes import CrossSection, PlaneModes
from kron_dynamics.model.beam_properties import PLANES
from kron_dynamics.model.flexible_description import FlexibleLinkDescription
from kron_dynamics.reproducible import product
from kron_dynamics.typing import FloatArray


def pairs(count: int) -> list[tuple[int, int]]:
    """Return the index pairs (i, j), i <= j, of the products of `count` modal coordinates."""
    return [(i, j) for i in range(count) for j in range(i, count)]


def pair_stiffness(
    description: FlexibleLinkDescription,
    planes: tuple[PlaneModes, PlaneModes],
    sections: Sequence[CrossSection],
    weights: FloatArray,
) -> FloatArray:
    """Return Q of the elastic energy ``1/2 e^T K e + 1/2 p^T Q p``, correct to fourth order.

    p are the products of modal coordinates in the plane of v, then of those in the plane of w, in
    the order of `pairs`. An inextensible beam has the curvature
    ``v'' + v' (v' v'' + w' w'')/2 + ...`` in the plane of v, and likewise in that of w; and its
    sections twist about its axis, so that bending in one plane also acts on the stiffness of the
    other.

    Args:
        description: description of the link.
        planes: modes in the planes v and w.
        sections: sections at k points of a quadrature.
        weights: weights of the quadrature, shape (k,), m.

    Returns:
        Q, shape (n_p, n_p), N/m^3 for dimensionless shapes; zeros if the description omits
        geometric stiffness.
    """
    sizes = [len(pairs(len(plane.scale))) for plane in planes]
    Q = np.zeros((sum(sizes), sum(sizes)))
    if not description.geometric_stiffness:
        return Q
    x = np.array([at.x for at in sections])
    # v' v'' and w' w'', half the derivatives of v'^2 and w'^2; the energy is quadratic in them.
    growing, stiffness = [], []
    for name, plane in zip(PLANES, planes, strict=True):
        slopes, bends = plane.shapes(x, 1), plane.shapes(x, 2)
        growing.append(_pair_rows(slopes, bends))
        if name in description.modes:
            EI = np.interp(x, description.stations, description.bending_stiffness[name])
            stiffness.append(weights * EI)
        else:
            stiffness.append(np.zeros(len(x)))
    cut = sizes[0]
    Q[:cut, :cut] = product(growing[0] * stiffness[0], growing[0].T)
    Q[cut:, cut:] = product(growing[1] * stiffness[1], growing[1].T)
    if min(sizes):
        Q[:cut, cut:] = product(growing[0] * (stiffness[0] + stiffness[1]) / 2, growing[1].T)
        if (difference := stiffness[0] - stiffness[1]).any():
            twist = np.array([at.twist for at in sections])
            v2, w2 = (plane.shapes(x, 2) for plane in planes)
            Q[:cut, cut:] += _twisted(twist, v2, w2, difference)
        Q[cut:, :cut] = Q[:cut, cut:].T
    return Q


def _pair_rows(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the coefficients of p in ``(a^T e)(b^T e)``, (pairs, k), for a and b (n, k)."""
    rows = [a[i] * b[i] if i == j else a[i] * b[j] + a[j] * b[i] for i, j in pairs(len(a))]
    return np.array(rows).reshape(len(rows), a.shape[1])


def _twisted(
    twist: FloatArray, v2: FloatArray, w2: FloatArray, difference: FloatArray
) -> FloatArray:
    """Return the coefficients of p_v p_w in ``int (EI_v - EI_w) v'' w'' e_v^T T e_w``.

    Args:
        twist: T at points of a quadrature, shape (k, n_v, n_w), 1/m^2.
        v2: Phi_v'' there, shape (n_v, k), 1/m^2.
        w2: Phi_w'' there, shape (n_w, k), 1/m^2.
        difference: EI_v - EI_w there times the weights, shape (k,), N m^3.
    """
    # Coefficients of e_a e_b e_c e_d with a, b from the twist and c, d from the bending.
    bending = v2[:, None] * w2 * difference  # (n_v, n_w, k)
    whole = (np.moveaxis(twist, 0, -1)[:, :, None, None] * bending).sum(axis=-1)
    found = [
        [
            sum(whole[a, b, c, d] for a, c in {(i, j), (j, i)} for b, d in {(k, m), (m, k)})
            for k, m in pairs(len(w2))
        ]
        for i, j in pairs(len(v2))
    ]
    return np.array(found)
