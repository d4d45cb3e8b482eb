# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Velocity and acceleration of a reference composed of successive trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

# Steps that count as rounding: relative to the largest rate, plus an absolute tolerance, which is
# the speed that counts as rest, rad or m, per s or s^2.
_STEP = 1e-6
_REST = 1e-7
# Times nearer than this are identical up to rounding, s.
_SAME = 1e-9
# Quintic positions have quartic velocities: 5 coefficients.
_ORDER = 5


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceRates:
    """Piecewise polynomial rates of n joints at any time; zero before and after the motion.

    Attributes:
        velocity: velocities (K, n) as a function of times (K,).
        acceleration: accelerations (K, n) as a function of times (K,).
        knots: times at which pieces meet, from the start to the end of the motion, s.
        starts_moving: whether the motion begins with a velocity.
        smooth: whether the acceleration is continuous.
    """

    velocity: PPoly
    acceleration: PPoly
    knots: FloatArray
    starts_moving: bool
    smooth: bool

    @classmethod
    def of(cls, segments: Sequence[tuple[float, Trajectory]]) -> ReferenceRates:
        """Return the rates of trajectories, each followed until the next one starts.

        Args:
            segments: (start, trajectory), starts in s, ascending.

        Raises:
            TrajectoryError: the starts do not ascend, the joints differ, or the velocity steps
                from one to the next.
        """
        from scipy.interpolate import PPoly  # takes long to import

        starts = [start for start, _ in segments]
        if not np.isfinite(starts).all() or np.any(np.diff(starts) <= 0.0):
            raise TrajectoryError(
                f'past starts at {starts[:-1]} s, expected negative times that ascend'
            )
        names = segments[-1][1].joint_names
        for _, trajectory in segments:
            if trajectory.joint_names != names:
                raise TrajectoryError(
                    f'past moves the joints {trajectory.joint_names}, expected {names}'
                )
        rest = np.zeros((_ORDER, len(names)))
        breaks, coefficients = [starts[0] - 1.0], [rest]
        end = starts[0]
        for (start, trajectory), until in zip(segments, [*starts[1:], inf], strict=True):
            for begin, finish, piece in _pieces(start, trajectory, until):
                if begin > end + _SAME:  # at rest between two segments, or before the first point
                    breaks.append(end)
                    coefficients.append(rest)
                breaks.append(begin)
                coefficients.append(piece)
                end = finish
        finish = starts[-1] + segments[-1][1].duration
        if finish > end + _SAME:  # a hold
            breaks.append(end)
            coefficients.append(rest)
            end = finish
        breaks += [end, end + 1.0]
        coefficients.append(rest)
        velocity = PPoly(np.stack(coefficients, axis=1), breaks)
        acceleration = velocity.derivative()
        steps = _steps(velocity)
        starts_moving = bool(np.any(steps[0] > 0.0))
        if np.any(steps[1:] > 0.0):
            knot, joint = np.unravel_index(steps[1:].argmax(), steps[1:].shape)
            raise TrajectoryError(
                f'the velocity of {names[joint]!r} steps at {velocity.x[knot + 2]:.4g} s, '
                'expected a trajectory that goes on from the unshaped one before'
            )
        return cls(
            velocity,
            acceleration,
            velocity.x[1:-1],
            starts_moving,
            # `shape_trajectory` accepts a moving start only if all its parts have arrived.
            bool(np.all(_steps(acceleration)[int(starts_moving) :] <= 0.0)),
        )

    @property
    def resting(self) -> bool:
        """Whether the velocity is zero at all times."""
        return not self._moves.any()

    @property
    def _moves(self) -> BoolArray:
        """Whether any joint moves in each piece of the velocity, shape (p,)."""
        return np.asarray(self.velocity.c.any(axis=(0, 2)))

    def between_rests(self, least: float) -> list[ReferenceRates]:
        """Return the motions between the rests from time 0 on that last long, in their order.

        A rest before the first motion belongs to it, and one behind the last motion to that.

        Args:
            least: duration of a long rest, s.
        """
        breaks, moves = self.velocity.x, self._moves
        moving = np.flatnonzero(moves)
        first, found = 1, list[ReferenceRates]()
        for piece in range(moving[0] + 1, moving[-1]):
            begin, end = breaks[piece : piece + 2]
            if not moves[piece] and begin >= 0.0 and end - begin >= least:
                found.append(self._part(first, piece))
                first = piece + 1
        return [*found, self._part(first, len(moves) - 1)]

    def _part(self, first: int, stop: int) -> ReferenceRates:
        """Return the motion of some pieces, with a rest before and after."""
        from scipy.interpolate import PPoly  # takes long to import

        breaks = self.velocity.x[first : stop + 1]
        coefficients = np.pad(self.velocity.c[:, first:stop], ((0, 0), (1, 1), (0, 0)))
        velocity = PPoly(coefficients, [breaks[0] - 1.0, *breaks, breaks[-1] + 1.0])
        starts_moving = self.starts_moving and first == 1
        return ReferenceRates(velocity, velocity.derivative(), breaks, starts_moving, self.smooth)

    @property
    def shortest_moving_piece(self) -> float:
        """Duration of the shortest piece in which a joint moves, s; infinite without one."""
        return float(np.diff(self.velocity.x)[self._moves].min(initial=inf))


def _pieces(
    start: float, trajectory: Trajectory, until: float
) -> list[tuple[float, float, FloatArray]]:
    """Start, end and coefficients (order, n) of each piece of the velocity before `until`."""
    times, _, qd, _ = trajectory.grid(_ORDER)
    ends = times.reshape(-1, _ORDER)[:, [0, -1]]
    powers = np.vander(np.linspace(0.0, 1.0, _ORDER))
    scale = np.diff(ends)[..., np.newaxis] ** np.arange(_ORDER - 1, -1, -1)[:, np.newaxis]
    coefficients = np.linalg.solve(powers, qd.reshape(len(ends), _ORDER, -1)) / scale
    return [
        (start + begin, min(start + end, until), piece)
        for (begin, end), piece in zip(ends, coefficients, strict=True)
        # Excludes the piece of a hold, which begins at the end of its trajectory.
        if start + begin < until - _SAME and begin < trajectory.duration
    ]


def _steps(rates: PPoly) -> FloatArray:
    """Steps of each joint's rate at the inner breaks, minus the rounding tolerance, (K, n)."""
    size = np.diff(rates.x)[:-1, np.newaxis]
    before, bound = np.zeros_like(rates.c[0, 1:]), np.zeros_like(rates.c[0, 1:])
    for coefficient in rates.c[:, :-1]:
        before = before * size + coefficient
        bound = bound * size + np.abs(coefficient)
    steps: FloatArray = np.abs(rates.c[-1, 1:] - before) - _STEP * bound.max(axis=0) - _REST
    return steps
