# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Geometric paths to be retimed, from the waypoints or the trajectory that describe them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.reference.polynomials import (
    control_points,
    cubic_pieces,
    derivative_of,
    halves,
    highest,
    natural_spline_velocities,
    shifted,
)
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.messages import listed
from kron_dynamics.typing import FloatArray, IndexArray

# Speed that counts as rest, as for the points of a trajectory, rad/s or m/s.
_REST = 1e-7
# Steps of a joint's acceleration that count as rounding, relative to its largest acceleration.
_ROUNDING = 1e-5
# Distances between waypoints that count as 0, relative to the largest one; those of joints, rad or
# m, relative to positions above 1: motions over less are spoilt by the rounding of positions.
_REPEATED, _ROUNDED = 1e-7, 1e-10
# Ways of a trajectory that are rounding, relative to positions above 1.
_LAST_BITS = 1e-12
# Times that pieces are divided before their extrema are computed: control points of a part are
# nearer to it.
_HALVINGS = 3
# Taylor coefficients at a rest that count as 0, relative to the largest one.
_NONE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class PathSection:
    """A path q(s) from one rest to the next, of p polynomial pieces with C2 continuity.

    Attributes:
        breaks: s at the starts of the pieces and the end of the last one, shape (p + 1,).
        table: coefficients, shape (p, order, n), for s from the start of the piece, lowest power
            first.
        points: indices of the path's points at the breaks.
        timed: whether s is the time of a trajectory.
    """

    breaks: FloatArray
    table: FloatArray
    points: tuple[int, ...]
    timed: bool

    @property
    def length(self) -> float:
        """The range of s."""
        return float(self.breaks[-1] - self.breaks[0])

    @property
    def ends(self) -> FloatArray:
        """Positions of both rests, shape (2, n)."""
        return self.derivatives(self.breaks[[0, -1]], np.array([0, len(self.table) - 1]))[0]

    @property
    def orders(self) -> tuple[int, int]:
        """Orders at both ends: q - q_rest ~ |s - s_rest|^order."""
        sizes = np.diff(self.breaks)
        last = shifted(self.table[-1:].swapaxes(0, 1), sizes[-1:])[:, 0]
        return _contact(self.table[0], sizes[0]), _contact(last, sizes[-1])

    def piece_at(self, s: FloatArray) -> IndexArray:
        """Return the index of the piece that contains each s, shape (K,)."""
        return np.searchsorted(self.breaks[1:-1], s, side='right')

    def derivatives(
        self, s: FloatArray, piece: IndexArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return q, dq/ds and d2q/ds2, shape (K, n) each, at positions s on given pieces, (K,)."""
        coefficients = self.table[piece]  # (K, order, n)
        order = coefficients.shape[1]
        powers = (s - self.breaks[piece])[:, np.newaxis] ** np.arange(order)
        found = [np.einsum('ko,kon->kn', powers, coefficients)]
        factors = np.ones(order)
        for k in (1, 2):
            factors = factors[1:] * np.arange(1.0, order - k + 1)
            found.append(
                np.einsum('ko,kon->kn', powers[:, : order - k] * factors, coefficients[:, k:])
            )
        return found[0], found[1], found[2]

    def beyond(
        self, lower: FloatArray, upper: FloatArray
    ) -> tuple[int, float, float, float] | None:
        """Return the first joint found beyond a bound: (joint, position, s, bound), or None."""
        pieces, sizes = self.table.swapaxes(0, 1), np.diff(self.breaks)
        controls = control_points(pieces, sizes)
        for sign, bound in ((1.0, upper), (-1.0, lower)):
            doubtful = _exceeding(sign * controls, sign * bound)
            if doubtful.size:
                found, at = highest(sign * pieces[..., doubtful], self.breaks[:-1], sizes)
                for k, joint in enumerate(doubtful.tolist()):
                    if found[k] > sign * bound[joint]:
                        return joint, sign * float(found[k]), float(at[k]), float(bound[joint])
        return None

    def place(self, s: float) -> str:
        """Return a description of the position s on the path, for messages."""
        if self.timed:
            return f'at {s:.6g} s of the trajectory'
        piece = int(self.piece_at(np.array([s]))[0])
        begin, end = self.breaks[piece : piece + 2]
        share = (s - begin) / (end - begin)
        return f'{100.0 * share:.0f} % of the way from waypoint {self.points[piece]} to the next'


def _exceeding(controls: FloatArray, bound: FloatArray) -> IndexArray:
    """Joints with control points, (order, p, n), above a bound, (n,), also of divided pieces."""
    piece, joint = np.nonzero(controls.max(axis=0) > bound)
    points = controls[:, piece, joint]
    for _ in range(_HALVINGS if joint.size else 0):
        points, joint = np.concatenate(halves(points), axis=1), np.tile(joint, 2)
        above = points.max(axis=0) > bound[joint]
        points, joint = points[:, above], joint[above]
    return np.unique(joint) if joint.size else joint


def _contact(coefficients: FloatArray, size: float) -> int:
    scaled = np.abs(coefficients * size ** np.arange(len(coefficients))[:, np.newaxis])[1:]
    present = (scaled > _NONE * scaled.max()).any(axis=1)
    return int(present.argmax()) + 1


def sections_of_waypoints(
    points: FloatArray, rests: Sequence[int], scale: FloatArray
) -> list[PathSection]:
    """Return the natural cubic splines through waypoints, from rest to rest.

    Args:
        points: shape (K, n), finite; points equal to their predecessor up to rounding are left
            out.
        rests: indices of points that are rests besides the first and the last one; of rests that
            are equal up to rounding, one is kept.
        scale: scale of each joint, shape (n,): the path parameter grows between two points by the
            largest distance / scale.
    """
    inner = {range(len(points))[k] for k in rests} - {0, len(points) - 1}
    steps = np.abs(np.diff(points, axis=0))
    rounded = (steps <= _ROUNDED * np.maximum(1.0, np.abs(points).max(axis=0))).all(axis=1)
    ways = np.where(rounded, 0.0, (steps / scale).max(axis=1))
    ends = _distinct_rests(sorted({0, *inner, len(points) - 1}), ways)
    sections = []
    for begin, end in zip(ends[:-1], ends[1:], strict=True):
        own = ways[begin:end]
        apart = own > _REPEATED * own.max()
        kept = np.concatenate(([begin], begin + 1 + np.flatnonzero(apart)))
        if kept.size == 1:
            continue
        breaks = np.concatenate(([0.0], np.cumsum(own[apart])))
        q = points[kept]
        q[-1] = points[end]
        v = natural_spline_velocities(breaks, q)
        pieces = cubic_pieces(np.diff(breaks), (q[:-1], v[:-1]), (q[1:], v[1:]))
        table = np.ascontiguousarray(pieces.swapaxes(0, 1))
        sections.append(PathSection(breaks, table, tuple(kept.tolist()), False))
    return sections


def _distinct_rests(ends: list[int], ways: FloatArray) -> list[int]:
    """Rests without those between which there is no way to speak of; the first and last stay."""
    longest = [ways[begin:end].max() for begin, end in zip(ends[:-1], ends[1:], strict=True)]
    none = np.array(longest) <= _REPEATED * ways.max(initial=0.0)
    still = np.logical_and.accumulate(none)
    return [
        place
        for k, place in enumerate(ends)
        if k in (0, len(none)) or not (none[k] or still[k - 1])
    ]


def sections_of_trajectory(trajectory: Trajectory) -> list[PathSection]:
    """Return the path of a trajectory, from rest to rest.

    Raises:
        TrajectoryError: it begins in motion, or its acceleration steps while it moves.
    """
    breaks, pieces = trajectory.polynomials
    sizes, names = np.diff(breaks), trajectory.joint_names
    if len(pieces) < 2:
        return []
    rates, bends = derivative_of(pieces), derivative_of(derivative_of(pieces))
    resting = np.append((np.abs(rates[0]) <= _REST).all(axis=1), True)
    if not resting[0]:
        moving = [name for name, rate in zip(names, rates[0, 0], strict=True) if abs(rate) > _REST]
        raise TrajectoryError(
            f'the trajectory begins in motion of {listed(moving)}, expected rest at its beginning'
        )
    if len(bends):
        after = shifted(bends, sizes)[0, :-1]
        steps = np.abs(bends[0, 1:] - after) - _ROUNDING * np.abs(bends[0]).max(axis=0)
        steps[resting[1:-1]] = -1.0
        if (steps > _REST).any():
            point, joint = np.argwhere(steps > _REST)[0]
            raise TrajectoryError(
                f"the path of joint '{names[joint]}' bends at once at {breaks[point + 1]:.6g} s "
                f'of the trajectory: its acceleration steps from {after[point, joint]:.6g} to '
                f'{bends[0, point + 1, joint]:.6g}; expected a rest there, or points with '
                f'accelerations; without velocities, or as waypoints, points are joined smoothly'
            )
    powers = sizes[:, np.newaxis] ** np.arange(1, len(pieces))[:, np.newaxis, np.newaxis]
    ways = np.abs(pieces[1:, : sizes.size] * powers).sum(axis=0)
    moves = (ways > _LAST_BITS * np.maximum(1.0, np.abs(pieces[0, : sizes.size]))).any(axis=1)
    ends, sections = np.flatnonzero(resting).tolist(), []
    for begin, end in zip(ends[:-1], ends[1:], strict=True):
        if moves[begin:end].any():
            table = np.ascontiguousarray(pieces[:, begin:end].swapaxes(0, 1))
            points = tuple(range(begin, end + 1))
            sections.append(PathSection(breaks[begin : end + 1], table, points, True))
    return sections
