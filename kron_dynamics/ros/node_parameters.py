# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of each node."""

from __future__ import annotations

from kron_dynamics.control.law import LAWS
from kron_dynamics.control.terms import DRIVE_TERMS, TERMS
from kron_dynamics.ros.declarations import NO_LIMIT, Parameter, read_once
from kron_dynamics.ros.reference_parameters import REFERENCES

DESCRIPTION = read_once(
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
        'constraints_file',
        '',
        'Path of a YAML file with what closes loops and couples joints, and which joints have a '
        'drive: these are the joints of the node then. Empty: the robot is a tree.',
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
    *read_once(
        Parameter(
            'autostart', True, 'Configure and activate without waiting for lifecycle transitions.'
        ),
        Parameter('diagnostics_period', 1.0, 'Time between diagnostics, s.', 0.05, 60.0),
    ),
    Parameter(
        'control_law',
        'computed_torque',
        'computed_torque; pd: the same gains without the model; gravity: hand guiding, the weight '
        'is carried and no reference is followed.',
        choices=LAWS,
    ),
    Parameter(
        'terms',
        list(TERMS),
        'Terms of the model that commands carry: inertia, coriolis, gravity, friction (at the '
        'reference rate), flexible.',
        choices=('', *TERMS),
    ),
    Parameter(
        'drive_terms',
        [''],
        'Terms that the drives add to commands by themselves: coriolis, gravity, friction. None '
        'may be in terms too.',
        choices=('', *DRIVE_TERMS),
    ),
    Parameter(
        'hand_guiding_damping',
        0.0,
        'Rate at which control_law gravity takes speed out, 1/s; refused where it is not stable '
        'at state_period. 0: the least that is.',
        0.0,
        1000.0,
    ),
    Parameter(
        'hand_guiding_speed',
        0.25,
        'Share of the velocity limits above which control_law gravity brakes more; twice as much '
        'is a fault.',
        0.001,
        1.0,
    ),
    Parameter(
        'hand_guiding_friction',
        0.0,
        'Share of the friction that control_law gravity compensates at the measured velocity.',
        0.0,
        0.9,
    ),
    Parameter(
        'external_effort_bandwidth',
        5.0,
        'Bandwidth of the estimate of external efforts, Hz: its noise grows with it. Taken up by '
        'configure.',
        0.01,
        1000.0,
    ),
    Parameter(
        'external_effort_source',
        'auto',
        'Efforts behind the external ones: measured (at the joints, terms of the drives '
        'included), commanded (drive_terms are added), or auto: measured where all joints have '
        'them. Taken up by configure.',
        choices=('auto', 'measured', 'commanded'),
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
        'Time between joint states, s, that gains, vibration_damping and fault_action '
        'hold_gravity are checked and made for.',
        0.0001,
        1.0,
    ),
    Parameter(
        'effort_lead',
        0.0,
        'How far ahead along the reference efforts are, by their rate, s: half of state_period '
        'and the time until the drives act make up for both. Part of control_law '
        'computed_torque; needs inertia and coriolis in terms. 0: not ahead.',
        0.0,
        1.0,
    ),
    Parameter(
        'state_timeout',
        0.2,
        'Time, by a steady clock, without a new position or velocity of some joint that counts as '
        'a fault, s. Read at configure.',
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
        'payload.link',
        '',
        'Link whose payloads are set without another compilation, and that carries the one of '
        'the other parameters from configure on. Empty: tip_frame. Taken up by configure.',
    ),
    Parameter(
        'payload.mass',
        0.0,
        'Mass that payload.link carries, kg; ~/set_payload changes it until cleanup. Taken up by '
        'configure.',
        0.0,
        NO_LIMIT,
    ),
    Parameter(
        'payload.center_of_mass',
        [0.0, 0.0, 0.0],
        'Its centre of mass in the frame of payload.link, m. Taken up by configure.',
    ),
    Parameter(
        'payload.inertia',
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        'Its inertia ixx, ixy, ixz, iyy, iyz, izz about its centre of mass along the axes of '
        'payload.link, kg m^2. Taken up by configure.',
    ),
    Parameter(
        'payload.ramp_time',
        1.0,
        'Time over which a payload set by ~/set_payload comes into effect while commands are '
        'sent, s.',
        0.01,
        60.0,
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
        'max_batch_size',
        500_000,
        'Most numbers that a request of a service may hold, and most that its answer may; they '
        'pass through the thread that sends the commands.',
        1000,
        100_000_000,
    ),
    Parameter(
        'allow_commands_in_sim_time',
        False,
        'Allow activation with use_sim_time. Off by default: a replayed bag must not drive a '
        'machine.',
    ),
    *REFERENCES,
)

SIMULATOR = read_once(
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
