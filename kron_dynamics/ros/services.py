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
)
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from kron_dynamics.control import reorder
from kron_dynamics.exceptions import KronDynamicsError, NonFiniteError, ShapeError
from kron_dynamics.robot import Robot
from kron_dynamics.ros.conversions import accel, pose, twist
from kron_dynamics.typing import FloatArray


class _Batch:
    """The states of a request in the robot's joint order, and the way back to the request's."""

    def __init__(self, robot: Robot, joint_names: Sequence[str]) -> None:
        self.names = list(joint_names) or list(robot.joint_names)
        self._to_model = reorder(self.names, robot.joint_names)
        self._to_request = np.argsort(self._to_model)
        self._n = robot.n
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
            order = self._to_request
            if values.shape[axis] == self._n**2 and self._n > 1:
                order = (order[:, None] * self._n + order).ravel()
            values = values.take(order, axis=axis)
        return array('d', np.ascontiguousarray(values).tobytes())


def provide_services(
    node: Node, robot: Callable[[], Robot | None], tip_frame: Callable[[], str]
) -> None:
    """Offer inverse_dynamics, forward_dynamics, equations_of_motion and frame_kinematics.

    Requests are worked on in a thread of their own: a large batch, or a kernel that has to be
    compiled first, does not delay the commands, which the executor's thread computes.

    Args:
        node: offers them under its own name.
        robot: the robot, or None as long as the node is not configured.
        tip_frame: the link meant where a request names none.
    """
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix='services')

    def answering(compute: Callable[[Robot, Any, Any], None]) -> Callable[[Any, Any], Any]:
        def answer(request: Any, response: Any) -> Any:
            present = robot()
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

    def frame_kinematics(present: Robot, request: Any, response: Any) -> None:
        _frame_kinematics(present, request.frame or tip_frame(), request, response)

    for kind, name, compute in (
        (InverseDynamics, '~/inverse_dynamics', _inverse_dynamics),
        (ForwardDynamics, '~/forward_dynamics', _forward_dynamics),
        (EquationsOfMotion, '~/equations_of_motion', _equations_of_motion),
        (FrameKinematics, '~/frame_kinematics', frame_kinematics),
    ):
        # Not the group of the joint states: a request under way must not hold them up.
        group = ReentrantCallbackGroup()
        node.create_service(kind, name, answering(compute), callback_group=group)


def _finish(node: Node, finished: Future[None]) -> None:
    """Tell the executor that a worker is done; it may be asleep."""
    finished.set_result(None)
    if node.executor is not None:
        node.executor.wake()


def _inverse_dynamics(robot: Robot, request: Any, response: Any) -> None:
    batch = _Batch(robot, request.joint_names)
    q = batch.states('position', request.position)
    qd = batch.states('velocity', request.velocity)
    qdd = batch.states('acceleration', request.acceleration)
    effort = robot.inverse_dynamics(q, qd, qdd)
    if request.include_friction:
        effort += robot.joint_friction(qd)
    response.joint_names, response.effort = batch.names, batch.flat(effort, 1)


def _forward_dynamics(robot: Robot, request: Any, response: Any) -> None:
    batch = _Batch(robot, request.joint_names)
    q = batch.states('position', request.position)
    qd = batch.states('velocity', request.velocity)
    effort = batch.states('effort', request.effort)
    if request.include_friction:
        effort = effort - robot.joint_friction(qd)
    acceleration = robot.forward_dynamics(q, qd, effort)
    if not np.isfinite(acceleration).all():
        raise NonFiniteError('the mass matrix is singular in one of the states')
    response.joint_names, response.acceleration = batch.names, batch.flat(acceleration, 1)


def _equations_of_motion(robot: Robot, request: Any, response: Any) -> None:
    batch = _Batch(robot, request.joint_names)
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


def _frame_kinematics(robot: Robot, link: str, request: Any, response: Any) -> None:
    frame = robot.frame(link)
    batch = _Batch(robot, request.joint_names)
    q = batch.states('position', request.position)
    qd = batch.optional('velocity', request.velocity)
    qdd = batch.optional('acceleration', request.acceleration)
    qddd = batch.optional('jerk', request.jerk)
    response.joint_names, response.frame = batch.names, link
    response.base_frame = robot.model.root_link
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
