# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time-optimal motion without effort rate limits: extremal arcs along which one limit is active.

In the plane of the path parameter r and the squared path rate x, an active limit of an effort or
acceleration is a linear differential equation, ``x' = 2 u`` with ``a u + b x + g = 1``. The
time-optimal motion has the largest x everywhere that rises and falls no faster than these
equations permit and stays below the ceiling given by the velocity limits. A backward and a
forward sweep over the nodes find it. The steps are three-point collocation of fourth order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kron_dynamics.control.reference.path_mesh import Mesh
from kron_dynamics.control.reference.path_terms import Limits
from kron_dynamics.control.reference.retiming_rows import relative_terms
from kron_dynamics.typing import BoolArray, FloatArray, IndexArray

# x and u of curves at places r.
Curve = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

# Kind of an interval: arc of the forward sweep (accelerating), arc of the backward sweep
# (decelerating), ceiling, or a change between them.
FORWARD, BACKWARD, CEILING, MIXED = range(4)
# Rows with more slack than this share of the limit at full acceleration cannot be active.
_ACTIVE = 0.2
# Relative differences that count as rounding.
ROUNDING = 1e-12
# Largest rate times interval for which the collocation step is used; above, it is inaccurate.
_STIFF = 4.0


class ArcRows(NamedTuple):
    """Limits as rows a u + b x <= room at nodes and midpoints alternately, (2 N + 1, r) each."""

    a: FloatArray
    b: FloatArray
    room: FloatArray

    def slopes(self, x: FloatArray, at: slice | IndexArray = slice(None, None, 2)) -> FloatArray:
        """Return u at which the rows are active, shape (K, r), for x of shape (K,)."""
        with np.errstate(all='ignore'):
            found: FloatArray = (self.room[at] - self.b[at] * x[:, np.newaxis]) / self.a[at]
        return found

    def steepest(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper and lower bounds of u at the nodes, shape (N + 1, r) each; inf for none."""
        u, a = self.slopes(x), self.a[::2]
        return np.where(a > 0.0, u, np.inf), np.where(a < 0.0, u, -np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class Arcs:
    """Time-optimal x at the nodes of a mesh, and the kind of arc on each interval.

    Attributes:
        mesh: mesh with N intervals.
        rows: limits of efforts and accelerations.
        ceilings: largest x by the velocity limits of the n joints, by the maximum velocity curve
            and by the roof, shape (N + 1, n + 2).
        ceiling_slopes: u along the ceilings.
        lowest: index of the lowest ceiling at each node, (N + 1,).
        x: shape (N + 1,).
        forward: largest x at the right end of each interval by the limits from its left end, (N,).
        backward: largest x at its left end by the limits from its right end, (N,).
        kind: kind of each interval, (N,).
        rest_slopes: u at both rests.
    """

    mesh: Mesh
    rows: ArcRows
    ceilings: FloatArray
    ceiling_slopes: FloatArray
    lowest: IndexArray
    x: FloatArray
    forward: FloatArray
    backward: FloatArray
    kind: IndexArray
    rest_slopes: tuple[float, float]

    @property
    def ceiling(self) -> tuple[FloatArray, FloatArray]:
        """Return x and u of the lowest ceiling at the nodes, shape (N + 1,) each."""
        k = np.arange(self.x.size)
        return self.ceilings[k, self.lowest], self.ceiling_slopes[k, self.lowest]

    def bounds(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the largest and the smallest u at the nodes, shape (N + 1,) each, for given x."""
        up, down = self.rows.steepest(x)
        most, least = up.min(axis=1), down.max(axis=1)
        most[0], least[-1] = self.rest_slopes
        return most, least

    def from_one_end(self, k: IndexArray, forward: bool) -> tuple[FloatArray, FloatArray]:
        """Return x and u at both ends of intervals k, (2, m) each, on the arcs from one end."""
        x = np.stack((self.x[k], self.x[k + 1]))
        x[int(forward)] = (self.forward if forward else self.backward)[k]
        u = np.empty_like(x)
        for end in (0, 1):
            at = 2 * (k + end)
            slopes, a = self.rows.slopes(x[end], at), self.rows.a[at]
            if forward:
                u[end] = np.where(a > 0.0, slopes, np.inf).min(axis=1)
            else:
                u[end] = np.where(a < 0.0, slopes, -np.inf).max(axis=1)
        if forward:
            u[0, k == 0] = self.rest_slopes[0]
        else:
            u[1, k == self.kind.size - 1] = self.rest_slopes[1]
        return x, u

    def slopes(self) -> FloatArray:
        """Return u at both ends of each interval, (N, 2); NaN where it is mixed."""
        found = np.full((self.kind.size, 2), np.nan)
        for kind, u in enumerate((*self.bounds(self.x), self.ceiling[1])):
            at = np.flatnonzero(self.kind == kind)
            found[at, 0], found[at, 1] = u[at], u[at + 1]
        # On the maximum velocity curve the limits do not determine u: use a parabola's slope.
        mean = np.diff(self.x) / self.mesh.sizes
        tight = self.x >= self.ceilings[:, -2] * (1.0 - ROUNDING)
        for end, other in ((0, 1), (1, 0)):
            at = np.flatnonzero(tight[end : end + mean.size] & (self.kind != MIXED))
            both = tight[at + other]
            found[at, end] = np.where(both, 0.5 * mean[at], mean[at] - found[at, other])
        return found


def arcs_of(
    mesh: Mesh, limits: Limits, roof: Curve, guess: FloatArray, margins: FloatArray
) -> Arcs | None:
    """Return the time-optimal motion on a mesh; None if none is found.

    Args:
        mesh: mesh of a section.
        limits: limits; those of effort rates are ignored.
        roof: an additional ceiling; inf for none.
        guess: approximate x at the nodes, (N + 1,).
        margins: relative margins to limits of velocities and of the others, (2, 2 N + 1).
    """
    terms = mesh.terms
    efforts, _ = relative_terms((terms.inertia, terms.bend, terms.weight), limits.effort)
    rates, _ = relative_terms((terms.first, terms.second), limits.acceleration)
    a, b = (np.hstack((efforts[k], rates[k])) for k in (0, 1))
    weight = np.hstack((efforts[2], np.zeros_like(rates[0])))
    rows = ArcRows(
        np.hstack((a, -a)),
        np.hstack((b, -b)),
        1.0 - margins[1, :, np.newaxis] - np.hstack((weight, -weight)),
    )
    ceilings, ceiling_slopes = _ceilings(mesh, limits, rows, roof, margins[0, ::2])
    lowest = ceilings.argmin(axis=1)
    ceiling, slope = (
        values[np.arange(lowest.size), lowest] for values in (ceilings, ceiling_slopes)
    )
    with np.errstate(all='ignore'):
        still = rows.room[[0, -1]] / rows.b[[0, -1]]
    rests = np.where(still > 0.0, still, np.inf).min(axis=1)
    rests = np.minimum(rests, ceiling[[0, -1]])
    steps, rest_slopes = _steps(mesh, rows, _active(rows, guess), rests)
    x = _swept(ceiling, rests, steps)
    if not (np.isfinite(x).all() and (x > 0.0).all()):
        return None
    forward = (steps.up * x[:-1, np.newaxis] + steps.up_constant).min(axis=1)
    backward = (steps.down * x[1:, np.newaxis] + steps.down_constant).min(axis=1)
    on = x >= ceiling * (1.0 - ROUNDING)
    same = lowest[1:] == lowest[:-1]
    kind = np.select(
        (
            on[1:] & on[:-1] & same & np.isfinite(slope[1:]),
            on[1:] & on[:-1] & same,
            forward <= x[1:] * (1.0 + ROUNDING),
            backward <= x[:-1] * (1.0 + ROUNDING),
        ),
        (CEILING, FORWARD, FORWARD, BACKWARD),
        MIXED,
    )
    return Arcs(
        mesh, rows, ceilings, ceiling_slopes, lowest, x, forward, backward, kind, rest_slopes
    )


class _Steps(NamedTuple):
    """Affine bounds of x at the right end of intervals by x at the left end, and back, (N, r)."""

    up: FloatArray
    up_constant: FloatArray
    down: FloatArray
    down_constant: FloatArray


def _ceilings(
    mesh: Mesh, limits: Limits, rows: ArcRows, roof: Curve, margins: FloatArray
) -> tuple[FloatArray, FloatArray]:
    first, second = mesh.terms.first[::2], mesh.terms.second[::2]
    with np.errstate(all='ignore'):
        x = np.square(limits.velocity * (1.0 - margins[:, np.newaxis]) / first)
        u = -second / first * x
    above, most = roof(mesh.nodes), most_rates(rows, x.min(axis=1))
    return (
        np.column_stack((x, most, above[0])),
        np.column_stack((u, np.full(most.size, np.nan), above[1])),
    )


def most_rates(rows: ArcRows, x: FloatArray) -> FloatArray:
    """Return the maximum velocity curve: the largest x at which any u is within the limits.

    Args:
        rows: rows of the limits.
        x: ceiling by other limits, shape (N + 1,).

    Returns:
        shape (N + 1,); inf at both ends and where it is above the ceiling x.
    """
    up, down = rows.steepest(x)
    with np.errstate(invalid='ignore'):  # where velocities have no limit
        alone = (rows.a[::2] == 0.0) & (rows.b[::2] * x[:, np.newaxis] > rows.room[::2])
    at = np.flatnonzero((up.min(axis=1) < down.max(axis=1)) | alone.any(axis=1))
    at = at[(at > 0) & (at < x.size - 1)]
    found = np.full(x.size, np.inf)
    a, b, room = (values[2 * at] for values in rows)
    # x at which an upper and a lower bound of u coincide.
    rising, falling = np.maximum(a, 0.0)[:, :, np.newaxis], np.maximum(-a, 0.0)[:, np.newaxis]
    with np.errstate(all='ignore'):
        both = (rising * room[:, np.newaxis] + falling * room[:, :, np.newaxis]) / (
            rising * b[:, np.newaxis] + falling * b[:, :, np.newaxis]
        )
    pairs = (rising > 0.0) & (falling > 0.0) & (both > 0.0)
    found[at] = np.where(pairs, both, np.inf).min(axis=(1, 2), initial=np.inf)
    with np.errstate(all='ignore'):
        found[at] = np.minimum(found[at], np.where(alone[at], room / b, np.inf).min(axis=1))
    return found


def _active(rows: ArcRows, x: FloatArray) -> BoolArray:
    """Mask of the rows that may be active on each interval, (N, r)."""
    up, down = rows.steepest(x)
    a = rows.a[::2]
    u = np.where(a > 0.0, up.min(axis=1, keepdims=True), down.max(axis=1, keepdims=True))
    with np.errstate(invalid='ignore'):
        left = rows.room[::2] - rows.b[::2] * x[:, np.newaxis] - a * u
    near: BoolArray = left < _ACTIVE
    return near[1:] | near[:-1]


def _steps(
    mesh: Mesh, rows: ArcRows, active: BoolArray, rests: FloatArray
) -> tuple[_Steps, tuple[float, float]]:
    """Steps of all rows by collocation of x' = p x + f at ends and midpoint of each interval."""
    count, h = mesh.sizes.size, mesh.sizes[:, np.newaxis]
    with np.errstate(all='ignore'):
        p, f = -2.0 * rows.b / rows.a, 2.0 * rows.room / rows.a
        (p0, pm, p1), (f0, fm, f1), (a0, am, a1) = (
            tuple(values[k : k + 2 * count : 2] for k in range(3)) for values in (p, f, rows.a)
        )
        right = 1.0 - h / 6.0 * p1 - (2.0 * h / 3.0) * pm * (0.5 - 0.125 * h * p1)
        left = 1.0 + h / 6.0 * p0 + (2.0 * h / 3.0) * pm * (0.5 + 0.125 * h * p0)
        rest = h / 6.0 * (f0 + 4.0 * fm + f1) + h**2 / 12.0 * pm * (f0 - f1)
        tame = active & (left > 0.0) & (right > 0.0)
        for each in (p0, pm, p1):
            tame &= np.abs(h * each) < _STIFF
        rising = tame & (np.minimum(np.minimum(a0, am), a1) > 0.0)
        falling = tame & (np.maximum(np.maximum(a0, am), a1) < 0.0)
        steps = _Steps(
            np.where(rising, left / right, 0.0),
            np.where(rising, rest / right, np.inf),
            np.where(falling, right / left, 0.0),
            np.where(falling, -rest / left, np.inf),
        )
    _add_stiff(steps, rows, h, active & ~tame)
    # At the rests, where a is 0, sweeps start with special steps; no step ends at a rest.
    steps.down[0], steps.down_constant[0] = 0.0, np.inf
    steps.up[-1], steps.up_constant[-1] = 0.0, np.inf
    steps.up[0], steps.down[-1] = 0.0, 0.0
    first = _from_rest((pm[0], p1[0]), (fm[0], f1[0]), float(rests[0]), float(h[0, 0]))
    last = _from_rest((-pm[-1], -p0[-1]), (-fm[-1], -f0[-1]), float(rests[1]), float(h[-1, 0]))
    steps.up_constant[0] = np.where(np.minimum(am[0], a1[0]) > 0.0, first[0], np.inf)
    steps.down_constant[-1] = np.where(np.maximum(am[-1], a0[-1]) < 0.0, last[0], np.inf)
    slopes = (
        float(first[1][steps.up_constant[0].argmin()]),
        -float(last[1][steps.down_constant[-1].argmin()]),
    )
    return steps, slopes


def _add_stiff(steps: _Steps, rows: ArcRows, h: FloatArray, which: BoolArray) -> None:
    """Add steps of limits with very small a, beside zero-inertia points.

    A parabola satisfies the equations at the midpoint and the end, where a may be 0. From any x
    it leads to the arc through the zero-inertia point.
    """
    for forward, (factor, constant) in ((True, steps[:2]), (False, steps[2:])):
        sign, end = (1.0, 2) if forward else (-1.0, 0)
        at = np.nonzero(which)
        k, row = at
        a, a1 = (sign * rows.a[2 * k + j, row] for j in (1, end))
        (b, b1), (room, room1) = (
            (values[2 * k + 1, row], values[2 * k + end, row]) for values in (rows.b, rows.room)
        )
        good = (a > 0.0) & (a1 >= 0.0) & (b > 0.0) & (b1 > 0.0)
        at = (k[good], row[good])
        found = (values[good] for values in (h[k, 0], a, a1, b, b1, room, room1))
        factor[at], constant[at] = _stiff_steps(*found)


def _stiff_steps(
    size: FloatArray,
    a: FloatArray,
    a1: FloatArray,
    b: FloatArray,
    b1: FloatArray,
    room: FloatArray,
    room1: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return factor and constant of the steps of stiff limits, from their terms at both places."""
    w, w1 = size * b, size * b1
    both = (a + w) * 2.0 * (a1 + w1) - (a + 0.5 * w) * (a1 + 2.0 * w1)
    return 1.0 - w * (2.0 * a1 + w1) / both, size * (2.0 * room * a1 + w * room1) / both


def _from_rest(
    p: tuple[FloatArray, FloatArray], f: tuple[FloatArray, FloatArray], x: float, h: float
) -> tuple[FloatArray, FloatArray]:
    """Values x at the end of an interval that starts at a rest, and u at the rest, (r,) each.

    By a parabola from x that satisfies the equations at the midpoint and the end.
    """
    with np.errstate(all='ignore'):
        middle, end = 1.0 - 0.5 * h * p[0], 1.0 - h * p[1]
        quarter, double = 1.0 - 0.25 * h * p[0], 2.0 - h * p[1]
        at_middle, at_end = h * (p[0] * x + f[0]), h * (p[1] * x + f[1])
        determinant = middle * double - quarter * end
        slope = (at_middle * double - at_end * quarter) / determinant
        bend = (middle * at_end - end * at_middle) / determinant
        reached = x + slope + bend
        return np.where(reached > 0.0, reached, np.inf), 0.5 * slope / h


def _swept(ceiling: FloatArray, rests: FloatArray, steps: _Steps) -> FloatArray:
    """The largest x that all steps permit, by two sweeps of sequential steps in plain floats."""
    x = ceiling.tolist()
    x[0], x[-1] = rests.tolist()
    rising = _as_lists(steps.up, steps.up_constant)
    falling = _as_lists(steps.down, steps.down_constant)
    for k in range(len(falling) - 1, -1, -1):
        after, most = x[k + 1], x[k]
        for factor, constant in falling[k]:
            reached = factor * after + constant
            if reached < most:
                most = reached
        x[k] = most
    for k, bounds in enumerate(rising):
        before, most = x[k], x[k + 1]
        for factor, constant in bounds:
            reached = factor * before + constant
            if reached < most:
                most = reached
        x[k + 1] = most
    return np.array(x)


def _as_lists(factors: FloatArray, constants: FloatArray) -> list[list[tuple[float, float]]]:
    """Factors and constants of the rows that bound each interval."""
    found: list[list[tuple[float, float]]] = [[] for _ in factors]
    at, row = np.nonzero(np.isfinite(constants))
    values = zip(factors[at, row].tolist(), constants[at, row].tolist(), strict=True)
    for k, value in zip(at.tolist(), values, strict=True):
        found[k].append(value)
    return found
