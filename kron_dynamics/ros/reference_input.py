# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks and shapes references that a node receives, without delaying the commands."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, NamedTuple, Protocol

from rclpy.impl.rcutils_logger import RcutilsLogger
from trajectory_msgs.msg import JointTrajectory

from kron_dynamics.control import PlannedReference, Reference
from kron_dynamics.control.goal_code import GoalCode
from kron_dynamics.control.tracking_controller import TrackingController
from kron_dynamics.exceptions import KronDynamicsError, TrajectoryError
from kron_dynamics.robot import Robot
from kron_dynamics.ros.reference_points import ReferencePoints, reference_points
from kron_dynamics.typing import IndexArray

# Lead times, s on the states' clock: the start of a reference is delayed by the time allotted to
# shaping, to checking and to each of its points. If a job takes longer, as for a long motion or a
# fast clock, the lead is doubled up to the longest one; a stop is then not shaped instead.
_SHAPING, _CHECKING, _PER_POINT, _LONGEST_LEAD = 0.1, 0.05, 1e-4, 30.0
# Up to this number of points, checked in about a millisecond, no background job is needed.
_FEW_POINTS = 50
_NEWER = 'a newer reference replaced it'


class Sender(Protocol):
    """Sender of a reference, which is notified of its fate."""

    def accepted(self, reference: Reference, joints: IndexArray | None) -> None:
        """Handle that the reference is followed from its start on, for some joints or all."""

    def refused(self, error: KronDynamicsError) -> None:
        """Handle that the reference is not followed."""

    def replaced(self, reason: str) -> None:
        """Handle that the reference is not followed any more."""


class _Request(NamedTuple):
    """Requested reference: points, a function that returns them, or None for a stop."""

    sender: Sender
    points: Callable[[], ReferencePoints] | ReferencePoints | None
    start: float
    lead: float
    at_once: bool


# A request, its running job, and the plan that the job finishes (None while points are read).
_Job = tuple[_Request, 'Future[Any]', PlannedReference | None]


class ReferenceInput:
    """Receives references for a controller. Not thread-safe: one thread polls it."""

    def __init__(self, logger: RcutilsLogger, background: Executor) -> None:
        """Make an empty input, which submits long work to the background executor."""
        self._logger = logger
        self._background = background
        self.clear()

    def clear(self) -> None:
        """Discard all references, for a new controller."""
        self._refusal: KronDynamicsError | None = None
        self._waiting: _Request | None = None
        self._under_way: _Job | None = None
        self._followed: Sender | None = None

    def drop(self, reason: str) -> None:
        """Refuse pending references and end the current one, so that none moves the machine.

        Args:
            reason: reason for the log and the senders.
        """
        dropped = [] if self._under_way is None else [self._under_way[0]]
        dropped += [] if self._waiting is None else [self._waiting]
        self._waiting = self._under_way = None
        for request in dropped:
            self._refuse(request, TrajectoryError(reason))
        self.replaced(reason)

    def replaced(self, reason: str) -> None:
        """Notify the sender of the current reference that it is not followed any more."""
        sender, self._followed = self._followed, None
        if sender is not None:
            sender.replaced(reason)

    def withdraw(self, sender: Sender) -> None:
        """Discard the pending references of a sender, and tell it of nothing more."""
        if self._followed is sender:
            self._followed = None
        if self._waiting is not None and self._waiting.sender is sender:
            self._waiting = None
        if self._under_way is not None and self._under_way[0].sender is sender:
            self._under_way = None

    def values(self) -> dict[str, str]:
        """Return why the last reference was refused, if it was, as texts, with its goal code."""
        if self._refusal is None:
            return {}
        code = GoalCode.of_refusal(self._refusal)
        return {'last refused reference': str(self._refusal), 'code of this refusal': code.name}

    def receive(
        self,
        message: JointTrajectory,
        controller: TrackingController | None,
        robot: Robot | None,
        time: float,
        *,
        sender: Sender | None = None,
        partial: bool = False,
    ) -> None:
        """Receive a reference message; its sender is notified if it is refused.

        Args:
            message: the reference.
            controller: controller that is to follow it, or None.
            robot: the machine, or None.
            time: current time on the states' clock, s: the start if the message has none.
            sender: sender of the reference; None for a topic.
            partial: whether it may be for some of the joints.
        """
        names = () if robot is None else robot.joint_names
        self.submit(
            lambda: reference_points(message, names, partial),
            len(message.points),
            controller,
            time,
            sender or TopicSender(self._logger),
        )

    def submit(
        self,
        points: Callable[[], ReferencePoints],
        count: int,
        controller: TrackingController | None,
        time: float,
        sender: Sender,
    ) -> None:
        """Receive a reference; its sender is notified if it is refused.

        Args:
            points: function that returns the points, called in any thread.
            count: approximate number of points.
            controller: controller that is to follow it, or None.
            time: current time on the states' clock, s: the start if the points have none.
            sender: sender of the reference.
        """
        at_once, lead = count <= _FEW_POINTS, _CHECKING + _PER_POINT * count
        if controller is not None and controller.references.shaping is not None:
            at_once, lead = False, lead + _SHAPING
        request = _Request(sender, points, time, 0.0 if at_once else lead, at_once)
        if controller is not None and count <= _FEW_POINTS:
            try:
                request = self._read(controller, request, points())
            except KronDynamicsError as error:
                self._refuse(request, error)
                return
        self._take(request, controller)

    def stop(self, controller: TrackingController, sender: Sender) -> None:
        """Stop the machine on its path as soon as possible; pending references are refused.

        Only a fault, which stops the machine itself, refuses a stop.
        """
        for request in (self._waiting, self._under_way and self._under_way[0]):
            if request is not None:
                self._refuse(request, TrajectoryError('the machine was told to stop'))
        self._waiting = self._under_way = None
        at_once = controller.references.shaping is None
        lead = 0.0 if at_once else _SHAPING
        self._take(_Request(sender, None, 0.0, lead, at_once), controller)

    def _take(self, request: _Request, controller: TrackingController | None) -> None:
        if controller is None:
            self._refuse(request, TrajectoryError('the node is not active'))
            return
        if self._waiting is not None:
            self._refuse(
                self._waiting, TrajectoryError('a newer one came before this one was checked')
            )
        self._waiting = request
        self.proceed(controller)

    def proceed(self, controller: TrackingController) -> None:
        """Follow the reference whose job is done, and start the job of a waiting one."""
        while True:
            if self._under_way is not None:
                request, work, planned = self._under_way
                job: Future[Any] | None = work
                if self._is_too_late(controller, request, planned, work):
                    request, job, planned = request._replace(at_once=True, lead=0.0), None, None
                elif not work.done():
                    return
                self._under_way = None
            elif self._waiting is not None and (
                # Without a state answered it waits, and after a stop until that has begun; in a
                # fault it is refused, not kept for later.
                controller.latch.faulted
                or (controller.references.stamp is not None and not controller.references.stopping)
            ):
                request, self._waiting = self._waiting, None
                job, planned = None, None
            else:
                return
            try:
                if controller.latch.faulted:
                    raise TrajectoryError(f'a fault is latched: {controller.latch.reason}')
                self._next_step(controller, request, job, planned)
            except KronDynamicsError as error:
                self._refuse(request, error)

    @staticmethod
    def _is_too_late(
        controller: TrackingController,
        request: _Request,
        planned: PlannedReference | None,
        job: Future[Any],
    ) -> bool:
        """Whether a stop that is still being shaped should have begun: then it is unshaped."""
        stamp = controller.references.stamp
        if request.points is not None or request.at_once or planned is None or stamp is None:
            return False
        return stamp > planned.start or (stamp == planned.start and not job.done())

    def _next_step(
        self,
        controller: TrackingController,
        request: _Request,
        job: Future[Any] | None,
        planned: PlannedReference | None,
    ) -> None:
        if job is None and callable(request.points):
            self._under_way = request, self._done(request.points, request), None
            return
        if job is not None and planned is not None:
            self._follow(controller, request, planned, job.result())
            return
        if job is not None:
            request = self._read(controller, request, job.result())
        self._plan(controller, request)

    @staticmethod
    def _read(
        controller: TrackingController, request: _Request, points: ReferencePoints
    ) -> _Request:
        start = points.stamp
        if start is None:
            # Reading took time, so the start must not be in the past.
            stamp = controller.references.stamp
            start = request.start if stamp is None else max(request.start, stamp)
        return request._replace(points=points, start=start)

    def _plan(self, controller: TrackingController, request: _Request) -> None:
        points, references = request.points, controller.references
        if isinstance(points, ReferencePoints):
            planned = references.plan(
                points.times,
                points.positions,
                points.velocities,
                points.accelerations,
                start_time=request.start,
                lead=request.lead,
                joints=points.joints,
            )
        else:
            planned = references.plan_stop(request.lead, shaped=not request.at_once)
        self._under_way = request, self._done(planned.finish, request), planned

    def _done(self, work: Callable[[], Any], request: _Request) -> Future[Any]:
        """Return the future of some work, which is already finished for short work."""
        if not request.at_once:
            return self._background.submit(work)
        future: Future[Any] = Future()
        try:
            future.set_result(work())
        except KronDynamicsError as error:
            future.set_exception(error)
        return future

    def _follow(
        self,
        controller: TrackingController,
        request: _Request,
        planned: PlannedReference,
        reference: Reference,
    ) -> None:
        references = controller.references
        if references.follow(planned, reference):
            self._accept(request, reference)
            return
        lead = 2.0 * max(request.lead, _CHECKING)
        if lead > _LONGEST_LEAD:
            raise TrajectoryError(
                f'it took longer than {request.lead:g} s to check it, expected less'
            )
        # The failed plan took time, so the start must not be in the past.
        stamp = references.stamp
        start = planned.start if stamp is None else max(planned.start, stamp)
        self._plan(controller, request._replace(start=start, lead=lead))

    def _accept(self, request: _Request, reference: Reference) -> None:
        if self._followed is not request.sender:
            self.replaced(_NEWER)
        self._followed = request.sender
        self._refusal = None
        points = request.points
        joints = points.joints if isinstance(points, ReferencePoints) else None
        request.sender.accepted(reference, joints)

    def _refuse(self, request: _Request, error: KronDynamicsError) -> None:
        self._refusal = error
        request.sender.refused(error)


class TopicSender:
    """Sender of references from a topic: their fate is logged."""

    def __init__(self, logger: RcutilsLogger) -> None:
        """Make a sender that writes to a logger."""
        self._logger = logger

    def accepted(self, reference: Reference, joints: IndexArray | None) -> None:
        """Log the accepted reference."""
        self._logger.info(f'following a reference of {reference.followed.duration:.3g} s')

    def refused(self, error: KronDynamicsError) -> None:
        """Log the reason."""
        self._logger.warning(f'reference refused: {error}')

    def replaced(self, reason: str) -> None:
        """Do nothing: what replaces it is logged."""
