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
    relative_jacobian_dot,
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
    from kron_dynamics.kinematics.angles_of_rotations import (
        angles_of_rotation,
        orientation_angles,
        quaternion_of_rotation,
    )
    from kron_dynamics.kinematics.exponentials import (
        Screw,
        rotation_exponential,
        rotation_exponential_rate,
        screw_exponential,
        screw_exponential_derivatives,
    )
    from kron_dynamics.kinematics.orientation import (
        ORIENTATION_SETS,
        distance_to_singularity,
        orientation_axes,
        quaternion_of_angles,
        rotation_of_angles,
    )
    from kron_dynamics.kinematics.orientation_rates import (
        angle_accelerations,
        angle_rates,
        angular_acceleration,
        angular_transfer_matrix,
        angular_transfer_matrix_rate,
        angular_velocity,
    )
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
    from kron_dynamics.kinematics.screw_motion import (
        screw_acceleration,
        screw_jacobian,
        screw_jerk,
        screw_velocity,
    )
    from kron_dynamics.kinematics.screw_poses import (
        link_components,
        product_of_exponentials,
        rotation_to_link,
    )
    from kron_dynamics.kinematics.screws import joint_screws, screw_table, zero_pose
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
    'ORIENTATION_SETS',
    'Screw',
    'angle_accelerations',
    'angle_rates',
    'angles_of_rotation',
    'angular_acceleration',
    'angular_transfer_matrix',
    'angular_transfer_matrix_rate',
    'angular_velocity',
    'angular_velocity_gradient',
    'body_angular_jacobian',
    'body_angular_jacobian_dot',
    'body_angular_velocity',
    'body_angular_velocity_gradient',
    'body_velocity_gradient',
    'conjugate',
    'conjugate_derivative',
    'distance_to_singularity',
    'forward_kinematics',
    'frame_acceleration',
    'frame_jerk',
    'frame_motion',
    'frame_velocity',
    'jacobian',
    'jacobian_dot',
    'joint_screws',
    'kinematic_hessian',
    'link_components',
    'orientation_angles',
    'orientation_axes',
    'product_of_exponentials',
    'quaternion_of_angles',
    'quaternion_of_rotation',
    'quaternion_rate',
    'relative_acceleration',
    'relative_hessian',
    'relative_jacobian',
    'relative_jacobian_derivative',
    'relative_jacobian_dot',
    'relative_jerk',
    'relative_motion',
    'relative_pose',
    'relative_velocity',
    'rotation_between',
    'rotation_exponential',
    'rotation_exponential_rate',
    'rotation_of',
    'rotation_of_angles',
    'rotation_to_link',
    'rotational_hessian',
    'rotational_jacobian',
    'screw_acceleration',
    'screw_exponential',
    'screw_exponential_derivatives',
    'screw_jacobian',
    'screw_jerk',
    'screw_table',
    'screw_velocity',
    'star',
    'star_matrix',
    'times',
    'times_matrix',
    'translational_hessian',
    'translational_jacobian',
    'tree_coordinates',
    'tree_rates',
    'velocity_gradient',
    'zero_pose',
]


def __getattr__(name: str) -> object:
    """Import the names not needed by poses and Jacobians on first access."""
    if name not in __all__:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    from kron_dynamics.kinematics import (
        angles_of_rotations,
        exponentials,
        orientation,
        orientation_rates,
        quaternion,
        screw_motion,
        screw_poses,
        screws,
        velocity_gradients,
    )

    for module in (
        *(angles_of_rotations, exponentials, orientation, orientation_rates, quaternion),
        *(screw_motion, screw_poses, screws, velocity_gradients),
    ):
        globals().update(
            {known: vars(module)[known] for known in __all__ if known in vars(module)}
        )
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
