# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of dynamics_node for references and goals."""

from __future__ import annotations

from kron_dynamics.ros.declarations import NO_LIMIT, Parameter

REFERENCES = (
    Parameter(
        'reference_start_delay',
        600.0,
        'How far in the future a reference may start, s.',
        0.0,
        NO_LIMIT,
    ),
    Parameter('reference_duration', 86400.0, 'How long a reference may take, s.', 0.001, NO_LIMIT),
    Parameter(
        'reference_point_timeout',
        0.2,
        'Time by the stamps of the states without a point on reference_point after which the '
        'machine is stopped, s.',
        0.001,
        60.0,
    ),
    Parameter(
        'reference_point_reach',
        1.0,
        'Longest motion, s, to a point on reference_point that cannot be reached in time: it is '
        'then reached late. A point that needs a longer motion is refused.',
        0.001,
        60.0,
    ),
    Parameter(
        'allow_partial_joints_goal',
        True,
        'Accept references and goals for some of the joints; the others stop and hold.',
    ),
    Parameter('action_monitor_rate', 20.0, 'Rate of goal feedback, Hz.', 0.1, 1000.0),
    Parameter(
        'constraints.goal_time',
        5.0,
        'Time after the end of a goal within which the joints must reach it, s; 0: no limit.',
        0.0,
        NO_LIMIT,
    ),
    Parameter(
        'constraints.stopped_velocity_tolerance',
        0.01,
        'Velocity below which a joint counts as stopped at the end of a goal, rad/s or m/s; 0: '
        'no limit.',
        0.0,
        NO_LIMIT,
    ),
)


def reference_joint_parameters(joint: str) -> tuple[Parameter, ...]:
    """Return the parameters of dynamics_node about references of one joint."""
    return (
        Parameter(
            f'constraints.{joint}.trajectory',
            0.0,
            'Distance from the reference at which a goal is aborted, rad or m; 0: no limit.',
            0.0,
            NO_LIMIT,
        ),
        Parameter(
            f'constraints.{joint}.goal',
            0.02,
            'Distance from the end below which a goal counts as reached, rad or m; 0: no limit.',
            0.0,
            NO_LIMIT,
        ),
        Parameter(
            f'acceleration_limit.{joint}',
            0.0,
            'Acceleration of stops and of motions to streamed points, rad/s^2 or m/s^2; 0: '
            'derived from the efforts that gravity leaves, see diagnostics.',
            0.0,
            NO_LIMIT,
        ),
    )
