# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The service ~/frame_kinematics: motion of a point of a link relative to any link."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kron_dynamics.frame import RelativeFrame, RobotFrame
from kron_dynamics.robot import Robot
from kron_dynamics.ros.batch import Batch
from kron_dynamics.ros.configured_robot import ConfiguredRobot
from kron_dynamics.ros.quaternions import quaternions
from kron_dynamics.typing import FloatArray


def frame_kinematics(present: ConfiguredRobot, largest: int, request: Any, response: Any) -> None:
    """Answer a request of ~/frame_kinematics.

    Args:
        present: robot that the node is configured for.
        largest: largest count of numbers in a request or an answer.
        request: FrameKinematics request.
        response: answer, to be filled in.

    Raises:
        KronDynamicsError: the request is refused.
    """
    robot, link, n = present.robot, request.frame or present.tip_frame, present.robot.n
    frame = seen_from(robot, link, request.reference, request.axes, request.point)
    batch = Batch(robot.joint_names, request.joint_names, largest)
    q = batch.states('position', request.position)
    known: list[FloatArray] = []
    for order, name in enumerate(('velocity', 'acceleration', 'jerk')):
        rate = batch.optional(name, getattr(request, name))
        # A rate without the lower ones is not used, but it is checked all the same.
        if rate is not None and len(known) == order:
            known.append(rate)
    batch.expect(7 + 6 * n + 6 * n * n + 6 * len(known))
    response.joint_names, response.frame = batch.names, link
    response.base_frame = request.reference or robot.model.root_link
    response.axes = request.axes or response.base_frame
    pose = frame.pose(q)
    response.position = batch.by_component('position', pose[:, :3, 3])
    response.orientation = batch.by_component('orientation', quaternions(pose[:, :3, :3]))
    response.jacobian = batch.by_component('Jacobian', frame.jacobian(q), 2)
    H = frame.kinematic_hessian(q)
    response.kinematic_hessian = batch.by_component('Hessian', H, 2)
    for count, name, motion in (
        (1, 'twist', frame.velocity),
        (2, 'acceleration', frame.acceleration),
        (3, 'jerk', frame.jerk),
    ):
        if len(known) >= count:
            setattr(response, name, batch.by_component(name, motion(q, *known[:count])))


def seen_from(
    robot: Robot, link: str, reference: str, axes: str, point: Sequence[float]
) -> RobotFrame | RelativeFrame:
    """Return the frame of a request.

    Args:
        robot: the node's robot.
        link: link that the frame is fixed to.
        reference: link of the observer; empty for the root link.
        axes: link whose axes are used; empty for those of the observer.
        point: point of the link, m; empty for its origin.

    Raises:
        UnknownFrameError: the robot has no such link.
        ShapeError: the point does not have three components.
        NonFiniteError: the point contains a NaN or an infinity.
        ModelError: the link bends at the point.
    """
    frame, root = robot.frame(link), robot.model.root_link
    # The kernels of frames relative to the base are compiled already.
    if (reference or root) == root and (axes or root) == root and not len(point):
        return frame
    return frame.relative_to(
        reference or root, axes=axes or None, point=point if len(point) else None
    )
