# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""References one after the other: each goes on from the one before, shaped or not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kron_dynamics.control.law import JointReference
from kron_dynamics.control.reference.limits import check_trajectory
from kron_dynamics.control.reference.planning import (
    PlannedReference,
    Reference,
    ReferenceBounds,
    ReferenceShaping,
)
from kron_dynamics.control.reference.some_joints import widened
from kron_dynamics.control.reference.stop import acceleration_limits, shortest_stop
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.exceptions import LateTrajectoryError, NonFiniteError, TrajectoryError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray, IndexArray

# A reference stamped "now" by its sender is this late, in s, at most when it gets here; it then
# starts at once. An older one would begin with a jump.
_LATEST_START = 0.5


class ReferenceFollower:
    """The reference followed now, the one that waits for its start, and those still arriving.

    Times are those of the states' stamps. For one thread; what it plans may be finished in
    another.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        start_tolerance: FloatArray,
        effort_limit: FloatArray,
        shaping: ReferenceShaping | None = None,
        accepting: bool = True,
        bounds: ReferenceBounds | None = None,
    ) -> None:
        """Make a follower that follows nothing yet.

        Args:
            robot: the machine.
            start_tolerance: as for `TrackingController`.
            effort_limit: what references may ask for, shape (n,), N m or N.
            shaping: of all references; None to follow them as they are.
            accepting: whether there is a law that follows references; without it all are refused.
            bounds: of start and duration, and how hard to brake.

        Raises:
            ParameterError: an acceleration limit cannot be used.
        """
        self._robot = robot
        self._accepting = accepting
        self._bounds = bounds or ReferenceBounds()
        self._acceleration_limit = acceleration_limits(
            robot, effort_limit, self._bounds.acceleration
        )
        self._start_tolerance = start_tolerance
        self._effort_limit = effort_limit
        self._shaping = shaping
        self._continuous = np.array(endless(robot.model.joint_types))
        self._stamp: float | None = None
        self._past: list[Reference] = []
        self._present: Reference | None = None
        self._held: Reference | None = None
        self._next: Reference | None = None
        self._stops = 0

    @property
    def shaping(self) -> ReferenceShaping | None:
        """How references are shaped; None where they are followed as they are."""
        return self._shaping

    @property
    def robot(self) -> Robot:
        """The machine."""
        return self._robot

    @property
    def acceleration_limit(self) -> FloatArray:
        """Of stops and motions to streamed points, shape (n,), rad/s^2 or m/s^2."""
        return self._acceleration_limit

    @property
    def present(self) -> Reference | None:
        """What is followed now; None before the first."""
        return self._present

    @property
    def waiting(self) -> Reference | None:
        """What replaces it once its start has come, or None."""
        return self._next

    @property
    def stamp(self) -> float | None:
        """Stamp of the last state that was answered, s; None before the first."""
        return self._stamp

    def answered(self, stamp: float) -> None:
        """Note that a state with this stamp, s, was answered: what starts before it is late."""
        self._stamp = stamp

    @property
    def added_time(self) -> float:
        """By how much shaping made the last reference longer, s."""
        latest = self._next or self._present
        return 0.0 if latest is None else latest.added_time

    def after_end(self, time: float) -> float:
        """Return the time since the end of what is followed, s; negative before it.

        A position that is held because nothing was asked for has no end: -inf.

        Raises:
            TrajectoryError: there is no reference.
        """
        present = self._followed()
        if present is self._held:
            return -np.inf
        return time - present.end

    def hold(self, q: FloatArray) -> None:
        """Follow a position, shape (n,), from now on; drop all that was asked for before."""
        self._stops += 1
        trajectory = Trajectory.from_points(self._robot.joint_names, [0.0], [q])
        self._present = self._held = Reference(0.0, trajectory, trajectory)
        self._next = None
        self._past, self._stamp = [], None

    def sample(self, time: float) -> JointReference:
        """Return (q, qd, qdd), each (n,), at a time not before the last.

        Raises:
            TrajectoryError: there is no reference.
        """
        self._promote(time)
        present = self._followed()
        return present.followed.sample(time - present.start)

    def jerk(self, time: float, ahead: float) -> FloatArray:
        """Return the mean third derivative of what will be followed, (n,), rad/s^3 or m/s^3.

        Of the acceleration's whole change, where it leaps too: the derivative at one moment would
        be carried on beyond the leap. Where something else will be followed there is none.

        Args:
            time: that of the last sample, s.
            ahead: over which time from then on, s, above 0.

        Raises:
            TrajectoryError: there is no reference.
        """
        present = self._followed()
        if not present.lasting:
            return np.zeros(self._robot.n)
        until = time + ahead if self._next is None else min(time + ahead, self._next.start)
        now, then = (present.followed.sample(at - present.start)[2] for at in (time, until))
        jerk: FloatArray = (then - now) / ahead
        return jerk

    def plan(
        self,
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None,
        accelerations: ArrayLike | None,
        *,
        start_time: float,
        lead: float = 0.0,
        joints: IndexArray | None = None,
    ) -> PlannedReference:
        """Plan a reference that goes on from the present one at its start.

        A first point at time 0 must be near what was asked for so far, a later one is reached
        from it.

        Args:
            times: of the points after start_time, shape (K,), s.
            positions: shape (K, n), rad or m.
            velocities: shape (K, n), or None.
            accelerations: shape (K, n), or None.
            start_time: on the states' clock, s.
            lead: earliest start after the last state, s: time to finish it.
            joints: the m joints that the columns are of, shape (m,), where they are not all. The
                others stop on their way, and hold.

        Raises:
            TrajectoryError: it takes too long or starts too late, or the control law follows no
                references.
            LateTrajectoryError: it starts in the past.
        """
        self._check_duration(np.asarray(times, np.float64).max(initial=0.0))

        def asked_from(before: Trajectory, at: float) -> Trajectory:
            start = before.sample(at)
            names, tolerance = self._robot.joint_names, self._start_tolerance
            points = positions, velocities, accelerations
            if joints is not None:
                start, points = widened(start, points, joints)
                tolerance = np.full(self._robot.n, np.inf)
                tolerance[joints] = self._start_tolerance[joints]
            asked = Trajectory.from_points(
                names,
                times,
                *points,
                start=start,
                continuous=self._continuous,
                start_tolerance=tolerance,
            )
            if joints is None:
                return asked
            return Trajectory.combined(
                asked, self._stop_of(before, at), np.isin(np.arange(self._robot.n), joints)
            )

        return self._planned(asked_from, start_time, lead)

    def _check_duration(self, end: float) -> None:
        if not self._accepting:
            raise TrajectoryError(
                'the machine is guided by hand: control law "gravity" follows no references'
            )
        if end > self._bounds.duration:
            raise TrajectoryError(
                f'reference takes {end:.6g} s, expected at most {self._bounds.duration:g} s'
            )

    def plan_stop(self, lead: float = 0.0) -> PlannedReference:
        """Plan to stop on the path that is asked for now, as soon as the machine can, and hold.

        Args:
            lead: start after the last state, s: time to finish it.

        Raises:
            TrajectoryError: there is no reference.
        """
        self._followed()
        return self._planned(self._stop_of, self._stamp or 0.0, lead)

    def splice(self, trajectory: Trajectory) -> Reference:
        """Follow a trajectory from the last state on, until the next one; drop what waits.

        Args:
            trajectory: begins in the state followed then, and is within the limits.

        Raises:
            TrajectoryError: there is no reference to go on from, or references are shaped.
        """
        self._followed()
        if self._shaping is not None:
            raise TrajectoryError('a reference that is to be shaped cannot begin at once')
        self._present = Reference(self._stamp or 0.0, trajectory, trajectory, lasting=False)
        self._past, self._next = [], None
        return self._present

    def _stop_of(self, before: Trajectory, at: float) -> Trajectory:
        limits = self._acceleration_limit, self._effort_limit
        return shortest_stop(before, at, self._robot, *limits)

    def _planned(
        self, asked_from: Callable[[Trajectory, float], Trajectory], start: float, lead: float
    ) -> PlannedReference:
        if start != start:
            raise NonFiniteError('reference starts at time NaN')
        if self._stamp is not None:
            late = self._stamp - start
            if late > _LATEST_START:
                raise LateTrajectoryError(
                    f'reference starts {late:.3g} s in the past, expected at most '
                    f'{_LATEST_START:g} s'
                )
            if -late > self._bounds.start_delay:
                raise TrajectoryError(
                    f'reference starts {-late:.6g} s in the future, expected at most '
                    f'{self._bounds.start_delay:g} s'
                )
            start = max(start, self._stamp + lead)
        self._promote(start if self._stamp is None else self._stamp)
        present = self._followed()
        past = self._still_arriving(start)

        def finish() -> Reference:
            asked = asked_from(present.asked, start - present.start)
            return self._finished(start, asked, past, present)

        return PlannedReference(start, finish, present, self._stops)

    def follow(self, planned: PlannedReference, reference: Reference) -> bool:
        """Follow a finished reference from its start on; return whether it still can be.

        Not if that start is over, or the machine follows another reference than when it was
        planned: plan anew. One that waits for its start is replaced.

        Args:
            planned: what was planned.
            reference: what it was finished to.

        Raises:
            TrajectoryError: there is no reference to go on from, or the machine was told to hold
                its position after this one was planned.
        """
        if planned._stops != self._stops:
            raise TrajectoryError('the machine was stopped after this reference was planned')
        late = self._stamp is not None and self._stamp > planned.start
        if late or self._followed() is not planned._after:
            return False
        self._next = reference
        return True

    def _followed(self) -> Reference:
        if self._present is None:
            raise TrajectoryError('there is no reference: the controller is not active')
        return self._present

    def _promote(self, time: float) -> None:
        """Follow the waiting reference once its start has come."""
        if self._next is not None and time >= self._next.start:
            self._past = self._still_arriving(self._next.start)
            self._present, self._next = self._next, None

    def _still_arriving(self, time: float) -> list[Reference]:
        """References followed before a time whose parts may be still to come, in their order."""
        followed = [*self._past, self._followed()]
        # Frequencies vary, so a delay may be longer than that at the end of a motion.
        longest = 2.0 * max(reference.added_time for reference in followed)
        arriving: list[Reference] = []
        until = time
        for reference in reversed(followed):
            if min(until, reference.start + reference.asked.duration) + longest <= time:
                break
            arriving.insert(0, reference)
            until = reference.start
        return arriving

    def _finished(
        self, start: float, asked: Trajectory, past: list[Reference], present: Reference
    ) -> Reference:
        followed = asked
        if self._shaping is not None:
            from kron_dynamics.control.shaping.shape import shape_trajectory  # see load_solvers

            q, qd, qdd = present.followed.sample(start - present.start)
            # The new one may be whole turns of a joint without end away.
            turns = asked.sample(0.0)[0] - present.asked.sample(start - present.start)[0]
            followed = shape_trajectory(
                asked,
                self._shaping.modes_of,
                self._shaping.kind,
                past=[(reference.start - start, reference.asked) for reference in past],
                start=(q + turns, qd, qdd),
            )
        check_trajectory(followed, self._robot, effort_limit=self._effort_limit)
        return Reference(start, asked, followed)
