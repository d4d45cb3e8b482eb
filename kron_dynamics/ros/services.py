# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The model services of dynamics_node, which compute model quantities for batches of states."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from kron_dynamics_msgs.srv import (
    AnnotateTrajectory,
    EquationsOfMotion,
    ForwardDynamics,
    FrameKinematics,
    InverseDynamics,
    Linearize,
    RetimeTrajectory,
)
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from kron_dynamics.dynamics.forward import rounding_of_mass, smallest_mass
from kron_dynamics.exceptions import KronDynamicsError, NonFiniteError
from kron_dynamics.messages import named
from kron_dynamics.robot import Robot
from kron_dynamics.ros.annotate_service import annotate
from kron_dynamics.ros.batch import Batch
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.frame_service import frame_kinematics
from kron_dynamics.ros.linearize_service import linearize
from kron_dynamics.ros.parameter_set import ParameterSet
from kron_dynamics.ros.retime_service import retime_path
from kron_dynamics.ros.worker import Worker
from kron_dynamics.typing import FloatArray

Compute = Callable[[ConfiguredRobot, int, Any, Any], None]


def provide_services(
    node: Node, parameters: ParameterSet, configured: Callable[[], ConfiguredRobot | None]
) -> None:
    """Offer the services for planners, from ~/inverse_dynamics to ~/retime_trajectory.

    Requests are computed in a worker thread, so that large batches and the compilation of kernels
    do not delay the commands, which the executor's thread computes.

    Args:
        node: node that offers the services.
        parameters: parameters of dynamics_node.
        configured: returns the robot that the node is configured for, or None.
    """
    worker = Worker(node, 'services')

    def answering(compute: Compute) -> Callable[[Any, Any], Any]:
        def answer(request: Any, response: Any) -> Any:
            present = configured()
            if present is None:
                response.message = 'the node is not configured'
                return response
            try:
                # Overflow is reported by an error that names the quantity, not by NumPy.
                with np.errstate(all='ignore'):
                    compute(present, parameters.value('max_batch_size'), request, response)
                response.success = True
                return response
            except KronDynamicsError as error:
                return type(response)(success=False, message=str(error))
            except Exception as error:  # a failing service must not end the node's commands
                node.get_logger().error(f'a service failed unexpectedly: {error!r}')
                return type(response)(success=False, message=f'unexpected error: {error!r}')

        async def callback(request: Any, response: Any) -> Any:
            return await worker.run(answer, request, response)

        return callback

    every: dict[str, tuple[Any, Compute]] = {
        **SERVICES,
        'annotate_trajectory': (AnnotateTrajectory, partial(annotate, parameters)),
        'retime_trajectory': (RetimeTrajectory, partial(retime_path, parameters)),
    }
    for name, (kind, compute) in every.items():
        # Not the callback group of the joint states: a pending request must not delay them.
        group = ReentrantCallbackGroup()
        node.create_service(kind, f'~/{name}', answering(compute), callback_group=group)


def _inverse_dynamics(present: ConfiguredRobot, largest: int, request: Any, response: Any) -> None:
    robot = present.robot
    batch = Batch(robot.joint_names, request.joint_names, largest)
    q = batch.states('position', request.position)
    qd = batch.states('velocity', request.velocity)
    qdd = batch.states('acceleration', request.acceleration)
    effort = robot.inverse_dynamics(q, qd, qdd)
    if request.include_friction:
        effort += robot.joint_friction(qd)
    response.joint_names, response.effort = batch.names, batch.by_joint('effort', effort)


def _forward_dynamics(present: ConfiguredRobot, largest: int, request: Any, response: Any) -> None:
    robot = present.robot
    batch = Batch(robot.joint_names, request.joint_names, largest)
    q = batch.states('position', request.position)
    qd = batch.states('velocity', request.velocity)
    effort = batch.states('effort', request.effort)
    if request.include_friction:
        effort = effort - robot.joint_friction(qd)
    acceleration = robot.forward_dynamics(q, qd, effort)
    _require_mass(robot, q, acceleration)
    response.joint_names = batch.names
    response.acceleration = batch.by_joint('acceleration', acceleration)


def _require_mass(robot: Robot, q: FloatArray, acceleration: FloatArray) -> None:
    """Check that no state without a finite acceleration has a singular mass matrix."""
    for state in np.flatnonzero(~np.isfinite(acceleration).all(axis=1)):
        M = robot.mass_matrix(q[state])
        if not np.isfinite(M).all():
            continue
        smallest, joint = smallest_mass(M)
        if smallest <= rounding_of_mass(robot.n):
            raise NonFiniteError(
                f'the mass matrix is singular in state {state}: '
                f'{named("joint", robot.joint_names[joint])} can move without moving mass there'
            )


def _equations_of_motion(
    present: ConfiguredRobot, largest: int, request: Any, response: Any
) -> None:
    robot, n = present.robot, present.robot.n
    batch = Batch(robot.joint_names, request.joint_names, largest)
    q = batch.states('position', request.position)
    qd = batch.optional('velocity', request.velocity)
    batch.expect(n * n + n**3 + n + (0 if qd is None else n * n))
    response.joint_names = batch.names
    response.mass_matrix = batch.by_joint('mass matrix', robot.mass_matrix(q), 2)
    response.velocity_free_coriolis_matrix = batch.by_joint(
        'velocity-free Coriolis matrix', robot.velocity_free_coriolis_matrix(q), 2
    )
    if qd is not None:
        C = robot.coriolis_matrix(q, qd)
        response.coriolis_matrix = batch.by_joint('Coriolis matrix', C, 2)
    response.gravity_vector = batch.by_joint('gravity vector', robot.gravity_vector(q))


SERVICES: dict[str, tuple[Any, Compute]] = {
    'inverse_dynamics': (InverseDynamics, _inverse_dynamics),
    'forward_dynamics': (ForwardDynamics, _forward_dynamics),
    'equations_of_motion': (EquationsOfMotion, _equations_of_motion),
    'frame_kinematics': (FrameKinematics, frame_kinematics),
    'linearize': (Linearize, linearize),
}
"""Type and implementation of each service that needs the model only, by name."""
