# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Limits along a path as inequality constraints (rows), and selection of the relevant ones."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.reference.interior_point import Rows
from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_terms import (
    ACCELERATION,
    EFFORT,
    EFFORT_RATE,
    VELOCITY,
    Limits,
    PathTerms,
)
from kron_dynamics.typing import BoolArray, FloatArray, IndexArray

# A row is relevant if in some window it uses this share of the most used row of its kind there,
# and this share of the most used one anywhere.
_NEAR, _FAR = 0.6, 0.05


def rows_of(mesh: Mesh, limits: Limits) -> tuple[Rows, IndexArray]:
    """Return the finite limits as rows, and the quantity and joint of each row.

    Efforts, accelerations and velocities are limited at the nodes, velocities also at the midpoint
    of each interval, and effort rates at both ends of it.

    Returns:
        The rows, and quantity and joint of each of the r rows, shape (2, r); the velocity rows
        are for all joints at once.
    """
    terms = PathTerms(*(values[::2] for values in mesh.terms))
    efforts, acting = relative_terms(
        (terms.inertia, terms.bend, mesh.standing[::2]), limits.effort
    )
    rates, moving = relative_terms((terms.first, terms.second), limits.acceleration)
    alpha, beta = (np.hstack((efforts[k], rates[k])) for k in (0, 1))
    steady = (mesh.before * beta - mesh.slope * alpha, mesh.after * beta + mesh.slope * alpha)
    rate_rows, rate_constant, places, driven = _rate_rows(mesh, limits)
    m, k = alpha.shape[1], rate_constant.shape[1]
    linear, fast, late = slice(0, m), slice(2 * m, 2 * m + 2), slice(2 * m + 2, 2 * m + 2 + k)
    coefficients = np.zeros((3, mesh.nodes.size, 2 * (m + k) + 2))
    constant = np.zeros(coefficients.shape[1:])
    coefficients[0, :, linear], coefficients[1, :, linear] = steady
    coefficients[:, :, m : 2 * m] = -coefficients[:, :, linear]
    constant[:, : acting.size] = efforts[2]
    constant[:, m : 2 * m] = -constant[:, linear]
    coefficients[:, :, fast] = _velocity_rows(mesh, limits.velocity)
    coefficients[:, :, late], coefficients[:, :, late.stop :] = rate_rows, -rate_rows
    constant[:, late], constant[:, late.stop :] = rate_constant, -rate_constant
    which = np.array(2 * (k // 2 * [0] + k // 2 * [1]), dtype=np.intp)
    quantities = acting.size * [EFFORT] + moving.size * [ACCELERATION]
    about = (
        2 * quantities + 2 * [VELOCITY] + 4 * driven.size * [EFFORT_RATE],
        np.concatenate((*(2 * (acting, moving)), (0, 0), *(4 * (driven,)))),
    )
    return Rows(coefficients, constant, places, which), np.array(about, dtype=np.intp)


def relative_terms(
    terms: tuple[FloatArray, ...], limit: FloatArray
) -> tuple[list[FloatArray], IndexArray]:
    """Return terms, (K, n), of the limited joints divided by their limits, and joint indices."""
    limited = np.flatnonzero(np.isfinite(limit))
    return [values[:, limited] / limit[limited] for values in terms], limited


def _velocity_rows(mesh: Mesh, limit: FloatArray) -> FloatArray:
    """Coefficients, (3, N + 1, 2), of x over its bound at nodes and midpoints."""
    fastest = np.square(mesh.terms.first / limit).max(axis=1)
    rows = np.zeros((3, mesh.nodes.size, 2))
    before, after, slope = mesh.before[:, 0], mesh.after[:, 0], mesh.slope[:, 0]
    rows[0, :, 0], rows[1, :, 0] = before * fastest[::2], after * fastest[::2]
    # At the midpoint x is the mean of both nodes minus h / 4 times the difference of u.
    left, right = 0.25 * mesh.sizes * slope[:-1], 0.25 * mesh.sizes * slope[1:]
    rows[0, :-1, 1] = (0.5 * before[:-1] - left) * fastest[1::2]
    rows[1, :-1, 1] = (0.5 * (after[:-1] + before[1:]) + left + right) * fastest[1::2]
    rows[2, :-1, 1] = (0.5 * after[1:] - right) * fastest[1::2]
    return rows


def _rate_rows(
    mesh: Mesh, limits: Limits
) -> tuple[FloatArray, FloatArray, FloatArray, IndexArray]:
    """Coefficients (3, N + 1, 2 m), constants and x weights of effort rates, and joint indices.

    First at the starts of the intervals, then at their ends. The derivatives of a, b and g are
    those of the parabolas through both ends and the midpoint.
    """
    count, before, after, slope = mesh.sizes.size, mesh.before, mesh.after, mesh.slope
    terms = mesh.terms
    (a, b, g), driven = relative_terms(
        (terms.inertia, terms.bend, terms.weight), limits.effort_rate
    )
    m, h, both = driven.size, mesh.sizes[:, np.newaxis], np.hstack((a, b, g))
    rows, constant = np.zeros((3, count + 1, 2 * m)), np.zeros((count + 1, 2 * m))
    places = np.zeros((3, count + 1, 2))
    places[0, :, :1], places[1, :, :1] = before, after
    places[1, :-1, 1:], places[2, :-1, 1:] = before[1:], after[1:]
    places[0, -1, 1] = 1.0  # dummy, used by no row
    curve = np.stack((slope[:-1], -(slope[:-1] + slope[1:]), slope[1:])) / h
    for end in (0, 1) if m else ():
        at, columns = slice(end, count + end), slice(end * m, (end + 1) * m)
        rising = (
            4.0 * both[1::2] - (3.0 - 2.0 * end) * both[:-2:2] - (1.0 + 2.0 * end) * both[2::2]
        )
        rising *= (1.0 - 2.0 * end) / h
        da, db, dg = rising[:, :m], rising[:, m : 2 * m], rising[:, 2 * m :]
        turning, inertia = (da + 2.0 * b[::2][at]) * slope[at], a[::2][at]
        constant[:-1, columns] = dg
        rows[:, :-1, columns] = inertia * curve
        rows[end, :-1, columns] += db * before[at] - turning
        rows[end + 1, :-1, columns] += db * after[at] + turning
    return rows, constant, places, driven


def near_bounds(rows: Rows, c: FloatArray, about: IndexArray) -> BoolArray:
    """Return the mask of relevant rows, shape (r,), estimated at a nearly optimal motion c."""
    values, steady = np.abs(rows.values(c)), rows.constant.shape[1] - rows.which.size
    kept: BoolArray = about[0] == VELOCITY
    for part in (slice(0, steady), slice(steady, None)):
        among = values[:, part]
        if among.shape[1]:
            top = among.max(axis=1, keepdims=True)
            kept[part] |= ((among > _NEAR * top) & (among > _FAR * top.max())).any(axis=0)
    return kept


def chosen_rows(rows: Rows, kept: BoolArray) -> Rows:
    """Return the rows selected by a mask, (r,)."""
    which = rows.which[kept[kept.size - rows.which.size :]]
    coefficients = np.ascontiguousarray(rows.coefficients[..., kept])
    return Rows(coefficients, rows.constant[:, kept], rows.places, which)


def tightened(rows: Rows, about: IndexArray, used: FloatArray) -> Rows:
    """Return rows tightened by the factors (4, N, n) by which a motion exceeded the limits."""
    over = np.maximum(used, 1.0)
    over[VELOCITY] = np.square(over[VELOCITY].max(axis=1, keepdims=True))
    windows = np.concatenate((over, over[:, -1:]), axis=1)
    windows[:, 1:] = np.maximum(windows[:, 1:], over)
    share = windows[about[0], :, about[1]].T  # (K, r)
    steady = rows.constant.shape[1] - rows.which.size
    # Terms that do not depend on the speed are kept; only the others can be reduced.
    still, factor, constant = rows.constant[:, :steady], share.copy(), rows.constant * share
    factor[:, :steady] = (share[:, :steady] - still) / (1.0 - still)
    constant[:, :steady] = still
    return Rows(rows.coefficients * factor, constant, rows.places, rows.which)
