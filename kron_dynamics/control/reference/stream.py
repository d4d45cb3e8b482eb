# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Streamed setpoints, received one by one at a high rate: followed within limits."""

from __future__ import annotations

import numpy as np

from kron_dynamics.control.law import JointReference
from kron_dynamics.control.reference.follower import ReferenceFollower
from kron_dynamics.control.reference.joint_stops import JointLimits, JointStops, joint_stops
from kron_dynamics.control.reference.planning import Reference
from kron_dynamics.control.reference.quintic_limits import (
    QUANTITIES,
    beyond_limits,
    quintic_between,
)
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.typing import FloatArray

# Shortest motion to a setpoint, s; used for setpoints to be reached at once.
_SHORTEST = 1e-3
# Number of durations tried between the given and the longest one.
_DURATIONS = 16
# Tolerance at limits of velocity and acceleration.
_ROUNDING = 1.0 + 1e-6
# Tolerance, also relative, at a state that is beyond a limit already: it must not creep farther
# from point to point.
_EXACT = 1e-12
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
    another setpoint each joint decelerates to rest after it. So no setpoint is extrapolated, and
    stopping does not depend on a timer. Positions, velocities and accelerations of both are within
    the limits at every moment, and accelerations have no steps.
    """

    def __init__(self, follower: ReferenceFollower, timeout: float, longest: float = 1.0) -> None:
        """Make a stream without setpoints.

        Args:
            follower: follows the motions to the setpoints.
            timeout: time without a new setpoint after which the machine is stopped, even before it
                has reached the last one, s.
            longest: longest motion to a setpoint that limits delay, s; others are refused. A
                setpoint that is given more time gets it.
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

        The stop replaces a reference that waits for its start. Where a joint cannot stop at once
        within its limits, the machine moves on, at most to the last setpoint and its stop.
        """
        stamp = self._follower.stamp
        if self._last is None or stamp is None or not self.active:
            self._last = None
            return False
        assert self._reference is not None
        if stamp - self._last <= self._timeout:
            return False
        moving = stamp < self._reference.end
        if stamp < self._due:
            present = self._follower.sample(stamp)
            stops = joint_stops(present, self._limits_from(present))
            if not stops.possible:
                return False
            trajectory = Trajectory.from_polynomials(
                self._follower.robot.joint_names, *stops.pieces(), stops.end
            )
            self._follower.splice(trajectory, lasting=True)
        self._last = None
        self.counts.stops += moving
        return moving

    def _trajectory_to(
        self,
        q: FloatArray,
        qd: FloatArray | None,
        qdd: FloatArray | None,
        time_from_start: float,
    ) -> tuple[Trajectory, bool]:
        """Trajectory to a setpoint and to rest, and whether it reaches the setpoint late."""
        now = self._follower.stamp
        if now is None:
            raise TrajectoryError('no joint state has been answered yet')
        if not np.isfinite(time_from_start):
            raise TrajectoryError(f'time_from_start is {time_from_start:g} s, expected a number')
        goal = self._checked(q, qd, qdd)
        start = self._follower.sample(now)
        robot = self._follower.robot
        continuous = np.array(endless(robot.model.joint_types))
        turns = 2.0 * np.pi * continuous * np.rint((start[0] - goal[0]) / (2.0 * np.pi))
        goal = goal[0] + turns, goal[1], goal[2]
        stops = self._stops_after(goal, start[0])
        least = max(time_from_start, _SHORTEST)
        duration, stops = self._reached(start, goal, least, stops)
        goal = _slowed(goal, least / duration)
        way = quintic_between(start, goal, duration)
        times, rest = stops.pieces()
        pieces = np.zeros((len(way), len(times), robot.n))
        pieces[:, :1], pieces[: len(rest), 1:] = way, rest
        trajectory = Trajectory.from_polynomials(
            robot.joint_names, np.concatenate(([0.0], duration + times)), pieces, stops.end
        )
        self._due = now + duration
        return trajectory, time_from_start > 0.0 and duration > least * _LIMITED

    def _checked(
        self, q: FloatArray, qd: FloatArray | None, qdd: FloatArray | None
    ) -> JointReference:
        """The setpoint with all its values, which are of the right number and finite."""
        names, n = self._follower.robot.joint_names, self._follower.robot.n
        zeros = np.zeros(n)
        goal = q, zeros if qd is None else qd, zeros if qdd is None else qdd
        for label, values in zip(('positions', 'velocities', 'accelerations'), goal, strict=True):
            if values.shape != (n,):
                raise TrajectoryError(f'the point has {values.size} {label}, expected {n}')
            if not np.isfinite(values).all():
                k = int((~np.isfinite(values)).argmax())
                raise TrajectoryError(f'{label} of {names[k]!r} is {values[k]:g}')
        return goal

    def _limits(self, q: FloatArray) -> JointLimits:
        """The limits, of positions widened to those of a machine that rests behind a stop."""
        model = self._follower.robot.model
        return JointLimits(
            np.minimum(model.position_lower - _REST, q - _EXACT),
            np.maximum(model.position_upper + _REST, q + _EXACT),
            model.velocity_limit * _ROUNDING,
            self._follower.acceleration_limit * _ROUNDING,
        )

    def _limits_from(self, start: JointReference) -> JointLimits:
        """The limits, all widened to a start beyond them."""
        limits, (_, v, a) = self._limits(start[0]), start
        return JointLimits(
            limits.lower,
            limits.upper,
            np.maximum(limits.velocity, np.abs(v) * (1.0 + _EXACT)),
            np.maximum(limits.acceleration, np.abs(a) * (1.0 + _EXACT)),
        )

    def _stops_after(self, goal: JointReference, q: FloatArray) -> JointStops:
        """The stops after a setpoint in time; refuse it if it or they are outside the limits.

        Args:
            goal: the setpoint.
            q: positions now: the motion may end where it begins.
        """
        limits = self._limits(q)
        stops = joint_stops(goal, limits)
        farthest = np.where(stops.highest > limits.upper, stops.highest, stops.lowest)
        for label, values, bad in (
            ('position', goal[0], (goal[0] < limits.lower) | (goal[0] > limits.upper)),
            ('position it could stop at', farthest, stops.too_far),
            ('velocity', goal[1], np.abs(goal[1]) > limits.velocity),
            ('acceleration', goal[2], np.abs(goal[2]) > limits.acceleration),
        ):
            if bad.any():
                k = int(bad.argmax())
                raise TrajectoryError(
                    f'the {label} of {self._follower.robot.joint_names[k]!r} is '
                    f'{values[k]:.6g}, beyond its limit'
                )
        return stops

    def _reached(
        self, start: JointReference, goal: JointReference, least: float, stops: JointStops
    ) -> tuple[float, JointStops]:
        """Shortest of the tried durations that keeps all limits, also after it, and the stops.

        A later arrival scales the setpoint's velocity down by the same factor.

        Args:
            start: state now.
            goal: setpoint, if it is reached in time.
            least: duration if it is reached in time, s.
            stops: those if it is reached in time.
        """
        limits, after = self._limits_from(start), self._limits(start[0])
        longest = max(least, self._longest)
        # Try the requested time alone first: it usually suffices.
        for durations in (np.array([least]), np.geomspace(least, longest, _DURATIONS)):
            beyond = beyond_limits(start, goal, least, durations, limits)
            for k in np.flatnonzero(~beyond.any(axis=(0, 2))):
                if durations[k] > least:
                    stops = joint_stops(_slowed(goal, least / durations[k]), after)
                if stops.possible:
                    return float(durations[k]), stops
        names = self._follower.robot.joint_names
        said = f'the point cannot be reached in {longest:.3g} s: '
        last = beyond[:, -1]
        if last.any():
            quantity, joint = (int(index[0]) for index in np.nonzero(last))
            raise TrajectoryError(
                f'{said}{names[joint]!r} would leave its {QUANTITIES[quantity]} limit'
            )
        joint = int((stops.too_fast | stops.too_far).argmax())
        raise TrajectoryError(f'{said}{names[joint]!r} could not stop after it within its limits')


def _slowed(goal: JointReference, factor: float) -> JointReference:
    """A state of a motion that is slower by a factor, at most 1."""
    return goal[0], factor * goal[1], factor**2 * goal[2]
