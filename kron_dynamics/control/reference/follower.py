# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sequence of references: each one continues its predecessor, with or without shaping."""

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
    still_arriving,
)
from kron_dynamics.control.reference.some_joints import trajectory_from
from kron_dynamics.control.reference.stop import acceleration_limits, shortest_stop
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.control.reference.waypoints import numbers
from kron_dynamics.exceptions import KronDynamicsError, TrajectoryError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray, IndexArray


class ReferenceFollower:
    """The present reference, the waiting one, and past ones whose shaped copies still act.

    Times are on the clock of the states' stamps. Not thread-safe, but planned references may be
    finished in another thread.
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
        """Make a follower without a reference.

        Args:
            robot: the machine.
            start_tolerance: as for `TrackingController`.
            effort_limit: largest efforts of references, shape (n,), N m or N.
            shaping: shaping of all references; None to follow them unshaped.
            accepting: whether the control law follows references; if not, all are refused.
            bounds: bounds of start, duration and acceleration.

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
        self._stopping: Reference | None = None
        self._holds = 0

    @property
    def shaping(self) -> ReferenceShaping | None:
        """Shaping of the references; None if they are followed unshaped."""
        return self._shaping

    @property
    def robot(self) -> Robot:
        """The machine."""
        return self._robot

    @property
    def acceleration_limit(self) -> FloatArray:
        """Acceleration limits of stops and motions to streamed setpoints, (n,), per s^2."""
        return self._acceleration_limit

    def adopt_acceleration_limit(self, limit: FloatArray) -> None:
        """Adopt other acceleration limits, (n,), per s^2: those for another payload."""
        self._acceleration_limit = limit

    @property
    def present(self) -> Reference | None:
        """The reference followed now; None before the first."""
        return self._present

    @property
    def waiting(self) -> Reference | None:
        """The reference that replaces the present one at its start time, or None."""
        return self._next

    @property
    def stopping(self) -> bool:
        """Whether a stop waits for its start: any other reference has to be planned after it."""
        waiting, stamp = self._next, self._stamp
        if waiting is None or stamp is None or waiting is not self._stopping:
            return False
        return waiting.start > stamp

    def drop_waiting(self) -> None:
        """Drop the waiting reference: the present one is followed on."""
        self._next = None

    @property
    def stamp(self) -> float | None:
        """Stamp of the last state for which a command was computed, s; None before the first."""
        return self._stamp

    def answered(self, stamp: float) -> None:
        """Register the stamp of a state, s, for which a command was computed."""
        self._stamp = stamp

    def meet_first_state(self, stamp: float) -> None:
        """Delay references that were planned before the first state and begin before it.

        Args:
            stamp: stamp of the first state, s.

        Raises:
            LateTrajectoryError: one should have begun long before it.
        """
        planned = [*self._past, self._present, self._next]
        starts = [each.start for each in planned if each is not None and each is not self._held]
        late = stamp - min(starts, default=np.inf)
        if late <= 0.0:
            return
        self._bounds.check_start(stamp - late, stamp)

        def delayed(each: Reference | None) -> Reference | None:
            return each if each is None or each is self._held else each.delayed(late)

        self._past = [each.delayed(late) for each in self._past]
        self._present, self._next = delayed(self._present), delayed(self._next)

    @property
    def added_time(self) -> float:
        """Time that shaping added to the duration of the last reference, s."""
        latest = self._next or self._present
        return 0.0 if latest is None else latest.added_time

    def after_end(self, time: float) -> float:
        """Return the time since the end of the present reference, s; negative before it.

        A position held without a requested reference has no end: -inf.

        Raises:
            TrajectoryError: there is no reference.
        """
        present = self._followed()
        if present is self._held:
            return -np.inf
        return time - present.end

    def hold(self, q: FloatArray) -> None:
        """Hold a position, shape (n,), from now on; drop all other references."""
        self._holds += 1
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

    def at_rest(self, time: float) -> bool:
        """Return whether the present reference, which must exist, has ended at a time, s."""
        present = self._followed()
        return time - present.start >= present.followed.duration

    def jerk(self, time: float, ahead: float) -> FloatArray:
        """Return the mean jerk of the reference over a time ahead, (n,), rad/s^3 or m/s^3.

        It is the change of the acceleration divided by the time, so it includes steps; the jerk at
        one instant would be extrapolated beyond them. It is zero if the present reference will be
        replaced by a streamed setpoint.

        Args:
            time: time of the last sample, s.
            ahead: averaging time from then on, s, above 0.

        Raises:
            TrajectoryError: there is no reference.
        """
        present = self._followed()
        if self.at_rest(time) or not present.lasting:
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
        """Plan a reference that continues the present one at its start.

        A first point at time 0 must be near the requested present reference; a later first point
        is approached from it.

        Args:
            times: times of the points after start_time, shape (K,), s.
            positions: shape (K, n), rad or m.
            velocities: shape (K, n), or None.
            accelerations: shape (K, n), or None.
            start_time: start time on the states' clock, s.
            lead: least time from the last state to the start, s, available for finishing the plan.
            joints: joint indices of the columns, shape (m,); None for all joints. The other joints
                stop on their path and hold.

        Raises:
            TrajectoryError: the reference takes too long or starts too late, or the control law
                follows no references.
            LateTrajectoryError: the reference starts in the past.
        """
        self.check_accepting()
        self._bounds.check_duration(float(numbers('times', times).max(initial=0.0)))

        def asked_from(before: Trajectory, at: float) -> Trajectory:
            asked = trajectory_from(
                before.sample(at),
                self._robot.joint_names,
                times,
                (positions, velocities, accelerations),
                joints,
                continuous=self._continuous,
                start_tolerance=self._start_tolerance,
            )
            if joints is None:
                return asked
            return Trajectory.combined(
                asked, self._stop_of(before, at), np.isin(np.arange(self._robot.n), joints)
            )

        return self._planned(asked_from, start_time, lead)

    def check_accepting(self) -> None:
        """Raise TrajectoryError if the control law follows no references."""
        if not self._accepting:
            raise TrajectoryError(
                'the machine is guided by hand: control law "gravity" follows no references'
            )

    def plan_stop(self, lead: float = 0.0, *, shaped: bool = True) -> PlannedReference:
        """Plan the shortest stop on the path of the present requested reference, then hold.

        Finishing it does not fail: a stop that exceeds limits, as a motion at its limits may need
        it, is not refused. If it cannot be shaped, the shaped reference stops on its own path.
        Before the first state nothing has moved: the held position is held on.

        Args:
            lead: time from the last state to the start, s, available for finishing the plan.
            shaped: whether to try to shape it.

        Raises:
            TrajectoryError: there is no reference.
        """
        present, held = self._followed(), self._held
        if self._stamp is None:
            assert held is not None  # every first reference is a held position
            return PlannedReference(held.start, lambda: held, present, self._holds, _is_stop=True)
        return self._planned(self._stop_of, self._stamp, lead, stop=True, shaped=shaped)

    def splice(self, trajectory: Trajectory, *, lasting: bool = False) -> Reference:
        """Follow a trajectory from the last state on; drop the waiting reference.

        Args:
            trajectory: begins in the present reference state and is within the limits.
            lasting: whether it is followed to its end; False if the next one is expected before.

        Raises:
            TrajectoryError: there is no present reference, references are shaped, or the control
                law follows none.
        """
        self.check_accepting()
        self._followed()
        if self._shaping is not None:
            raise TrajectoryError('a reference that is to be shaped cannot begin at once')
        self._present = Reference(self._stamp or 0.0, trajectory, trajectory, lasting)
        self._past, self._next = [], None
        return self._present

    def _stop_of(self, before: Trajectory, at: float) -> Trajectory:
        limits = self._acceleration_limit, self._effort_limit
        return shortest_stop(before, at, self._robot, *limits)

    def _planned(
        self,
        asked_from: Callable[[Trajectory, float], Trajectory],
        start: float,
        lead: float,
        *,
        stop: bool = False,
        shaped: bool = True,
    ) -> PlannedReference:
        self._bounds.check_start(start, self._stamp)
        if self._stamp is not None:
            start = max(start, self._stamp + lead)
        self._promote(start if self._stamp is None else self._stamp)
        present = self._followed()
        if self._shaping is not None and not stop:
            start = self._shaping.start_after(present, start)
        past = still_arriving([*self._past, present], start)

        def finish() -> Reference:
            if not shaped:
                return self._unshaped_stop(start, present)
            asked = asked_from(present.asked, start - present.start)
            try:
                shaping = self._shaping
                followed = shaping.shaped(start, asked, past, present) if shaping else asked
            except KronDynamicsError:
                if not stop:
                    raise
                return self._unshaped_stop(start, present)
            if not stop:
                check_trajectory(
                    followed,
                    self._robot,
                    effort_limit=self._effort_limit,
                    start=present.followed.sample(start - present.start)[0],
                )
            return Reference(start, asked, followed)

        return PlannedReference(start, finish, present, self._holds, stop)

    def follow(self, planned: PlannedReference, reference: Reference) -> bool:
        """Follow a finished reference from its start on, unless the plan is outdated.

        The plan is outdated if its start has passed or another reference is followed than at
        planning time. Otherwise it replaces a waiting reference.

        Args:
            planned: the plan.
            reference: the finished reference of the plan.

        Returns:
            False if the plan is outdated: plan again.

        Raises:
            TrajectoryError: there is no present reference, or the position was held by `hold`
                after planning.
        """
        if planned._holds != self._holds:
            raise TrajectoryError('the machine was stopped after this reference was planned')
        late = self._stamp is not None and self._stamp > planned.start
        if late or self._followed() is not planned._after:
            return False
        self._next = reference
        if planned._is_stop:
            self._stopping = reference
        return True

    def _followed(self) -> Reference:
        if self._present is None:
            raise TrajectoryError('there is no reference: the controller is not active')
        return self._present

    def _promote(self, time: float) -> None:
        """Make the waiting reference the present one if its start time is reached."""
        if self._next is not None and time >= self._next.start:
            self._past = still_arriving([*self._past, self._followed()], self._next.start)
            self._present, self._next = self._next, None

    def _unshaped_stop(self, start: float, present: Reference) -> Reference:
        """The stop of the shaped reference itself."""
        stop = self._stop_of(present.followed, start - present.start)
        return Reference(start, stop, stop)
