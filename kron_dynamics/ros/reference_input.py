# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""References that come to a node: shaped in the background, so that commands do not wait."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from dataclasses import dataclass

from rclpy.impl.rcutils_logger import RcutilsLogger
from trajectory_msgs.msg import JointTrajectory

from kron_dynamics.control import PlannedReference, Reference, Trajectory, load_solvers
from kron_dynamics.control.tracking import TrackingController
from kron_dynamics.exceptions import KronDynamicsError, TrajectoryError
from kron_dynamics.robot import Robot
from kron_dynamics.ros.conversions import ReferencePoints, reference_points

# Time given to shaping at first, s of the states' clock; where it is too short, for a long motion
# or a clock that runs fast, twice as much.
_LEAD, _LONGEST_LEAD = 0.1, 30.0


@dataclass(frozen=True, slots=True)
class _Request:
    points: ReferencePoints
    start: float
    lead: float


class ReferenceInput:
    """Takes references for a controller. For one thread, which asks for what is ready."""

    def __init__(self, logger: RcutilsLogger, background: Executor) -> None:
        """Make an input that has got nothing yet; references are shaped in the background."""
        self._logger = logger
        self._background = background
        self._solvers: Future[None] | None = None
        self.clear()

    def load_solvers(self) -> None:
        """Import in the background what references need, once; they wait for it, not commands."""
        if self._solvers is None:
            self._solvers = self._background.submit(load_solvers)

    def _solvers_loaded(self) -> bool:
        return self._solvers is None or self._solvers.done()

    def clear(self) -> None:
        """Forget all references, as for another controller."""
        self._refusal: str | None = None
        self._early: tuple[JointTrajectory, Robot | None] | None = None
        self._waiting: _Request | None = None
        self._under_way: tuple[_Request, PlannedReference, Future[Reference]] | None = None

    def drop(self, reason: str) -> None:
        """Refuse what has not been followed yet: it must not move the machine later.

        Args:
            reason: what happened, for the log.
        """
        if any(item is not None for item in (self._early, self._waiting, self._under_way)):
            self._early = self._waiting = self._under_way = None
            self._refused(TrajectoryError(reason))

    def values(self) -> dict[str, str]:
        """Return what was wrong with the last reference, if it was refused, as texts."""
        return {} if self._refusal is None else {'last refused reference': self._refusal}

    def receive(
        self,
        message: JointTrajectory,
        controller: TrackingController | None,
        robot: Robot | None,
        time: float,
    ) -> None:
        """Take a reference, or warn that it is refused.

        Args:
            message: the reference.
            controller: is to follow it, or None.
            robot: the machine, or None.
            time: on the states' clock, s: the start where the message has none.
        """
        try:
            if controller is None or robot is None:
                raise TrajectoryError('the node is not active')
            if not self._solvers_loaded():
                if self._early is not None:
                    self._refused(TrajectoryError('a newer one came before this one was read'))
                self._early = message, robot
                return
            points = reference_points(message, robot.joint_names)
            start = time if points.stamp is None else points.stamp
            if controller.references.shaping is None:
                trajectory = controller.set_reference(
                    points.times,
                    points.positions,
                    points.velocities,
                    points.accelerations,
                    start_time=start,
                )
                self._accepted(trajectory)
                return
        except KronDynamicsError as error:
            self._refused(error)
            return
        if self._waiting is not None:
            self._refused(TrajectoryError('a newer one came before this one was shaped'))
        self._waiting = _Request(points, start, _LEAD)
        self.proceed(controller)

    def take_early(self, controller: TrackingController) -> None:
        """Take the reference that came before what it needs was imported."""
        now = controller.references.now
        if self._early is not None and now is not None and self._solvers_loaded():
            (message, robot), self._early = self._early, None
            self.receive(message, controller, robot, now)

    def proceed(self, controller: TrackingController) -> None:
        """Follow what has been shaped, and have shaped what waits."""
        self.take_early(controller)
        try:
            if self._under_way is not None:
                request, planned, job = self._under_way
                if not job.done():
                    return
                self._under_way = None
                self._follow(controller, request, planned, job.result())
            if self._under_way is None and self._waiting is not None:
                request, self._waiting = self._waiting, None
                self._plan(controller, request)
        except KronDynamicsError as error:
            self._refused(error)

    def _plan(self, controller: TrackingController, request: _Request) -> None:
        if controller.latch.faulted:
            raise TrajectoryError(f'a fault is latched: {controller.latch.reason}')
        points = request.points
        planned = controller.references.plan(
            points.times,
            points.positions,
            points.velocities,
            points.accelerations,
            start_time=request.start,
            lead=request.lead,
        )
        self._under_way = request, planned, self._background.submit(planned.finish)

    def _follow(
        self,
        controller: TrackingController,
        request: _Request,
        planned: PlannedReference,
        reference: Reference,
    ) -> None:
        if controller.latch.faulted:
            raise TrajectoryError(f'a fault is latched: {controller.latch.reason}')
        references = controller.references
        if references.follow(planned, reference):
            self._accepted(reference.followed)
            return
        lead = 2.0 * request.lead
        if lead > _LONGEST_LEAD:
            raise TrajectoryError(
                f'it took longer than {request.lead:g} s to shape it, expected less'
            )
        # That the last plan came to nothing must not count as a start in the past.
        start = planned.start if references.now is None else max(planned.start, references.now)
        self._plan(controller, _Request(request.points, start, lead))

    def _accepted(self, trajectory: Trajectory) -> None:
        self._refusal = None
        self._logger.info(f'following a reference of {trajectory.duration:.3g} s')

    def _refused(self, error: KronDynamicsError) -> None:
        self._refusal = str(error)
        self._logger.warning(f'reference refused: {error}')
