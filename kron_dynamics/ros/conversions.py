# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages to arrays and back: the only place that knows the fields of messages."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import (
    Accel,
    AccelStamped,
    Pose,
    PoseStamped,
    Twist,
    TwistStamped,
    Vector3,
    Vector3Stamped,
)
from kron_dynamics_msgs.msg import LinearizedModel as LinearizedModelMessage
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from kron_dynamics.linearized import LinearizedModel
from kron_dynamics.typing import FloatArray


def seconds(stamp: Time) -> float:
    """Return a stamp in s."""
    return stamp.sec + 1e-9 * stamp.nanosec


def stamp_from(time: float) -> Time:
    """Return the stamp of a time in s."""
    nanoseconds = round(time * 1e9)
    return Time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)


def effort_array(effort: FloatArray) -> Float64MultiArray:
    """Return efforts as forward_command_controller takes them."""
    return Float64MultiArray(data=_flat(effort))


def joint_state(
    stamp: Time,
    names: Sequence[str],
    position: FloatArray | None = None,
    velocity: FloatArray | None = None,
    effort: FloatArray | None = None,
) -> JointState:
    """Return a joint state; what is None is left empty."""
    message = JointState(name=list(names))
    message.header.stamp = stamp
    for field, values in (('position', position), ('velocity', velocity), ('effort', effort)):
        if values is not None:
            setattr(message, field, _flat(values))
    return message


def linearized_model(
    model: LinearizedModel, residual: FloatArray, frequencies: FloatArray, ratios: FloatArray
) -> LinearizedModelMessage:
    """Return a linear model as a message, without its header.

    Args:
        model: about the operating point.
        residual: efforts that its motion leaves over, shape (n,), N m or N.
        frequencies: of the oscillations, shape (k,), rad/s.
        ratios: their damping ratios, shape (k,).
    """
    return LinearizedModelMessage(
        joint_names=list(model.joint_names),
        position=_flat(model.q),
        velocity=_flat(model.qd),
        acceleration=_flat(model.qdd),
        mass_matrix=_flat(model.mass),
        damping_matrix=_flat(model.damping),
        stiffness_matrix=_flat(model.stiffness),
        residual_force=_flat(residual),
        frequencies=_flat(frequencies),
        damping_ratios=_flat(ratios),
    )


def twist(values: FloatArray) -> Twist:
    """Return [v; omega], shape (6,), as a twist."""
    return Twist(linear=_vector(values[:3]), angular=_vector(values[3:]))


def accel(values: FloatArray) -> Accel:
    """Return [a; alpha], shape (6,), as an accel."""
    return Accel(linear=_vector(values[:3]), angular=_vector(values[3:]))


def twist_stamped(stamp: Time, frame: str, values: FloatArray) -> TwistStamped:
    """Return [v; omega], shape (6,), in the axes of a frame."""
    message = TwistStamped(twist=twist(values))
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def accel_stamped(stamp: Time, frame: str, values: FloatArray) -> AccelStamped:
    """Return [a; alpha], shape (6,), in the axes of a frame."""
    message = AccelStamped(accel=accel(values))
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def pose_stamped(stamp: Time, frame: str, transform: FloatArray) -> PoseStamped:
    """Return a homogeneous transform, shape (4, 4), as a pose in a frame."""
    message = PoseStamped(pose=pose(transform))
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def vector_stamped(stamp: Time, frame: str, values: FloatArray) -> Vector3Stamped:
    """Return a vector, shape (3,), in the axes of a frame."""
    message = Vector3Stamped(vector=_vector(values))
    message.header.stamp, message.header.frame_id = stamp, frame
    return message


def pose(transform: FloatArray) -> Pose:
    """Return a homogeneous transform, shape (4, 4), as a pose."""
    message = Pose()
    position, orientation = message.position, message.orientation
    position.x, position.y, position.z = transform[:3, 3].tolist()
    quaternion = _quaternion(transform[:3, :3])
    orientation.x, orientation.y, orientation.z, orientation.w = quaternion.tolist()
    return message


def _quaternion(R: FloatArray) -> FloatArray:
    """Unit quaternion (x, y, z, w) of a rotation, from its largest component."""
    # Four times the outer product of the quaternion with itself.
    outer = np.empty((4, 4))
    outer[:3, :3] = R + R.T + (1.0 - np.trace(R)) * np.eye(3)
    outer[3, :3] = outer[:3, 3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    outer[3, 3] = 1.0 + np.trace(R)
    row: FloatArray = outer[outer.diagonal().argmax()]
    return row / np.linalg.norm(row)


def _flat(values: FloatArray) -> array[float]:
    """Numbers of an array, row-major."""
    return array('d', np.ascontiguousarray(values).tobytes())


def _vector(values: FloatArray) -> Vector3:
    x, y, z = values.tolist()
    return Vector3(x=x, y=y, z=z)
