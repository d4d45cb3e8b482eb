# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kron_dynamics.ros.parameters import NO_LIMIT, Parameter


def _read_once(*parameters: Parameter) -> tuple[Parameter, ...]:
    """Parameters that a node reads when it starts: a change later would do nothing."""
    return tuple(replace(parameter, read_only=True) for parameter in parameters)


DESCRIPTION = _read_once(
    Parameter(
        'robot_description',
        '',
        'URDF text. Empty: see robot_description_file, else the topic robot_description.',
    ),
    Parameter(
        'robot_description_file',
        '',
        'Path of a URDF or xacro file, used where robot_description is empty.',
    ),
    Parameter(
        'xacro_args',
        [''],
        'Arguments of a robot_description_file in xacro: name:=value each.',
    ),
    Parameter(
        'flexible_description_file',
        '',
        'Path of a YAML file with the links that bend. Empty: all links are rigid.',
    ),
    Parameter(
        'hold_base',
        False,
        'Hold a floating or planar joint at the root where it is, instead of refusing it.',
    ),
    Parameter(
        'allowed_model_warnings',
        [''],
        'Kinds of warnings about the description that are allowed, such as massless_joint; '
        '`kron_dynamics check` shows them. Any other is an error.',
    ),
    Parameter(
        'gravity.x', 0.0, 'Gravity acceleration along x of the root link, m/s^2.', -50.0, 50.0
    ),
    Parameter(
        'gravity.y', 0.0, 'Gravity acceleration along y of the root link, m/s^2.', -50.0, 50.0
    ),
    Parameter(
        'gravity.z', -9.80665, 'Gravity acceleration along z of the root link, m/s^2.', -50.0, 50.0
    ),
)

DYNAMICS = (
    *DESCRIPTION,
    *_read_once(
        Parameter(
            'autostart', True, 'Configure and activate without waiting for lifecycle transitions.'
        ),
        Parameter('diagnostics_period', 1.0, 'Time between diagnostics, s.', 0.05, 60.0),
    ),
    Parameter(
        'control_law',
        'computed_torque',
        'computed_torque, or pd: the same gains without the model.',
        choices=('computed_torque', 'pd'),
    ),
    Parameter(
        'compensate_friction', True, 'Add the joint friction of the URDF at the reference rate.'
    ),
    Parameter(
        'reference_shaping',
        'none',
        'Input shaping of references, so that flexible links do not vibrate after a motion: none, '
        'zv (adds half a period of every mode), zvd or ei (a period; forgive wrong frequencies). '
        'Needs flexible_description_file.',
        choices=('none', 'zv', 'zvd', 'ei'),
    ),
    Parameter(
        'vibration_damping',
        False,
        'Have the drives damp vibrations of flexible links, seen in the positions of the joints. '
        'Needs flexible_description_file.',
    ),
    Parameter(
        'state_period',
        0.02,
        'Time between joint states, s, that vibration_damping and fault_action hold_gravity are '
        'made for.',
        0.0001,
        1.0,
    ),
    Parameter(
        'state_timeout',
        0.2,
        'Wall time without a complete joint state that counts as a fault, s. Taken up by '
        'configure.',
        0.001,
        60.0,
    ),
    Parameter(
        'following_error_time',
        0.1,
        'Time that a following error may last before it is a fault, s.',
        0.0,
        60.0,
    ),
    Parameter(
        'goal_time',
        0.0,
        'Time after the end of a reference until its goal must be reached, s. 0: ten time '
        'constants of the slowest joint.',
        0.0,
        NO_LIMIT,
    ),
    Parameter(
        'velocity_fault_factor',
        1.5,
        'Times the velocity limit at which a measured velocity, three times in a row, is a fault.',
        1.0,
        NO_LIMIT,
    ),
    Parameter(
        'effort_limit_scale', 1.0, 'Share of the URDF effort limits that may be used.', 0.01, 1.0
    ),
    Parameter(
        'fault_action',
        'hold_gravity',
        'What is commanded while a fault is latched: hold_gravity carries the weight and takes '
        'kinetic energy out, zero lets go, stop_publishing is silent.',
        choices=('hold_gravity', 'zero', 'stop_publishing'),
    ),
    Parameter(
        'hold_damping',
        0.0,
        'Rate at which fault_action hold_gravity takes speed out, 1/s; configure refuses a rate '
        'that is not stable at state_period. 0: in the middle of the stable range.',
        0.0,
        1000.0,
    ),
    Parameter(
        'tip_frame',
        '',
        'Link of the tip topics. Empty: the moving link farthest from the root. '
        'Read at configure.',
    ),
    Parameter(
        'acceleration_source',
        'reference',
        'Joint accelerations behind tip_acceleration: reference, model (forward dynamics of the '
        'measured efforts) or filtered (derivative of the measured velocities). Taken up by '
        'configure.',
        choices=('reference', 'model', 'filtered'),
    ),
    Parameter(
        'filter_cutoff',
        2.0,
        'Cutoff frequency of the derivative for acceleration_source filtered, Hz. Taken up by '
        'configure.',
        0.001,
        1000.0,
    ),
    Parameter(
        'linearized_model_rate',
        1.0,
        'Linearized models per second of wall time, Hz, at most one for every joint state; 0: '
        'none. Read at configure.',
        0.0,
        1000.0,
    ),
    Parameter(
        'linearization_point',
        'measured',
        'Motion that linearized models are about: measured, with the accelerations of '
        'tip_acceleration, 0 where it has none; or reference, and measured while no reference is '
        'followed. Read at configure.',
        choices=('measured', 'reference'),
    ),
    Parameter(
        'allow_commands_in_sim_time',
        False,
        'Allow activation with use_sim_time. Off by default: a replayed bag must not drive a '
        'machine.',
    ),
)

SIMULATOR = _read_once(
    *DESCRIPTION,
    Parameter('publish_rate', 100.0, 'Joint states per simulated second, Hz.', 1.0, 2000.0),
    Parameter('step', 0.001, 'Longest integration step, s.', 1e-6, 0.1),
    Parameter('real_time_factor', 1.0, 'Simulated seconds per wall second.', 0.01, 100.0),
    Parameter(
        'publish_clock',
        False,
        'Publish /clock and stamp with simulated time. Needed where real_time_factor is not 1.',
    ),
    Parameter(
        'lockstep',
        False,
        'Hold time still, for command_timeout of wall time at most, until the last state has been '
        'answered on ~/command_state: a run does not depend on how busy the computer is.',
    ),
    Parameter('seed', 1, 'Seed of the measurement noise.', 0, 2**31 - 1),
    Parameter(
        'command_timeout',
        0.5,
        'Simulated time without a command after which timeout_action sets in, s.',
        0.001,
        60.0,
    ),
    Parameter(
        'timeout_action',
        'brake',
        'Without commands: brake stops and holds the joints, coast leaves them without effort.',
        choices=('brake', 'coast'),
    ),
)


def dynamics_joint_parameters(joints: Sequence[str]) -> list[Parameter]:
    """Return the parameters that dynamics_node has for every joint."""
    parameters = []
    for joint in joints:
        parameters += [
            Parameter(
                f'gains.{joint}.kp', 0.0, 'Position gain, 1/s^2; to be set above 0.', 0.0, NO_LIMIT
            ),
            Parameter(
                f'gains.{joint}.kd', 0.0, 'Velocity gain, 1/s; to be set above 0.', 0.0, NO_LIMIT
            ),
            Parameter(
                f'reference_start_tolerance.{joint}',
                0.01,
                'Distance allowed between measured position and start of a reference, rad or m.',
                0.0,
                NO_LIMIT,
            ),
            Parameter(
                f'position_resolution.{joint}',
                1e-5,
                'Smallest step of the measured position, rad or m: what vibration_damping may '
                'trust.',
                1e-12,
                NO_LIMIT,
            ),
            Parameter(
                f'effort_limit.{joint}',
                NO_LIMIT,
                'Effort limit where the URDF has a larger one or none, N m or N.',
                0.0,
                NO_LIMIT,
            ),
            Parameter(
                f'effort_rate_limit.{joint}',
                0.0,
                'Greatest change of the commanded effort, N m/s or N/s. 0: all of the effort '
                'limit in 0.1 / sqrt(kp) seconds.',
                0.0,
                NO_LIMIT,
            ),
            Parameter(
                f'position_margin.{joint}',
                0.0,
                'Distance that a measured position may be outside its range, rad or m; further is '
                'a fault. 0: 2 % of the range, and 50 ms at the velocity limit at least.',
                0.0,
                NO_LIMIT,
            ),
            Parameter(
                f'position_jump.{joint}',
                0.0,
                'Distance that a measured position may be off from one state to the next, beside '
                'what the joint can move at twice its velocity limit, rad or m; a state further '
                'off is not believed. 0: 50 ms at the velocity limit.',
                0.0,
                NO_LIMIT,
            ),
            Parameter(
                f'following_error.{joint}',
                0.0,
                'Distance from the reference that is a fault, rad or m. 0: from gains and limits.',
                0.0,
                NO_LIMIT,
            ),
            Parameter(
                f'following_error_velocity.{joint}',
                0.0,
                'Velocity error that is a fault, rad/s or m/s. 0: from gains and limits.',
                0.0,
                NO_LIMIT,
            ),
            Parameter(
                f'goal_tolerance.{joint}',
                0.0,
                'Distance from the end of a reference that is a fault after goal_time, rad or m. '
                '0: from gains and limits.',
                0.0,
                NO_LIMIT,
            ),
        ]
    return parameters


def simulator_joint_parameters(joints: Sequence[str]) -> tuple[Parameter, ...]:
    """Return the parameters that simulator_node has for every joint."""
    parameters = []
    for joint in joints:
        parameters += [
            Parameter(
                f'initial_position.{joint}', 0.0, 'Start position, rad or m.', -NO_LIMIT, NO_LIMIT
            ),
            Parameter(
                f'position_resolution.{joint}', 0.0, 'Encoder quantum, rad or m.', 0.0, NO_LIMIT
            ),
            Parameter(
                f'position_noise.{joint}', 0.0, 'Standard deviation, rad or m.', 0.0, NO_LIMIT
            ),
            Parameter(
                f'velocity_noise.{joint}', 0.0, 'Standard deviation, rad/s or m/s.', 0.0, NO_LIMIT
            ),
            Parameter(
                f'effort_noise.{joint}', 0.0, 'Standard deviation, N m or N.', 0.0, NO_LIMIT
            ),
        ]
    return _read_once(*parameters)
