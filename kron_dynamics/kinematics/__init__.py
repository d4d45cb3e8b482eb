# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinematics of the tree: poses, Jacobians, Hessians, motion of frames."""

from typing import TYPE_CHECKING

from kron_dynamics.kinematics.forward import forward_kinematics
from kron_dynamics.kinematics.hessian import (
    jacobian_dot,
    kinematic_hessian,
    rotational_hessian,
    translational_hessian,
)
from kron_dynamics.kinematics.jacobian import (
    jacobian,
    rotational_jacobian,
    translational_jacobian,
)
from kron_dynamics.kinematics.motion import (
    FrameMotion,
    frame_acceleration,
    frame_jerk,
    frame_motion,
    frame_velocity,
)
from kron_dynamics.kinematics.relative import (
    relative_hessian,
    relative_jacobian,
    relative_jacobian_derivative,
    relative_pose,
    rotation_between,
)
from kron_dynamics.kinematics.relative_motion import (
    relative_acceleration,
    relative_jerk,
    relative_motion,
    relative_velocity,
)
from kron_dynamics.kinematics.tree import tree_coordinates, tree_rates

if TYPE_CHECKING:
    from kron_dynamics.kinematics.quaternion import (
        body_angular_velocity,
        conjugate,
        conjugate_derivative,
        quaternion_rate,
        rotation_of,
        star,
        star_matrix,
        times,
        times_matrix,
    )
    from kron_dynamics.kinematics.velocity_gradients import (
        angular_velocity_gradient,
        body_angular_jacobian,
        body_angular_jacobian_dot,
        body_angular_velocity_gradient,
        body_velocity_gradient,
        velocity_gradient,
    )

__all__ = [
    'FrameMotion',
    'angular_velocity_gradient',
    'body_angular_jacobian',
    'body_angular_jacobian_dot',
    'body_angular_velocity',
    'body_angular_velocity_gradient',
    'body_velocity_gradient',
    'conjugate',
    'conjugate_derivative',
    'forward_kinematics',
    'frame_acceleration',
    'frame_jerk',
    'frame_motion',
    'frame_velocity',
    'jacobian',
    'jacobian_dot',
    'kinematic_hessian',
    'quaternion_rate',
    'relative_acceleration',
    'relative_hessian',
    'relative_jacobian',
    'relative_jacobian_derivative',
    'relative_jerk',
    'relative_motion',
    'relative_pose',
    'relative_velocity',
    'rotation_between',
    'rotation_of',
    'rotational_hessian',
    'rotational_jacobian',
    'star',
    'star_matrix',
    'times',
    'times_matrix',
    'translational_hessian',
    'translational_jacobian',
    'tree_coordinates',
    'tree_rates',
    'velocity_gradient',
]


def __getattr__(name: str) -> object:
    """Import what poses and Jacobians do without when it is first asked for."""
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from kron_dynamics.kinematics import quaternion, velocity_gradients

    for module in (quaternion, velocity_gradients):
        globals().update(
            {known: vars(module)[known] for known in __all__ if known in vars(module)}
        )
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
