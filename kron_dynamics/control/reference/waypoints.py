# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Waypoints of a trajectory: checks, connection to a start state, interpolation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.arguments import real_array
from kron_dynamics.control.per_joint import repeated_names
from kron_dynamics.control.reference.polynomials import (
    cubic_pieces,
    quintic_pieces,
    spline_velocities,
)
from kron_dynamics.exceptions import KronDynamicsError, TrajectoryError
from kron_dynamics.typing import ArrayLike, FloatArray

# Speed that counts as rest, rad/s or m/s: rounding of a single-precision planner.
_REST = 1e-7
_START_LABELS = ('start position', 'start velocity', 'start acceleration')


class Waypoints(NamedTuple):
    """K points of n joints: times (K,) in s; other arrays (K, n) in rad or m, per s, per s^2."""

    joint_names: tuple[str, ...]
    times: FloatArray
    positions: FloatArray
    velocities: FloatArray | None
    accelerations: FloatArray | None
    # Velocity at the first point, shape (n,), used if `velocities` is None.
    first_velocity: FloatArray
    # Acceleration at the first point, shape (n,); None if it is free.
    first_acceleration: FloatArray | None = None

    @classmethod
    def checked(
        cls,
        joint_names: Sequence[str],
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None,
        accelerations: ArrayLike | None,
    ) -> Waypoints:
        """Return the points after checking that they describe a motion that ends at rest.

        Raises:
            TrajectoryError: a shape, a number, the times, a name or the last velocity is wrong.
        """
        names = tuple(joint_names)
        t, p, v, a = checked_points(names, times, positions, velocities, accelerations)
        if v is not None and (moving := np.flatnonzero(np.abs(v[-1]) > _REST)).size:
            speeds = ', '.join(f'{names[i]!r}: {v[-1, i]:g}' for i in moving)
            raise TrajectoryError(
                f'the last velocity must be 0, because the last point is held; got {speeds}'
            )
        return cls(names, t, p, v, a, np.zeros(len(names)))

    def begun_at(
        self,
        start: tuple[ArrayLike, ArrayLike, ArrayLike],
        continuous: FloatArray,
        tolerance: FloatArray,
    ) -> Waypoints:
        """Return the points with the state `start` = (q, qd, qdd), each (n,), as first point.

        See :meth:`Trajectory.from_points` for the rules.

        Raises:
            TrajectoryError: start is malformed, or differs from a first point at time 0.
        """
        q, qd, qdd = (
            _checked_array(label, numbers(label, values)[np.newaxis], 1, self.joint_names)[0]
            for label, values in zip(_START_LABELS, start, strict=True)
        )
        turns = np.rint((q - self.positions[0]) / (2.0 * np.pi))
        q = q - 2.0 * np.pi * turns * continuous
        if self.times[0] > 0.0:
            return self._replace(
                times=np.concatenate(([0.0], self.times)),
                positions=np.vstack((q, self.positions)),
                velocities=None if self.velocities is None else np.vstack((qd, self.velocities)),
                accelerations=None
                if self.accelerations is None
                else np.vstack((qdd, self.accelerations)),
                first_velocity=qd,
                first_acceleration=qdd,
            )
        self._check_agreement('position', self.positions[0], q, tolerance)
        positions = self.positions.copy()
        positions[0] = q
        velocities = self.velocities
        if velocities is not None:
            self._check_agreement('velocity', velocities[0], qd, tolerance)
            velocities = velocities.copy()
            velocities[0] = qd
        accelerations = self.accelerations
        if accelerations is not None:
            accelerations = accelerations.copy()
            accelerations[0] = qdd
        if self.times.size == 1:
            self._check_agreement('velocity', np.zeros_like(qd), qd, np.full_like(qd, _REST))
        return self._replace(
            positions=positions,
            velocities=velocities,
            accelerations=accelerations,
            first_velocity=qd,
            first_acceleration=qdd,
        )

    def interpolated(self) -> FloatArray:
        """Return the pieces between the points (see :class:`Trajectory`), shape (order, p, n).

        The coefficients are for the time since the start of the piece, lowest power first.
        """
        t = self.times
        if t.size == 1:
            return self.positions[np.newaxis]
        q, sizes = self.positions, np.diff(t)
        if self.velocities is None:
            v = spline_velocities(t, q, self.first_velocity)
            return self._joined(cubic_pieces(sizes, (q[:-1], v[:-1]), (q[1:], v[1:])), sizes)
        v = self.velocities
        if self.accelerations is None:
            return self._joined(cubic_pieces(sizes, (q[:-1], v[:-1]), (q[1:], v[1:])), sizes)
        a = self.accelerations
        return quintic_pieces(sizes, (q[:-1], v[:-1], a[:-1]), (q[1:], v[1:], a[1:]))

    def _joined(self, cubic: FloatArray, sizes: FloatArray) -> FloatArray:
        """Cubic pieces modified to start with the given acceleration, if there is one.

        The first piece becomes quintic. Without given velocities the last piece becomes quintic
        too and ends with zero acceleration.
        """
        if self.first_acceleration is None:
            return cubic
        pieces = np.concatenate((cubic, np.zeros_like(cubic[:2])))
        last = len(sizes) - 1
        q, a = self.positions, 2.0 * cubic[2]  # accelerations at the start of the pieces
        at_rest = np.zeros(len(self.joint_names))
        for k in {0, last} if self.velocities is None else {0}:
            begin = self.first_acceleration if k == 0 else a[k]
            end = at_rest if k == last else a[k + 1]
            rate = self.first_velocity if k == 0 else cubic[1, k]
            next_rate = at_rest if k == last else cubic[1, k + 1]
            one = slice(k, k + 1)
            pieces[:, one] = quintic_pieces(
                sizes[one],
                (q[one], rate[np.newaxis], begin[np.newaxis]),
                (q[k + 1 : k + 2], next_rate[np.newaxis], end[np.newaxis]),
            )
        return pieces

    def _check_agreement(
        self, quantity: str, given: FloatArray, present: FloatArray, tolerance: FloatArray
    ) -> None:
        apart = np.flatnonzero(np.abs(given - present) > tolerance)
        if apart.size:
            details = ', '.join(
                f'{self.joint_names[i]!r}: {given[i]:g} instead of {present[i]:g}, '
                f'tolerance {tolerance[i]:g}'
                for i in apart
            )
            raise TrajectoryError(
                f'the first point is at time 0 but its {quantity} is not that of the reference '
                f'now ({details})'
            )


def checked_points(
    joint_names: Sequence[str],
    times: ArrayLike,
    positions: ArrayLike,
    velocities: ArrayLike | None,
    accelerations: ArrayLike | None,
) -> tuple[FloatArray, FloatArray, FloatArray | None, FloatArray | None]:
    """Return times, shape (K,), and other arrays, shape (K, n) each, checked for consistency.

    Raises:
        TrajectoryError: a shape, a number, the times or a name is wrong.
    """
    names = tuple(joint_names)
    if not names or repeated_names(names):
        raise TrajectoryError(f'joint names must be given and differ, got {list(names)}')
    t = numbers('times', times)
    _check_times(t)
    if velocities is None and accelerations is not None:
        raise TrajectoryError('accelerations are given without velocities')
    p = _checked_array('positions', positions, t.size, names)
    v, a = (
        None if values is None else _checked_array(label, values, t.size, names)
        for label, values in (('velocities', velocities), ('accelerations', accelerations))
    )
    return t, p, v, a


def _check_times(t: FloatArray) -> None:
    if t.ndim != 1 or t.size == 0:
        raise TrajectoryError(f'times has shape {t.shape}, expected (K,) with at least one point')
    if not np.isfinite(t).all():
        raise TrajectoryError(f'times must be finite, got {t[~np.isfinite(t)][0]} among them')
    if t[0] < 0.0:
        raise TrajectoryError(f'times[0] is {t[0]:g} s, expected 0 s or later')
    if (late := np.flatnonzero(np.diff(t) <= 0.0)).size:
        i = int(late[0])
        raise TrajectoryError(
            f'times must increase strictly, but times[{i + 1}] = {t[i + 1]:g} s '
            f'follows times[{i}] = {t[i]:g} s'
        )


def _checked_array(
    label: str, values: ArrayLike, points: int, names: tuple[str, ...]
) -> FloatArray:
    array = numbers(label, values)
    if array.shape != (points, len(names)):
        raise TrajectoryError(
            f'{label} has shape {array.shape}, expected ({points}, {len(names)}) '
            f'for {points} points of {len(names)} joints'
        )
    bad = ~np.isfinite(array)
    if bad.any():
        first = bad.argmax(axis=0)
        details = ', '.join(
            f'{names[j]!r} at point {first[j]}: {array[first[j], j]:g}'
            for j in np.flatnonzero(bad.any(axis=0))
        )
        raise TrajectoryError(f'{label} must be finite, got {details}')
    return array


def numbers(label: str, values: ArrayLike) -> FloatArray:
    """Return a copy of values as an array of the same shape.

    Raises:
        TrajectoryError: they are no real numbers, see `real_array`; the message has the label.
    """
    try:
        return real_array(values, label).copy()
    except KronDynamicsError as error:
        raise TrajectoryError(f'{label} is not an array of numbers: {error}') from error


def checked_tolerance(tolerance: ArrayLike, count: int) -> FloatArray:
    """Return tolerances of a start, one for all of n joints or one for each, as (n,).

    Raises:
        TrajectoryError: one is no number, NaN or negative, or they are neither one nor n.
    """
    given = numbers('start_tolerance', tolerance)
    if given.shape not in ((), (count,)):
        raise TrajectoryError(
            f'start_tolerance has shape {given.shape}, expected ({count},) or one number'
        )
    if not np.all(given >= 0.0):
        raise TrajectoryError(
            f'start_tolerance is {given.tolist()}, expected numbers of at least 0'
        )
    return np.broadcast_to(given, (count,))
