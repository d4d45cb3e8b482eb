# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Streamed setpoints, received one by one at a high rate: followed within limits."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.law import JointReference
from kron_dynamics.control.reference.follower import ReferenceFollower
from kron_dynamics.control.reference.planning import Reference
from kron_dynamics.control.reference.polynomials import derivative_of, quintic_pieces
from kron_dynamics.control.reference.stop import STEEPEST
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.typing import BoolArray, FloatArray

# Shortest motion to a setpoint, s; used for setpoints to be reached at once.
_SHORTEST = 1e-3
# Number of durations tried between the given and the longest one, and samples checked in each.
_DURATIONS, _MOMENTS = 16, 17
_ROUNDING = 1.0 + 1e-6
# A motion counts as limited if it takes longer than requested by this factor.
_LIMITED = 1.0 + 1e-9
# Position tolerance at limits, rad or m: a machine on a stop may measure a position behind it.
_REST = 1e-6


class StreamCounts:
    """Counts of setpoints by outcome.

    Attributes:
        followed: accepted setpoints, including the limited ones.
        limited: setpoints reached later than requested, because of a velocity, acceleration or
            position limit.
        refused: refused setpoints.
        stops: number of stops because no setpoint arrived in time.
    """

    def __init__(self) -> None:
        """Start at 0."""
        self.followed = self.limited = self.refused = self.stops = 0


class ReferenceStream:
    """Follows streamed setpoints; must be used in the follower's thread.

    Each setpoint becomes a quintic from the present reference state, followed by a stop: without
    another setpoint the machine decelerates to rest after it. So no setpoint is extrapolated, and
    stopping does not depend on a timer.
    """

    def __init__(self, follower: ReferenceFollower, timeout: float, longest: float = 1.0) -> None:
        """Make a stream without setpoints.

        Args:
            follower: follows the motions to the setpoints.
            timeout: time without a new setpoint after which the machine is stopped, even before it
                has reached the last one, s.
            longest: longest motion to a setpoint, s; others are refused.
        """
        self._follower = follower
        self._timeout, self._longest = timeout, longest
        self._last: float | None = None
        # Time at which the last setpoint is reached; the stop follows without a new reference.
        self._due = 0.0
        self._reference: Reference | None = None
        self.counts = StreamCounts()

    @property
    def active(self) -> bool:
        """Whether the present reference is from the stream and another setpoint is expected."""
        return self._last is not None and self._follower.present is self._reference

    def take(
        self,
        q: FloatArray,
        qd: FloatArray | None,
        qdd: FloatArray | None,
        time_from_start: float,
    ) -> Reference:
        """Follow a setpoint; return the reference made of it.

        Args:
            q: position, shape (n,), rad or m.
            qd: velocity there, shape (n,); None for rest.
            qdd: acceleration there, shape (n,); None for zero.
            time_from_start: time from the last state to the setpoint, s; 0 for as soon as limits
                allow.

        Raises:
            TrajectoryError: the setpoint is malformed, outside the limits or cannot be reached in
                time, or the control law follows no references.
        """
        try:
            self._follower.check_accepting()
            trajectory, late = self._trajectory_to(q, qd, qdd, time_from_start)
            reference = self._follower.splice(trajectory)
        except TrajectoryError:
            self.counts.refused += 1
            raise
        self.counts.followed += 1
        self.counts.limited += late
        self._reference, self._last = reference, reference.start
        return reference

    def watch(self) -> bool:
        """Stop the machine if no setpoint arrived in time; return whether it was stopped now.

        The stop replaces a reference that waits for its start.
        """
        stamp = self._follower.stamp
        if self._last is None or stamp is None or not self.active:
            self._last = None
            return False
        assert self._reference is not None
        if stamp - self._last <= self._timeout:
            return False
        self._last = None
        moving = stamp < self._reference.end
        if stamp < self._due:
            planned = self._follower.plan_stop()
            self._follower.follow(planned, planned.finish())
        self.counts.stops += moving
        return moving

    def _trajectory_to(
        self,
        q: FloatArray,
        qd: FloatArray | None,
        qdd: FloatArray | None,
        time_from_start: float,
    ) -> tuple[Trajectory, bool]:
        robot, limit = self._follower.robot, self._follower.acceleration_limit
        names, model = robot.joint_names, robot.model
        now = self._follower.stamp
        if now is None:
            raise TrajectoryError('no joint state has been answered yet')
        n, zeros = robot.n, np.zeros(robot.n)
        goal = [zeros if values is None else values for values in (q, qd, qdd)]
        for label, values in zip(('positions', 'velocities', 'accelerations'), goal, strict=True):
            if values.shape != (n,):
                raise TrajectoryError(f'the point has {values.size} {label}, expected {n}')
            if not np.isfinite(values).all():
                k = int((~np.isfinite(values)).argmax())
                raise TrajectoryError(f'{label} of {names[k]!r} is {values[k]:g}')
        start = self._follower.sample(now)
        continuous = np.array(endless(model.joint_types))
        turns = 2.0 * np.pi * continuous * np.rint((start[0] - goal[0]) / (2.0 * np.pi))
        goal[0] = goal[0] + turns
        end, _ = self._stop_from(goal)
        bounds = model.position_lower - _REST, model.position_upper + _REST
        for label, values, bad in (
            ('position', goal[0], _outside(goal[0], *bounds)),
            ('position it could stop at', end, _outside(end, *bounds)),
            ('velocity', goal[1], np.abs(goal[1]) > model.velocity_limit * _ROUNDING),
            ('acceleration', goal[2], np.abs(goal[2]) > limit * _ROUNDING),
        ):
            if bad.any():
                k = int(bad.argmax())
                raise TrajectoryError(
                    f'the {label} of {names[k]!r} is {values[k]:.6g}, beyond its limit'
                )
        least = max(time_from_start, _SHORTEST)
        duration = self._duration((start[0], start[1], start[2]), goal, least)
        slower = least / duration
        goal = [goal[0], slower * goal[1], slower**2 * goal[2]]
        end, stop = self._stop_from(goal)
        times = np.array([0.0, duration, duration + stop])
        states = tuple(
            np.stack(rows) for rows in zip(start, goal, (end, zeros, zeros), strict=True)
        )
        trajectory = Trajectory.from_states(names, times, (states[0], states[1], states[2]))
        self._due = now + duration
        return trajectory, time_from_start > 0.0 and duration > least * _LIMITED

    def _stop_from(self, goal: list[FloatArray]) -> tuple[FloatArray, float]:
        """Position and duration of the stop after a setpoint."""
        q, qd, qdd = goal
        limit = self._follower.acceleration_limit
        time = float(np.max(STEEPEST * np.abs(qd) / limit, initial=_SHORTEST))
        if qdd.any():  # the acceleration adds to the deceleration
            time *= 2.0
        return q + qd * time / 2.0 + qdd * time**2 / 12.0, time

    def _duration(self, start: JointReference, goal: list[FloatArray], least: float) -> float:
        """Shortest of the tried durations that keeps all limits.

        A later arrival scales the setpoint's velocity down by the same factor.
        """
        robot = self._follower.robot
        longest = max(least, self._longest)
        # Try the requested time alone first: it usually suffices.
        for durations in (np.array([least]), np.geomspace(least, longest, _DURATIONS)):
            beyond = self._beyond(start, goal, least, durations)
            bad = np.any([part.any(axis=(1, 2)) for part in beyond.values()], axis=0)
            if not bad.all():
                return float(durations[bad.argmin()])
        what, part = next((what, part) for what, part in beyond.items() if part[-1].any())
        joint = robot.joint_names[int(part[-1].any(axis=0).argmax())]
        raise TrajectoryError(
            f'the point cannot be reached in {longest:.3g} s: {joint!r} would leave its {what} '
            'limit'
        )

    def _beyond(
        self,
        start: JointReference,
        goal: list[FloatArray],
        least: float,
        durations: FloatArray,
    ) -> dict[str, BoolArray]:
        """Masks of limit violations, (D, moments, n), for motions of durations (D,)."""
        robot = self._follower.robot
        sizes = durations[:, np.newaxis]
        (q0, v0, a0), (q1, v1, a1) = start, goal
        # End conditions in normalised time u, 0 to 1, relative to the start: (durations, 5, n).
        ends = np.stack(
            (
                np.broadcast_to(q1 - q0, (len(durations), robot.n)),
                v0 * sizes,
                np.broadcast_to(v1 * least, (len(durations), robot.n)),
                a0 * sizes**2,
                np.broadcast_to(a1 * least**2, (len(durations), robot.n)),
            ),
            axis=1,
        )
        moved, rate, growth = (part @ ends for part in _BASIS)
        h = durations[:, np.newaxis, np.newaxis]
        fastest = np.maximum(robot.model.velocity_limit, np.abs(v0)) * _ROUNDING
        hardest = np.maximum(self._follower.acceleration_limit, np.abs(a0)) * _ROUNDING
        return {
            'velocity': np.abs(rate / h) > fastest,
            'acceleration': np.abs(growth / h**2) > hardest,
            'position': _outside(
                q0 + moved,
                # A machine that rests on a stop may start slightly behind it.
                np.minimum(robot.model.position_lower, q0) - _REST,
                np.maximum(robot.model.position_upper, q0) + _REST,
            ),
        }


def _outside(q: FloatArray, lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Mask of positions, shape (..., n), outside bounds (n,)."""
    outside: BoolArray = (q < lower) | (q > upper)
    return outside


def _quintic_basis(u: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Quintic basis functions at u and their first two derivatives, (U, 5) each.

    Columns: displacement, begin and end rate, begin and end acceleration.
    """
    columns = []
    for k in range(5):
        unit = np.eye(5)[k][np.newaxis]
        begin = (np.zeros((1, 1)), unit[:, [1]], unit[:, [3]])
        end = (unit[:, [0]], unit[:, [2]], unit[:, [4]])
        columns.append(quintic_pieces(np.ones(1), begin, end)[:, 0, 0])
    rows = np.array(columns).T[:, np.newaxis]  # (6, 1, 5)
    powers = u[:, np.newaxis] ** np.arange(6)
    found = []
    for _ in range(3):
        found.append(powers[:, : len(rows)] @ rows[:, 0])
        rows = derivative_of(rows)
    return found[0], found[1], found[2]


_BASIS = _quintic_basis(np.linspace(0.0, 1.0, _MOMENTS))
