# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Elastic energy of fourth order: what bending far takes beyond what bending a little takes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.flexible.link_modes import CrossSection, PlaneModes
from kron_dynamics.model.beam_properties import PLANES
from kron_dynamics.model.flexible_description import FlexibleLinkDescription
from kron_dynamics.reproducible import product
from kron_dynamics.typing import FloatArray


def pairs(count: int) -> list[tuple[int, int]]:
    """Return the products e_i e_j of modal coordinates that there are, i before or at j."""
    return [(i, j) for i in range(count) for j in range(i, count)]


def pair_stiffness(
    description: FlexibleLinkDescription,
    planes: tuple[PlaneModes, PlaneModes],
    sections: Sequence[CrossSection],
    weights: FloatArray,
) -> FloatArray:
    """Return what the elastic energy of large bending has beyond that of small bending.

    A beam that does not stretch has the curvature ``v'' + v' (v' v'' + w' w'')/2 + ...`` in the
    plane of v, and likewise in that of w; and its sections turn by a twist about its axis, so
    that what bends in one plane meets some of the stiffness of the other. To fourth order the
    elastic energy is ``1/2 e^T K e + 1/2 p^T Q p`` with the products p of modal coordinates in
    the plane of v, then of those in the plane of w, in the order of `pairs`.

    Args:
        description: of the link.
        planes: modes in the planes v and w.
        sections: at k points of a quadrature.
        weights: of them, shape (k,), m.

    Returns:
        Q, shape (n_p, n_p), N/m^3 for shapes without unit; zeros if the description leaves
        geometric stiffness out.
    """
    sizes = [len(pairs(len(plane.scale))) for plane in planes]
    Q = np.zeros((sum(sizes), sum(sizes)))
    if not description.geometric_stiffness:
        return Q
    x = np.array([at.x for at in sections])
    # Half the derivatives of v'^2 and w'^2, of which the energy has the squares.
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
    """Coefficients of p in ``(a^T e)(b^T e)``, shape (pairs, k), of a and b of shape (n, k)."""
    rows = [a[i] * b[i] if i == j else a[i] * b[j] + a[j] * b[i] for i, j in pairs(len(a))]
    return np.array(rows).reshape(len(rows), a.shape[1])


def _twisted(
    twist: FloatArray, v2: FloatArray, w2: FloatArray, difference: FloatArray
) -> FloatArray:
    """Coefficients of p_v p_w in ``int (EI_v - EI_w) v'' w'' e_v^T T e_w``.

    Args:
        twist: T at points of a quadrature, shape (k, n_v, n_w), 1/m.
        v2: Phi_v'' there, shape (n_v, k), 1/m^2.
        w2: Phi_w'' there, shape (n_w, k), 1/m^2.
        difference: EI_v - EI_w there times the weights, shape (k,), N m^3.
    """
    # The factors e_a e_b of the twist and e_c e_d of the bending, of v and w each.
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
