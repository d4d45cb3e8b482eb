# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The node's services: batches of states in, batches of model quantities out."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from kron_dynamics_msgs.srv import (
    EquationsOfMotion,
    ForwardDynamics,
    FrameKinematics,
    InverseDynamics,
    Linearize,
)
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from kron_dynamics.control import reorder
from kron_dynamics.equilibrium import quasi_static_equilibrium
from kron_dynamics.exceptions import KronDynamicsError, NonFiniteError, ShapeError
from kron_dynamics.frame import RelativeFrame, RobotFrame
from kron_dynamics.robot import Robot
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.conversions import accel, pose, twist
from kron_dynamics.ros.linearized_output import model_message
from kron_dynamics.typing import FloatArray

_MOTION = ('position', 'velocity', 'acceleration')


class _Batch:
    """The states of a request in the robot's order, and the way back to the request's."""

    def __init__(self, coordinates: Sequence[str], joint_names: Sequence[str]) -> None:
        self.names = list(joint_names) or list(coordinates)
        self._to_model = reorder(self.names, coordinates)
        self.to_request = np.argsort(self._to_model)
        self._n = len(coordinates)
        self.count: int | None = None

    def states(self, field: str, values: Sequence[float]) -> FloatArray:
        """Return one field of the request, shape (N, n), robot order."""
        table = np.asarray(values, dtype=np.float64)
        count = self.count if self.count is not None else max(1, table.size // self._n)
        if table.size != count * self._n:
            raise ShapeError(
                f'{field} has {table.size} numbers, expected {count} x {self._n} (states x joints)'
            )
        if not np.isfinite(table).all():
            raise NonFiniteError(f'{field} holds a NaN or an infinity')
        self.count = count
        return table.reshape(count, self._n)[:, self._to_model]

    def optional(self, field: str, values: Sequence[float]) -> FloatArray | None:
        """Return one field, or None where the request leaves it empty."""
        return self.states(field, values) if len(values) else None

    def flat(self, values: FloatArray, *axes: int) -> array[float]:
        """Return results row-major in the request's joint order.

        Args:
            values: shape (N, ...), robot order.
            axes: the axes that run over joints; one of length n*n holds pairs of joints.
        """
        for axis in axes:
            order = self.to_request
            if values.shape[axis] == self._n**2 and self._n > 1:
                order = (order[:, None] * self._n + order).ravel()
            values = values.take(order, axis=axis)
        return array('d', np.ascontiguousarray(values).tobytes())


def provide_services(node: Node, configured: Callable[[], ConfiguredRobot | None]) -> None:
    """Offer inverse_dynamics, forward_dynamics, equations_of_motion, frame_kinematics, linearize.

    Requests are worked on in a thread of their own: a large batch, or a kernel that has to be
    compiled first, does not delay the commands, which the executor's thread computes.

    Args:
        node: offers them under its own name.
        configured: what the node is about, or None as long as it is not configured.
    """
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix='services')

    def answering(
        compute: Callable[[ConfiguredRobot, Any, Any], None],
    ) -> Callable[[Any, Any], Any]:
        def answer(request: Any, response: Any) -> Any:
            present = configured()
            if present is None:
                response.message = 'the node is not configured'
                return response
            try:
                compute(present, request, response)
                response.success = True
                return response
            except KronDynamicsError as error:
                return type(response)(success=False, message=str(error))

        async def callback(request: Any, response: Any) -> Any:
            finished: Future[None] = Future(executor=node.executor)
            job = worker.submit(answer, request, response)
            job.add_done_callback(lambda _: _finish(node, finished))
            await finished
            return job.result()

        return callback

    for kind, name, compute in (
        (InverseDynamics, '~/inverse_dynamics', _inverse_dynamics),
        (ForwardDynamics, '~/forward_dynamics', _forward_dynamics),
        (EquationsOfMotion, '~/equations_of_motion', _equations_of_motion),
        (FrameKinematics, '~/frame_kinematics', _frame_kinematics),
        (Linearize, '~/linearize', _linearize),
    ):
        # Not the group of the joint states: a request under way must not hold them up.
        group = ReentrantCallbackGroup()
        node.create_service(kind, name, answering(compute), callback_group=group)


def _finish(node: Node, finished: Future[None]) -> None:
    """Tell the executor that a worker is done; it may be asleep."""
    finished.set_result(None)
    if node.executor is not None:
        node.executor.wake()


def _inverse_dynamics(present: ConfiguredRobot, request: Any, response: Any) -> None:
    robot = present.robot
    batch = _Batch(robot.joint_names, request.joint_names)
    q = batch.states('position', request.position)
    qd = batch.states('velocity', request.velocity)
    qdd = batch.states('acceleration', request.acceleration)
    effort = robot.inverse_dynamics(q, qd, qdd)
    if request.include_friction:
        effort += robot.joint_friction(qd)
    response.joint_names, response.effort = batch.names, batch.flat(effort, 1)


def _forward_dynamics(present: ConfiguredRobot, request: Any, response: Any) -> None:
    robot = present.robot
    batch = _Batch(robot.joint_names, request.joint_names)
    q = batch.states('position', request.position)
    qd = batch.states('velocity', request.velocity)
    effort = batch.states('effort', request.effort)
    if request.include_friction:
        effort = effort - robot.joint_friction(qd)
    acceleration = robot.forward_dynamics(q, qd, effort)
    if not np.isfinite(acceleration).all():
        raise NonFiniteError('the mass matrix is singular in one of the states')
    response.joint_names, response.acceleration = batch.names, batch.flat(acceleration, 1)


def _equations_of_motion(present: ConfiguredRobot, request: Any, response: Any) -> None:
    robot = present.robot
    batch = _Batch(robot.joint_names, request.joint_names)
    q = batch.states('position', request.position)
    qd = batch.optional('velocity', request.velocity)
    response.joint_names = batch.names
    response.mass_matrix = batch.flat(robot.mass_matrix(q), 1, 2)
    response.velocity_free_coriolis_matrix = batch.flat(
        robot.velocity_free_coriolis_matrix(q), 1, 2
    )
    if qd is not None:
        response.coriolis_matrix = batch.flat(robot.coriolis_matrix(q, qd), 1, 2)
    response.gravity_vector = batch.flat(robot.gravity_vector(q), 1)


def seen_from(
    robot: Robot, link: str, reference: str, axes: str, point: Sequence[float]
) -> RobotFrame | RelativeFrame:
    """Return the frame that a request is about; what it leaves empty is the base's, or the origin.

    Args:
        robot: of the node.
        link: the request's frame, or the node's.
        reference: link that the observer is on, or empty.
        axes: link whose axes are wanted, or empty.
        point: of the link, m, or empty.

    Raises:
        UnknownFrameError: the robot has no such link.
        ShapeError: the point has not three components.
        NonFiniteError: the point holds a NaN or an infinity.
    """
    frame, root = robot.frame(link), robot.model.root_link
    # The kernels of frames seen from the base are those that the node has already.
    if (reference or root) == root and (axes or root) == root and not len(point):
        return frame
    return frame.relative_to(
        reference or root, axes=axes or None, point=point if len(point) else None
    )


def _frame_kinematics(present: ConfiguredRobot, request: Any, response: Any) -> None:
    robot, link = present.robot, request.frame or present.tip_frame
    frame = seen_from(robot, link, request.reference, request.axes, request.point)
    batch = _Batch(robot.joint_names, request.joint_names)
    q = batch.states('position', request.position)
    qd = batch.optional('velocity', request.velocity)
    qdd = batch.optional('acceleration', request.acceleration)
    qddd = batch.optional('jerk', request.jerk)
    response.joint_names, response.frame = batch.names, link
    response.base_frame = request.reference or robot.model.root_link
    response.axes = request.axes or response.base_frame
    response.pose = [pose(transform) for transform in frame.pose(q)]
    response.jacobian = batch.flat(frame.jacobian(q), 2)
    response.kinematic_hessian = batch.flat(frame.kinematic_hessian(q), 2)
    if qd is None:
        return
    response.twist = [twist(row) for row in frame.velocity(q, qd)]
    if qdd is None:
        return
    response.acceleration = [accel(row) for row in frame.acceleration(q, qd, qdd)]
    if qddd is not None:
        response.jerk = [accel(row) for row in frame.jerk(q, qd, qdd, qddd)]


def _linearize(present: ConfiguredRobot, request: Any, response: Any) -> None:
    robot, joints = present.flexible, present.robot.n
    # Give all modal coordinates or none: without them the links do not vibrate.
    bent = not set(present.mode_names).isdisjoint(request.joint_names)
    batch = _Batch((robot if bent else present.robot).joint_names, request.joint_names)
    motions = np.stack([batch.states(name, getattr(request, name)) for name in _MOTION], axis=1)
    order = [*batch.to_request, *range(len(batch.to_request), robot.n)]
    for motion in motions:
        states = motion
        if not bent:
            states = np.zeros((len(_MOTION), robot.n))
            states[:, :joints] = motion
            states[0] = quasi_static_equilibrium(robot, *motion)
        model = robot.linearize(*states)
        # No effort was measured: that of the joints is the one that the motion takes.
        residual = -model.effort
        residual[:joints] = 0.0
        message = model_message(model.part(order), residual[order])
        message.header.frame_id = robot.model.root_link
        response.models.append(message)
    response.joint_names, response.base_frame = batch.names, robot.model.root_link
