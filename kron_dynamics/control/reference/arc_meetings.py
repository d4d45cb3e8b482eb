# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Switching points of the time-optimal motion: corners and kinks of extremal arcs."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.reference.extremal_arcs import (
    BACKWARD,
    CEILING,
    FORWARD,
    MIXED,
    ROUNDING,
    Arcs,
)
from kron_dynamics.control.reference.mesh_motion import hermite
from kron_dynamics.typing import BoolArray, FloatArray, IndexArray

# Smallest step of u at a node that counts, relative to the largest u.
_STEP = 1e-6
# Points of an interval at which curves are compared.
_PLACES = np.linspace(0.0, 1.0, 129)
# A point where a limit does not depend on u matters if x alone uses this share of the limit.
_NEAR = 0.9


def corners(arcs: Arcs) -> FloatArray:
    """Return points r inside intervals where u steps from one arc to another, shape (c,)."""
    mixed = np.flatnonzero(arcs.kind == MIXED)
    curves, found = _curves(arcs, mixed), []
    lowest = curves.argmin(axis=0)  # (m, places)
    for j, i in np.argwhere(lowest[:, 1:] != lowest[:, :-1]).tolist():
        before, after = curves[lowest[j, i], j], curves[lowest[j, i + 1], j]
        gap, k = after[i : i + 2] - before[i : i + 2], mixed[j]
        # Curves that start or end at the same node meet there trivially.
        if i in (0, _PLACES.size - 2) and abs(gap[int(i > 0)]) <= 100.0 * ROUNDING * arcs.x[k]:
            continue
        share = _PLACES[i] + gap[0] / (gap[0] - gap[1]) * _PLACES[1]
        found.append(float(arcs.mesh.nodes[k] + arcs.mesh.sizes[k] * share))
    return np.sort(found)


def _curves(arcs: Arcs, k: IndexArray) -> FloatArray:
    """Values x along intervals k of the arcs from both ends and of the ceilings at both ends.

    Returns:
        shape (4, m, points); inf where there is no curve.
    """
    ends = np.stack((k, k + 1))
    parts = [arcs.from_one_end(k, forward) for forward in (True, False)]
    for end in ends:
        parts.append(
            (arcs.ceilings[ends, arcs.lowest[end]], arcs.ceiling_slopes[ends, arcs.lowest[end]])
        )
    x, u = (np.stack(values, axis=1)[..., np.newaxis] for values in zip(*parts, strict=True))
    usable = np.isfinite(x).all(axis=0) & np.isfinite(u).all(axis=0)
    with np.errstate(invalid='ignore'):
        found = hermite(x, u, arcs.mesh.sizes[k, np.newaxis], _PLACES)[0]
    return np.where(usable, found, np.inf)


def stepping_nodes(u: FloatArray) -> BoolArray:
    """Return the mask of inner nodes, (N - 1,), where u, (N, 2), steps, also to or from NaN."""
    step = np.abs(u[1:, 0] - u[:-1, 1])
    found: BoolArray = ~(step <= _STEP * np.nanmax(np.abs(u)))
    return found


def kinks(arcs: Arcs) -> FloatArray:
    """Return points r where the active limit of an arc changes or an arc leaves the ceiling.

    Points where a limit does not depend on u (zero-inertia points) are included; shape (c,).
    """
    x, ceiling = arcs.x, arcs.ceiling
    found = [_zero_inertia_points(arcs)]
    inside = np.arange(arcs.kind.size)
    inside_only = (inside > 0) & (inside < inside[-1])
    on = x >= ceiling[0] * (1.0 - ROUNDING)
    same = arcs.lowest[1:] == arcs.lowest[:-1]
    for kind, sign in ((FORWARD, 1.0), (BACKWARD, -1.0)):
        bounds = sign * arcs.rows.steepest(x)[0 if kind == FORWARD else 1]
        row = bounds.argmin(axis=1)
        k = np.flatnonzero((arcs.kind == kind) & inside_only & (row[1:] != row[:-1]))
        with np.errstate(invalid='ignore'):  # both are infinite where all joints turn back
            before, after = (bounds[end, row[k + 1]] - bounds[end, row[k]] for end in (k, k + 1))
            # Where the ceiling becomes steeper than the other limits permit.
            room = sign * (arcs.bounds(ceiling[0])[0 if kind == FORWARD else 1] - ceiling[1])
        found.append(_crossing(arcs, k, before, after))
        here, there = (slice(-1), slice(1, None))[:: 1 if kind == FORWARD else -1]
        follows = (arcs.kind == kind) | (arcs.kind == CEILING)
        leaves = follows & on[here] & same & (room[here] > 0.0) & (room[there] < 0.0)
        k = np.flatnonzero(leaves)
        found.append(_crossing(arcs, k, room[k], room[k + 1]))
    return np.concatenate(found)


def _zero_inertia_points(arcs: Arcs) -> FloatArray:
    """Points r where a nearly active limit does not depend on u."""
    a, b, room = (values[::2] for values in arcs.rows)
    near = b * arcs.x[:, np.newaxis] > _NEAR * room
    k, row = np.nonzero((a[1:] * a[:-1] < 0.0) & near[1:] & near[:-1])
    return _crossing(arcs, k, a[k, row], a[k + 1, row])


def _crossing(arcs: Arcs, k: IndexArray, before: FloatArray, after: FloatArray) -> FloatArray:
    """Zero crossings r of values given at both ends of intervals k, by linear interpolation."""
    usable = np.isfinite(before) & np.isfinite(after) & (before * after < 0.0)
    k, before, after = k[usable], before[usable], after[usable]
    found: FloatArray = arcs.mesh.nodes[k] + arcs.mesh.sizes[k] * before / (before - after)
    return found
