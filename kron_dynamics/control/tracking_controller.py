# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Controller of a node: tracks references, checks each command and latches faults."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.control.command_guard import CommandGuard
from kron_dynamics.control.effort_lead import EffortLead
from kron_dynamics.control.fault_latch import FaultAction, FaultLatch
from kron_dynamics.control.gravity_hold import GravityHold
from kron_dynamics.control.law import ControlLaw, JointReference, LawState
from kron_dynamics.control.reference.follower import ReferenceFollower
from kron_dynamics.control.reference.planning import ReferenceBounds, ReferenceShaping
from kron_dynamics.control.reference.trajectory import Trajectory
from kron_dynamics.control.sample_period import SamplePeriod
from kron_dynamics.control.supervision.state_gate import impossible
from kron_dynamics.control.supervision.tolerances import TrackingTolerances
from kron_dynamics.control.supervision.tracking_errors import TrackingErrors
from kron_dynamics.control.terms import EffortTerms
from kron_dynamics.exceptions import KronDynamicsError, TrajectoryError
from kron_dynamics.model.joint_kinds import endless
from kron_dynamics.robot import Robot
from kron_dynamics.typing import ArrayLike, FloatArray


class Command(NamedTuple):
    """Efforts to send and the reference they track; arrays of shape (n,).

    Deflection: estimated modal coordinates and their rates, shape (n_m,) each; None without an
    estimate.
    """

    effort: FloatArray
    q_ref: FloatArray
    qd_ref: FloatArray
    qdd_ref: FloatArray
    deflection: tuple[FloatArray, FloatArray] | None = None


class TrackingController:
    """Tracks references with a control law, within limits; a fault triggers the fault action.

    Two clocks: `time` is the clock of state stamps and references, `now` is a steady clock.
    """

    def __init__(
        self,
        robot: Robot,
        law: ControlLaw[Any],
        hold: GravityHold | None,
        guard: CommandGuard,
        *,
        fault_action: FaultAction,
        start_tolerance: FloatArray,
        effort_limit: FloatArray,
        longest_gap: float,
        period: float,
        shaping: ReferenceShaping | None = None,
        tolerances: TrackingTolerances | None = None,
        terms: EffortTerms | None = None,
        bounds: ReferenceBounds | None = None,
        lead: EffortLead | None = None,
    ) -> None:
        """Make an idle controller.

        Args:
            robot: the machine.
            law: the control law.
            hold: law of `FaultAction.HOLD_GRAVITY`; None for another fault action.
            guard: limits every command.
            fault_action: action while a fault is latched.
            start_tolerance: allowed distance between the present reference and a new one that
                begins at once, shape (n,), rad or m, and per s.
            effort_limit: largest efforts of references, shape (n,), N m or N.
            longest_gap: largest allowed difference, in s, between the stamps of two states. The
                reference is sampled at the stamps, so it would jump with a clock set forward.
            period: nominal time between states, used until it has been measured, s.
            shaping: shaping of all references; None to follow them unshaped.
            tolerances: tolerances of the tracking error, violations are faults; None for no check.
            terms: model terms that the drives add to commands; None for none.
            bounds: bounds of the start and duration of references, and of braking.
            lead: effort lead, added to the efforts of the law; None for none.
        """
        self._robot = robot
        self._terms = EffortTerms() if terms is None else terms
        self._law = law
        self._hold = hold
        self._lead = lead
        self._guard = guard
        self._fault_action = fault_action
        self._longest_gap = longest_gap
        self._references = ReferenceFollower(
            robot,
            start_tolerance=start_tolerance,
            effort_limit=effort_limit,
            shaping=shaping,
            accepting=law.follows_references,
            bounds=bounds,
        )
        self._law_state = LawState()
        self._last_q: FloatArray | None = None
        self._period = SamplePeriod(period, longest=longest_gap)
        self.latch = FaultLatch()
        self._errors: TrackingErrors | None = None
        if tolerances is not None:
            continuous = endless(robot.model.joint_types)
            self._errors = TrackingErrors(robot.joint_names, continuous, tolerances)

    @property
    def errors(self) -> TrackingErrors | None:
        """The monitor of the tracking error; None if it is not checked."""
        return self._errors

    @property
    def guard(self) -> CommandGuard:
        """The guard with its saturation counts."""
        return self._guard

    @property
    def hold(self) -> GravityHold | None:
        """The law of the fault action `hold_gravity`; None for another fault action."""
        return self._hold

    @property
    def longest_brake(self) -> float:
        """Longest hold time of a fault effort computed from a state, s; 0 for no limit."""
        return 0.0 if self._hold is None else self._hold.longest_brake

    @property
    def period(self) -> float:
        """Measured time between states, s."""
        return self._period.value

    @property
    def law(self) -> ControlLaw[Any]:
        """The control law."""
        return self._law

    @property
    def law_state(self) -> LawState:
        """The internal state of the control law in this run."""
        return self._law_state

    @property
    def references(self) -> ReferenceFollower:
        """Present and waiting references, for callers that cannot wait for `set_reference`."""
        return self._references

    def start(self, q: FloatArray, effort: FloatArray) -> None:
        """Hold the measured position from now on, starting with the present efforts.

        Args:
            q: measured positions, shape (n,), rad or m, finite.
            effort: measured efforts, shape (n,), N m or N, including the drives' own terms; values
                that are not finite are replaced by the gravity effort.

        Raises:
            ModelError: the flexible links have no stable equilibrium under gravity at q.
        """
        state = self._law.start(q)  # raises before anything is changed
        gravity = self._robot.gravity_vector(q)
        carried = np.where(np.isfinite(effort), effort, gravity)
        self._guard.reset(carried - self._terms.drive_effort(self._robot, q, np.zeros_like(q)))
        self._law_state = state
        if self._errors is not None:
            self._errors.reset()
        self._references.hold(q)
        self._last_q = np.array(q)

    def reference_at(self, time: float) -> JointReference:
        """Return the reference (q, qd, qdd), each of shape (n,), at a time not before the last.

        Raises:
            TrajectoryError: the controller has not been started.
        """
        return self._references.sample(time)

    def set_reference(
        self,
        times: ArrayLike,
        positions: ArrayLike,
        velocities: ArrayLike | None,
        accelerations: ArrayLike | None,
        *,
        start_time: float,
    ) -> Trajectory:
        """Accept a new reference if the machine can follow it; return the trajectory followed.

        The new reference continues the present one: a first point at time 0 must be near it, a
        later first point is approached from it. A reference that starts in the future replaces
        one that waits for its start; until then the present one is followed. With shaping, the
        first point must be near the requested, not near the shaped present reference. Before the
        first state the clock is unknown: a reference that begins up to 0.5 s before it is delayed,
        an older one is a fault of that state. Shaping takes tens of milliseconds, and seconds for
        long or dense references: a control loop plans with `references` instead.

        Args:
            times: times of the points after start_time, shape (K,), s.
            positions: shape (K, n), rad or m.
            velocities: shape (K, n), or None.
            accelerations: shape (K, n), or None.
            start_time: start time on the states' clock, s.

        Raises:
            TrajectoryError: the reference is malformed, outside the limits, away from the present
                reference or in the past, or a fault is latched. The present reference is kept.
        """
        if self.latch.faulted:
            raise TrajectoryError(f'a fault is latched: {self.latch.reason}')
        planned = self._references.plan(
            times, positions, velocities, accelerations, start_time=start_time
        )
        reference = planned.finish()
        self._references.follow(planned, reference)
        return reference.followed

    def update(self, q: FloatArray, qd: FloatArray, time: float, now: float) -> Command | None:
        """Return the command for a measured state, or None if the state caused a fault.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            time: stamp of the state, s.
            now: steady time, s.
        """
        self._period.note(time)
        last = self._references.stamp
        elapsed = 0.0 if last is None else max(time - last, 0.0)
        if (problem := self._clock_problem(time, elapsed)) is not None:
            self.latch.trip(problem, now)
            return None
        if self._law.follows_references:
            reference = self.reference_at(time)
            if self._errors is not None:
                after_end = self._references.after_end(time)
                problem = self._errors.check(q, qd, reference, time, after_end)
        else:
            rest = np.zeros_like(q)
            reference = np.array(q), rest, rest
        if problem is not None:
            self.latch.trip(problem, now)
            return None
        state, guard = self._law_state, self._guard
        try:
            effort = self._law(q, qd, reference, state, elapsed)
            ahead = self._ahead(reference, time)
            wanted = effort if ahead is None else effort + ahead
            # A publisher of other joints may send the same stamp, or an older one.
            effort = guard.apply(wanted, elapsed) if elapsed > 0.0 else guard.replace(wanted)
            # Without the lead: the law would take it for saturation.
            state.set_applied_effort(effort if ahead is None else effort - ahead)
        except KronDynamicsError as error:  # any error of the law is a fault
            self.latch.trip(str(error), now)
            return None
        self._references.answered(time)
        self._last_q = np.array(q)
        return Command(effort, *reference, state.deflection)

    def _clock_problem(self, time: float, elapsed: float) -> str | None:
        """Why the reference would jump in this state because of its stamp; None if it does not."""
        if elapsed > self._longest_gap:
            return (
                f'stamps of the states jumped ahead by {elapsed:.3g} s, expected at most '
                f'{self._longest_gap:.3g} s'
            )
        if self._references.stamp is None:
            try:
                self._references.meet_first_state(time)
            except TrajectoryError as error:
                return str(error)
        return None

    def _ahead(self, reference: JointReference, time: float) -> FloatArray | None:
        """Efforts of the lead, shape (n,); None without a lead, and for a reference at rest."""
        if self._lead is None or self._references.at_rest(time):
            return None
        return self._lead.effort(reference, self._references.jerk(time, self._lead.time))

    def fault_effort(
        self, q: FloatArray, qd: FloatArray, time: float, elapsed: float, age: float = 0.0
    ) -> FloatArray | None:
        """Return the efforts for a state while a fault is latched, or None to send no command.

        Args:
            q: measured positions, shape (n,), rad or m.
            qd: measured velocities, shape (n,).
            time: stamp of the state, s.
            elapsed: steady time since the last command, s.
            age: age of the oldest value of the state, s; publishers may split the joints.

        Returns:
            shape (n,), N m or N.
        """
        self._period.note(time)
        if self._hold is None or self._last_q is None or not self._is_plausible(q, qd):
            return self.fault_effort_without_state(elapsed)
        allowed = self._guard.allowed(elapsed)
        with np.errstate(over='ignore', invalid='ignore'):  # the result is checked below
            effort = self._hold.effort(q, qd, self.period + age, *allowed)
        if not np.isfinite(effort).all():
            return self.fault_effort_without_state(elapsed)
        self._last_q = np.array(q)
        return self._guard.apply(effort, elapsed)

    def _is_plausible(self, q: FloatArray, qd: FloatArray) -> bool:
        """Whether a state is physically possible: a wrong state may be the cause of the fault."""
        far, absurd = impossible(self._robot.model, q, qd)
        return bool(np.isfinite(q).all() and np.isfinite(qd).all() and not (far | absurd).any())

    def fault_effort_without_state(self, elapsed: float) -> FloatArray | None:
        """Return the efforts to send while a fault is latched and no fresh state is available.

        Old velocities are not used: damping held too long accelerates the machine backwards.

        Args:
            elapsed: steady time since the last command, s.

        Returns:
            shape (n,), N m or N; None to send no command.
        """
        effort = self._resting_effort(self._last_q)
        return None if effort is None else self._guard.apply(effort, elapsed)

    def _resting_effort(self, q: FloatArray | None) -> FloatArray | None:
        """Efforts of the fault action at rest at q, shape (n,); None to send no command."""
        if self._fault_action is FaultAction.STOP_PUBLISHING or q is None:
            return None
        if self._fault_action is FaultAction.ZERO:
            return np.zeros(self._robot.n)
        return self._terms.weight(self._robot, q)

    def last_effort(self, q: FloatArray) -> FloatArray | None:
        """Return the final efforts before shutdown, shape (n,), or None to send no command.

        They are held until another controller takes over. So they are the efforts of the fault
        action at rest, without rate limit and without damping, which would never end.

        Args:
            q: measured positions, shape (n,), rad or m; NaN where not fresh.
        """
        if self._last_q is None:
            return None
        known = np.isfinite(q).all() and self._is_plausible(q, np.zeros(len(q)))
        effort = self._resting_effort(q if known else self._last_q)
        if effort is None:
            return None
        self._guard.reset(effort)
        return self._guard.apply(effort, 0.0)

    def clear(self, still_bad: str | None, q: FloatArray, effort: FloatArray) -> bool:
        """Clear the fault and hold the measured position; return False if its cause persists.

        Args:
            still_bad: what is wrong at this moment, or None.
            q: measured positions, shape (n,).
            effort: measured efforts, shape (n,).

        Raises:
            ModelError: the controller cannot start at q, see `start`; the fault stays latched.
        """
        if still_bad is None:
            self.start(q, effort)
        return self.latch.clear(still_bad)
