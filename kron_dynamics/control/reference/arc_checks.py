# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Check of arcs against their limits, and the division of intervals needed to follow them."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.reference.extremal_arcs import CEILING, Arcs
from kron_dynamics.control.reference.mesh_motion import hermite
from kron_dynamics.control.reference.path_terms import Limits
from kron_dynamics.typing import FloatArray, IndexArray

# Most parts into which an interval is divided in one round.
_MOST_PARTS = 5
# Tolerances at the midpoint of an interval: relative violation of a limit, and unused share of a
# limit times the relative length of the interval.
_BEYOND, _LOST = 5e-6, 2e-9


def parts_to_follow(arcs: Arcs, u: FloatArray, limits: Limits, beyond: FloatArray) -> IndexArray:
    """Return the number of parts, (N,), into which to divide each interval to follow its limit.

    The deviation from the limit at the midpoint, violated or unused, is of fourth order.

    Args:
        arcs: arcs along limits.
        u: u at both ends of each interval, (N, 2).
        limits: limits of the machine.
        beyond: relative limit violation of u at the inner nodes, (N - 1,).
    """
    mesh, rows = arcs.mesh, arcs.rows
    x, slope = hermite((arcs.x[:-1], arcs.x[1:]), (u[:, 0], u[:, 1]), mesh.sizes, np.array(0.5))
    used = rows.a[1::2] * slope[:, np.newaxis] + rows.b[1::2] * x[:, np.newaxis] - rows.room[1::2]
    speed = x * np.square(mesh.terms.first[1::2] / limits.velocity).max(axis=1) - 1.0
    most = used.max(axis=1)
    left = np.where(arcs.kind == CEILING, speed, most) * mesh.sizes / mesh.nodes[-1]
    roofed = (arcs.kind == CEILING) & (arcs.lowest[1:] == arcs.ceilings.shape[1] - 1)
    lost = np.where(roofed, 0.0, -left / _LOST)
    many = np.fmax(np.maximum(most, speed) / _BEYOND, lost) ** 0.25
    found: IndexArray = np.clip(np.ceil(np.nan_to_num(many, nan=1.0)), 1, _MOST_PARTS).astype(
        np.intp
    )
    for each in (found[:-1], found[1:]):
        each[(beyond > _BEYOND) & (each == 1)] = 2
    return found


def beyond_limits(arcs: Arcs, u: FloatArray) -> FloatArray:
    """Return the relative limit violation of u, shape (N, 2), at the inner nodes, (N - 1,)."""
    inner, rows = slice(2, -2, 2), arcs.rows
    found = np.zeros(arcs.x.size - 2)
    for each in (u[1:, 0], u[:-1, 1]):
        used = rows.a[inner] * each[:, np.newaxis] + rows.b[inner] * arcs.x[1:-1, np.newaxis]
        found = np.fmax(found, (used - rows.room[inner]).max(axis=1))
    return found
