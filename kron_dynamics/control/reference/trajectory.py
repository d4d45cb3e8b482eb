# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Reference trajectories: piecewise polynomials in time, sampled by the control loop."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from kron_dynamics.control.reference.polynomials import (
    chunks,
    derivative_of,
    lowest_and_highest,
    powers_of,
    quintic_pieces,
    shifted,
)
from kron_dynamics.control.reference.waypoints import Waypoints, checked_tolerance
from kron_dynamics.exceptions import NonFiniteError, TrajectoryError
from kron_dynamics.typing import ArrayLike, BoolArray, FloatArray


class Extrema(NamedTuple):
    """The smallest and largest value of each joint's quantity, and their times, each (n,)."""

    lowest: FloatArray
    lowest_time: FloatArray
    highest: FloatArray
    highest_time: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A motion of n joints that ends at rest; immutable, safe to share between threads.

    Points with positions, velocities and accelerations are joined by quintic polynomials (C2),
    points with positions and velocities by cubic ones (C1, the acceleration may step), points
    with positions alone by the C2 cubic spline that ends at rest. With a start state, the
    acceleration is continuous there: the first cubic piece is replaced by a quintic one, and so
    is the last piece of the spline, to end with zero acceleration. Make one with
    :meth:`from_points`.

    Attributes:
        joint_names: the n joints, in the order of every array.
        duration: time of the last point, in s.
        final_position: position held after the end, shape (n,), in rad or m; read-only.
    """

    joint_names: tuple[str, ...]
    duration: float
    final_position: FloatArray
    # Start times of the pieces and the end of the last one, s. The piece of a hold lasts 1 s.
    _knots: FloatArray
    # Coefficients of the positions, shape (order, p, n), as in `Waypoints.interpolated`.
    _pieces: FloatArray
    # The knots as a tuple, which bisect searches faster. A hold has one.
    _breaks: tuple[float, ...]
    # [piece] -> (order, 3 n): coefficients of q, qd, qdd side by side, lowest power first. The
    # first and the last piece are the constant positions before and after the motion.
    _table: FloatArray

    @classmethod
    def from_points(
        cls,
        joint_names: Sequence[str],
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None = None,
        accelerations: ArrayLike | None = None,
        *,
        start: tuple[ArrayLike, ArrayLike, ArrayLike] | None = None,
        continuous: ArrayLike = False,
        start_tolerance: ArrayLike = 1e-3,
    ) -> Trajectory:
        """Return the trajectory through K points of n joints.

        With `start`, the present state (q, qd, qdd) of the reference, position, velocity and
        acceleration are continuous at the start:

        - times[0] > 0: start becomes a point at time 0.
        - times[0] == 0: the first point must agree with start in position and, where it has one,
          velocity, and is then replaced by it.

        Without `start` the first point is held until its time. A single point is a hold.

        Args:
            joint_names: the n joint names, in the order of the columns.
            times: times of the points, shape (K,), in s: 0 or later, strictly increasing.
            positions: shape (K, n), in rad or m.
            velocities: shape (K, n), in rad/s or m/s; the last row must be zero.
            accelerations: shape (K, n), in rad/s^2 or m/s^2.
            start: (q, qd, qdd), each of shape (n,).
            continuous: mask of the continuous joints, shape (n,). The position of start is
                shifted by whole turns to be nearest to the first point.
            start_tolerance: allowed difference between start and a first point at time 0, shape
                (n,) or one for all, in rad or m, and per s.

        Raises:
            TrajectoryError: a shape, a number, the times, a name, the last velocity, the
                agreement with start or its tolerance is wrong; the message names the joint.
        """
        points = Waypoints.checked(joint_names, times, positions, velocities, accelerations)
        if start is not None:
            count = len(points.joint_names)
            turning = np.broadcast_to(np.asarray(continuous, np.float64), (count,))
            points = points.begun_at(start, turning, checked_tolerance(start_tolerance, count))
        elif points.times[0] > 0.0 and points.velocities is not None:
            if np.any(points.velocities[0]):
                raise TrajectoryError(
                    f'the first point, at {points.times[0]:g} s, has a velocity but no start '
                    'state is known to reach it from'
                )
        return cls._through(points)

    @classmethod
    def _through(cls, points: Waypoints) -> Trajectory:
        with np.errstate(all='ignore'):
            pieces = points.interpolated()
            table = _table_of(pieces, points.positions[0], points.positions[-1])
        if not all(np.isfinite(table[chunk]).all() for chunk in chunks(len(table))):
            raise TrajectoryError(
                'the points are too close together in time for finite rates '
                f'(least distance {np.diff(points.times).min():g} s)'
            )
        return cls._of(points.joint_names, points.times, points.positions[-1], pieces, table)

    @classmethod
    def from_states(
        cls,
        joint_names: Sequence[str],
        times: FloatArray,
        states: tuple[FloatArray, FloatArray, FloatArray],
        arriving: FloatArray | None = None,
    ) -> Trajectory:
        """Return the trajectory of quintic pieces through states, the last one at rest.

        For computed states: it takes microseconds, because nothing is checked.

        Args:
            joint_names: the n joint names.
            times: times of the states, shape (K,) of 2 or more, in s, the first 0.
            states: positions, velocities and accelerations, shape (K, n) each.
            arriving: left limits of the accelerations, shape (K, n), if they step; None if not.
        """
        q, v, a = states
        sizes, before = np.diff(times), a if arriving is None else arriving
        pieces = quintic_pieces(sizes, (q[:-1], v[:-1], a[:-1]), (q[1:], v[1:], before[1:]))
        table = _table_of(pieces, q[0], q[-1])
        return cls._of(tuple(joint_names), times, q[-1].copy(), pieces, table)

    @classmethod
    def from_polynomials(
        cls,
        joint_names: Sequence[str],
        times: FloatArray,
        pieces: FloatArray,
        final_position: FloatArray,
    ) -> Trajectory:
        """Return the trajectory of given polynomials, which end at rest.

        For computed motions: it takes microseconds, because nothing is checked.

        Args:
            joint_names: the n joint names.
            times: start times of the p pieces and the end of the last one, (p + 1,), in s, the
                first 0.
            pieces: coefficients as in `polynomials`, of order 3 or more, (order, p, n).
            final_position: position held after the end, (n,).
        """
        table = _table_of(pieces, pieces[0, 0], final_position)
        return cls._of(tuple(joint_names), times, final_position.copy(), pieces, table)

    @classmethod
    def combined(cls, first: Trajectory, second: Trajectory, chosen: BoolArray) -> Trajectory:
        """Return a trajectory with some joints of the first and the other joints of the second.

        Args:
            first: a trajectory of n joints.
            second: another one of the same joints.
            chosen: mask of the joints taken from the first, shape (n,).
        """
        times = np.union1d(first._breaks, second._breaks)
        begins = times[:-1] if times.size > 1 else times
        order = max(len(first._pieces), len(second._pieces))
        pieces = np.zeros((order, begins.size, len(first.joint_names)))
        for source, columns in ((first, chosen), (second, ~chosen)):
            pieces[: len(source._pieces), :, columns] = source._from(begins)[..., columns]
        final = np.where(chosen, first.final_position, second.final_position)
        table = _table_of(pieces, pieces[0, 0], final)
        return cls._of(first.joint_names, times, final, pieces, table)

    @classmethod
    def _of(
        cls,
        names: tuple[str, ...],
        times: FloatArray,
        final: FloatArray,
        pieces: FloatArray,
        table: FloatArray,
    ) -> Trajectory:
        final.setflags(write=False)
        breaks = tuple(times.tolist())
        knots = times if times.size > 1 else np.array([times[0], times[0] + 1.0])
        return cls(names, breaks[-1], final, knots, pieces, breaks, table)

    def _from(self, times: FloatArray) -> FloatArray:
        """Coefficients of pieces that begin at times, shape (p,), s, valid to the next break."""
        breaks = np.array(self._breaks)
        piece = np.searchsorted(breaks, times, side='right')
        order, n = len(self._pieces), len(self.joint_names)
        ascending = self._table[piece, :order, :n].swapaxes(0, 1)
        inside = (piece > 0) & (piece < breaks.size)
        since = np.where(inside, times - breaks[np.maximum(piece, 1) - 1], 0.0)
        return shifted(ascending, since)

    @property
    def piece_count(self) -> int:
        """Number of polynomial pieces; 1 for a hold."""
        return len(self._table) - 2

    @property
    def polynomials(self) -> tuple[FloatArray, FloatArray]:
        """Start times of the p pieces and the end of the last one, (p + 1,), and coefficients.

        The coefficients, (order, p, n), are for the time since the start of the piece, lowest
        power first.
        """
        return self._knots, self._pieces

    def breaks_between(self, begin: float, end: float) -> FloatArray:
        """Return the K breaks after a time and not after another one, ascending, (K,), s."""
        first, last = (bisect_right(self._breaks, time) for time in (begin, end))
        return np.array(self._breaks[first:last])

    def sample(self, t: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return (q, qd, qdd), each (n,), at time t in s.

        The first position is held before the first point, the last one after the end.

        Raises:
            NonFiniteError: t is NaN.
        """
        if t != t:
            raise NonFiniteError('trajectory sampled at time NaN')
        piece = bisect_right(self._breaks, t)
        s = t - self._breaks[piece - 1] if 0 < piece < len(self._breaks) else 0.0
        n = len(self.joint_names)
        if s == 0.0:  # usually a hold
            q, qd, qdd = np.array(self._table[piece, 0]).reshape(3, n)
            return q, qd, qdd
        powers = [1.0]
        for _ in range(self._table.shape[1] - 1):
            powers.append(powers[-1] * s)
        state = np.array(powers) @ self._table[piece]  # (3 n,)
        return state[:n], state[n : 2 * n], state[2 * n :]

    def samples(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return (q, qd, qdd), each (K, n), at times (K,) in s, as `sample` does."""
        breaks = np.array(self._breaks)
        piece = np.searchsorted(breaks, times, side='right')
        inside = (piece > 0) & (piece < breaks.size)
        since = np.where(inside, times - breaks[np.maximum(piece, 1) - 1], 0.0)
        powers = powers_of(since, self._table.shape[1]).T
        states = np.einsum('ko,kon->kn', powers, self._table[piece])
        n = len(self.joint_names)
        return states[:, :n], states[:, n : 2 * n], states[:, 2 * n :]

    def grid(
        self, samples_per_piece: int, pieces: slice = slice(None)
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return times (S,) and q, qd, qdd (S, n) on an even grid of every piece.

        The grid includes both ends of each piece, so a point between two pieces occurs twice,
        with the left and the right limit of the acceleration.

        Args:
            samples_per_piece: number of samples on each piece.
            pieces: range of pieces.
        """
        begins, sizes = self._knots[:-1][pieces], np.diff(self._knots)[pieces]
        order, n = self._table.shape[1], len(self.joint_names)
        shares = np.linspace(0.0, 1.0, samples_per_piece)
        # In units of its duration every piece has the same powers: one product of matrices.
        scaled = (
            self._table[1:-1][pieces].swapaxes(0, 1) * powers_of(sizes, order)[..., np.newaxis]
        )
        rows = np.tensordot(powers_of(shares, order).T, scaled, axes=1)  # (samples, pieces, 3 n)
        times = begins[:, np.newaxis] + sizes[:, np.newaxis] * shares
        q, qd, qdd = (
            rows[..., k * n : (k + 1) * n].swapaxes(0, 1).reshape(times.size, n) for k in range(3)
        )
        return times.ravel(), q, qd, qdd

    def extrema(self, derivative: Literal[0, 1] = 0) -> Extrema:
        """Return the extrema of the positions (0) or velocities (1), exact except for rounding."""
        pieces = self._pieces
        for _ in range(derivative):
            pieces = derivative_of(pieces)
        if not len(pieces):  # the velocity of a hold
            pieces = np.zeros((1, *self._pieces.shape[1:]))
        return Extrema(*lowest_and_highest(pieces, self._knots[:-1], np.diff(self._knots)))


def _table_of(coefficients: FloatArray, first: FloatArray, last: FloatArray) -> FloatArray:
    order, pieces, n = coefficients.shape
    table = np.zeros((pieces + 2, order, 3 * n))
    for chunk in chunks(pieces):
        rows = table[1:-1][chunk]
        ascending = coefficients[:, chunk].swapaxes(0, 1)  # (pieces, order, n)
        for derivative in range(3):
            columns = slice(derivative * n, (derivative + 1) * n)
            rows[:, : ascending.shape[1], columns] = ascending
            ascending = ascending[:, 1:] * np.arange(1.0, ascending.shape[1])[:, np.newaxis]
    table[0, 0, :n] = first
    table[-1, 0, :n] = last
    table.setflags(write=False)
    return table
