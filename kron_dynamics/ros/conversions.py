# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversions between messages and arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import (
    Accel,
    Pose,
    PoseStamped,
    Twist,
    Vector3,
    Vector3Stamped,
    Wrench,
    WrenchStamped,
)
from kron_dynamics_msgs.msg import LinearizedModel as LinearizedModelMessage
from sensor_msgs.msg import JointState

from kron_dynamics.ros.batch import flat
from kron_dynamics.ros.quaternions import quaternions
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.linearized import LinearizedModel


class Stamp(NamedTuple):
    """Stamp of a received message. As a message it is made only where it is published."""

    sec: int
    nanosec: int

    def to_msg(self) -> Time:
        """Return the stamp as a message."""
        return Time(sec=self.sec, nanosec=self.nanosec)


def seconds(stamp: Time | Stamp) -> float:
    """Return a stamp as seconds."""
    return stamp.sec + 1e-9 * stamp.nanosec


def stamp_from(time: float) -> Time:
    """Return the stamp of a time in s."""
    nanoseconds = round(time * 1e9)
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def joint_state(
    stamp: Time,
    names: Sequence[str],
    position: FloatArray | None = None,
    velocity: FloatArray | None = None,
    effort: FloatArray | None = None,
) -> JointState:
    """Return a joint state; fields that are None stay empty."""
    message = JointState(name=list(names))
    message.header.stamp = stamp
    for field, values in (('position', position), ('velocity', velocity), ('effort', effort)):
        if values is not None:
            setattr(message, field, flat(values))
    return message


def linearized_model(
    model: LinearizedModel, residual: FloatArray, frequencies: FloatArray, ratios: FloatArray
) -> LinearizedModelMessage:
    """Return a linear model as a message, without its header.

    Args:
        model: linear model about the operating point.
        residual: efforts not balanced by the motion, shape (n,), N m or N.
        frequencies: frequencies of the oscillations, shape (k,), rad/s.
        ratios: damping ratios of the oscillations, shape (k,).
    """
    return LinearizedModelMessage(
        joint_names=list(model.joint_names),
        position=flat(model.q),
        velocity=flat(model.qd),
        acceleration=flat(model.qdd),
        mass_matrix=flat(model.mass),
        damping_matrix=flat(model.damping),
        stiffness_matrix=flat(model.stiffness),
        residual_force=flat(residual),
        frequencies=flat(frequencies),
        damping_ratios=flat(ratios),
    )


def fill_motion(message: Twist | Accel, values: FloatArray) -> None:
    """Write [v; omega] or [a; alpha], shape (6,), into a message."""
    first, second = message.linear, message.angular
    first.x, first.y, first.z, second.x, second.y, second.z = values.tolist()


def wrench_stamped(stamp: Time, frame: str, values: FloatArray) -> WrenchStamped:
    """Return [force; moment], shape (6,), in the axes of a frame, as a message."""
    message = WrenchStamped(wrench=Wrench(force=_vector(values[:3]), torque=_vector(values[3:])))
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def pose_stamped(stamp: Time, frame: str, transform: FloatArray) -> PoseStamped:
    """Return a homogeneous transform, shape (4, 4), as a pose in a frame."""
    message = PoseStamped(pose=pose(transform))
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def vector_stamped(stamp: Time, frame: str, values: FloatArray) -> Vector3Stamped:
    """Return a vector, shape (3,), in the axes of a frame, as a message."""
    message = Vector3Stamped(vector=_vector(values))
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def pose(transform: FloatArray) -> Pose:
    """Return a homogeneous transform, shape (4, 4), as a pose."""
    message = Pose()
    position, orientation = message.position, message.orientation
    position.x, position.y, position.z = transform[:3, 3].tolist()
    (quaternion,) = quaternions(transform[np.newaxis, :3, :3]).tolist()
    orientation.x, orientation.y, orientation.z, orientation.w = quaternion
    return message


def _vector(values: FloatArray) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)
