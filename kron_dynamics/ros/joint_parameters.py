# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of dynamics_node and simulator_node for each joint."""

from __future__ import annotations

from collections.abc import Sequence

from kron_dynamics.ros.declarations import NO_LIMIT, Parameter, read_once
from kron_dynamics.ros.reference_parameters import reference_joint_parameters

# Parameters of dynamics_node for each joint: name before and after the joint's name, default,
# description with unit, smallest value. There is no largest value.
_DYNAMICS = (
    ('gains.', '.kp', 0.0, 'Position gain, 1/s^2; must be set above 0.', 0.0),
    ('gains.', '.kd', 0.0, 'Velocity gain, 1/s; must be set above 0.', 0.0),
    ('gains.', '.ki', 0.0, 'Integral gain, 1/s^3; 0: none.', 0.0),
    (
        *('collision_threshold.', '', NO_LIMIT),
        'External effort that counts as a collision and a fault, N m or N.',
        1e-12,
    ),
    (
        *('reference_start_tolerance.', '', 0.01),
        'Allowed difference between the present reference (not the measured state) and a first '
        'point at time 0, in position (rad or m) and velocity (rad/s or m/s).',
        0.0,
    ),
    (
        *('position_resolution.', '', 1e-5),
        'Resolution of the measured position, rad or m; measurement error for vibration_damping.',
        1e-12,
    ),
    (
        *('effort_limit.', '', NO_LIMIT),
        'Effort limit if the URDF has none or a larger one, N m or N. A joint without any, or '
        'with 0 in the URDF, is refused at activation.',
        0.0,
    ),
    (
        *('effort_rate_limit.', '', 0.0),
        'Largest rate of change of the commanded effort, N m/s or N/s. 0: the full effort limit '
        'in 0.1 / sqrt(kp) seconds; without kp in 0.1 s.',
        0.0,
    ),
    (
        *('position_margin.', '', 0.0),
        'Distance by which a measured position may exceed its range, rad or m; more is a fault. '
        '0: 2 % of the range, but at most the motion in 1 s at the velocity limit and at least '
        'that in 50 ms; with closed loops 0.1 % of the range.',
        0.0,
    ),
    (
        *('position_jump.', '', 0.0),
        'Allowed jump of a measured position from one state to the next, in addition to a motion '
        'at twice the velocity limit, rad or m; a state with a larger jump is implausible. 0: '
        '50 ms at the velocity limit.',
        0.0,
    ),
    (
        *('following_error.', '', 0.0),
        'Distance from the reference that is a fault, rad or m. 0: derived from gains and limits.',
        0.0,
    ),
    (
        *('following_error_velocity.', '', 0.0),
        'Velocity error that is a fault, rad/s or m/s. 0: derived from gains and limits.',
        0.0,
    ),
    (
        *('goal_tolerance.', '', 0.0),
        'Distance from the end of a reference that is a fault after goal_time, rad or m. 0: '
        'derived from gains and limits.',
        0.0,
    ),
)


def armature_parameters(joints: Sequence[str]) -> tuple[Parameter, ...]:
    """Return the rotor inertia parameters of the joints, which are read with the description."""
    return read_once(
        *(
            Parameter(
                f'armature.{joint}',
                -1.0,
                'Inertia of the rotor at the joint, kg m^2 or kg; below 0: from the transmissions '
                'of the URDF. Read with the description.',
                -1.0,
                NO_LIMIT,
            )
            for joint in joints
        )
    )


def dynamics_joint_parameters(joints: Sequence[str]) -> list[Parameter]:
    """Return the parameters that dynamics_node has for every joint."""
    return [
        parameter
        for joint in joints
        for parameter in (
            *(
                Parameter(f'{before}{joint}{behind}', default, text, least, NO_LIMIT)
                for before, behind, default, text, least in _DYNAMICS
            ),
            *reference_joint_parameters(joint),
        )
    ]


def simulator_joint_parameters(
    joints: Sequence[str], starts: Sequence[float] | None = None
) -> tuple[Parameter, ...]:
    """Return the parameters that simulator_node has for every joint.

    Args:
        joints: names of the joints.
        starts: default start positions, rad or m; None for 0.
    """
    parameters = []
    for joint, start in zip(joints, starts or [0.0] * len(joints), strict=True):
        parameters += [
            Parameter(
                f'initial_position.{joint}',
                start,
                'Start position within the limits of the joint, rad or m. Default if 0 is outside '
                'the limits: their middle.',
                -NO_LIMIT,
                NO_LIMIT,
            ),
            Parameter(
                f'position_resolution.{joint}', 0.0, 'Encoder quantum, rad or m.', 0.0, NO_LIMIT
            ),
            Parameter(
                f'position_noise.{joint}',
                0.0,
                'Standard deviation of the position noise, rad or m.',
                0.0,
                NO_LIMIT,
            ),
            Parameter(
                f'velocity_noise.{joint}',
                0.0,
                'Standard deviation of the velocity noise, rad/s or m/s.',
                0.0,
                NO_LIMIT,
            ),
            Parameter(
                f'effort_noise.{joint}',
                0.0,
                'Standard deviation of the effort noise, N m or N.',
                0.0,
                NO_LIMIT,
            ),
        ]
    return read_once(*parameters)
