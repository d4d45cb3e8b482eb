# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of dynamics_node and simulator_node that do not depend on the joints.

Those of joints: `joint_parameters.py`; of references: `reference_parameters.py`. None can be
changed while the node is active (`ParameterSet.lock`), those in `read_once` never after the start.
"""

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
        'Path of a URDF or xacro file, used if robot_description is empty.',
    ),
    Parameter(
        'xacro_args',
        [''],
        'Arguments of a xacro file, each name:=value.',
    ),
    Parameter(
        'flexible_description_file',
        '',
        'Path of a YAML file that describes the flexible links. Empty: all links are rigid.',
    ),
    Parameter(
        'constraints_file',
        '',
        'Path of a file with loop closures, joint couplings and the joints with a drive, '
        'which are then the joints of the node. Empty: the robot is a tree.',
    ),
    Parameter(
        'hold_base',
        False,
        'Fix a floating or planar root joint at its zero position, instead of refusing it.',
    ),
    Parameter(
        'allowed_model_warnings',
        [''],
        'Kinds of warnings about the description that are allowed, such as massless_joint; '
        '`kron_dynamics check` shows them. All others are errors.',
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
        'computed_torque; pd: the same gains without the model; gravity: hand guiding with '
        'gravity compensation, references are not followed.',
        choices=LAWS,
    ),
    Parameter(
        'terms',
        list(TERMS),
        'Model terms in the commands: inertia, coriolis, gravity, friction (at the reference '
        'velocity), flexible (only with reference_shaping or vibration_damping).',
        choices=('', *TERMS),
    ),
    Parameter(
        'drive_terms',
        [''],
        'Model terms that the drives add to the commands themselves: coriolis, gravity, friction. '
        'They must not be in terms too.',
        choices=('', *DRIVE_TERMS),
    ),
    Parameter(
        'hand_guiding_damping',
        0.0,
        'Damping rate of control_law gravity, 1/s; refused if it is not stable at state_period. '
        '0: the smallest stable rate.',
        0.0,
        1000.0,
    ),
    Parameter(
        'hand_guiding_speed',
        0.25,
        'Share of the velocity limits above which control_law gravity brakes more strongly; twice '
        'this share is a fault.',
        0.001,
        1.0,
    ),
    Parameter(
        'hand_guiding_friction',
        0.0,
        'Share of the joint friction that control_law gravity compensates, at the measured '
        'velocity.',
        0.0,
        0.9,
    ),
    Parameter(
        'external_effort_bandwidth',
        5.0,
        'Bandwidth of the external effort estimate, Hz; its noise grows with it. Read at '
        'configure.',
        0.01,
        1000.0,
    ),
    Parameter(
        'external_effort_source',
        'auto',
        'Efforts from which external efforts are estimated: measured (at the joints, drive_terms '
        'included), commanded (drive_terms are added), or auto: measured if all joints have them. '
        'Read at configure.',
        choices=('auto', 'measured', 'commanded'),
    ),
    Parameter(
        'reference_shaping',
        'none',
        'Input shaping of references against vibrations of flexible links after a motion: none, '
        'zv (adds half a period of every mode), zvd or ei (add a period; robust against frequency '
        'errors). Needs flexible_description_file.',
        # `KINDS` of control/shaping/shapers.py, which is imported only where it is needed.
        choices=('none', 'zv', 'zvd', 'ei'),
    ),
    Parameter(
        'vibration_damping',
        False,
        'Damp vibrations of flexible links by the drives, estimated from the joint positions. '
        'Needs flexible_description_file.',
    ),
    Parameter(
        'state_period',
        0.02,
        'Time between joint states, s, for which gains, vibration_damping and fault_action '
        'hold_gravity are designed and checked.',
        0.0001,
        1.0,
    ),
    Parameter(
        'effort_lead',
        0.0,
        'Time by which the efforts of the reference are extrapolated with their rate, s: half of '
        'state_period plus the delay from a state until its effort acts, transport included. Only '
        'for control_law computed_torque; needs inertia and coriolis in terms. 0: none.',
        0.0,
        1.0,
    ),
    Parameter(
        'state_timeout',
        0.2,
        'Age of the last position or velocity of a joint, by the steady clock, above which it is '
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
        'Time after the end of a reference within which its goal must be reached, s. 0: ten time '
        'constants of the slowest joint.',
        0.0,
        NO_LIMIT,
    ),
    Parameter(
        'velocity_fault_factor',
        1.5,
        'Multiple of the velocity limit above which a measured velocity, three times in a row, is '
        'a fault.',
        1.0,
        NO_LIMIT,
    ),
    Parameter(
        'effort_limit_scale',
        1.0,
        'Share of the effort limits, of the URDF and of effort_limit.<joint>, that may be used.',
        0.01,
        1.0,
    ),
    Parameter(
        'fault_action',
        'hold_gravity',
        'Command while a fault is latched: hold_gravity compensates gravity and damps the motion, '
        'zero sends zero efforts, stop_publishing sends nothing.',
        choices=('hold_gravity', 'zero', 'stop_publishing'),
    ),
    Parameter(
        'hold_damping',
        0.0,
        'Damping rate of fault_action hold_gravity, 1/s; configure refuses a rate that is not '
        'stable at state_period. 0: the geometric mean of the stable range.',
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
        'Link of the payload that payload.mass and the following describe, which ~/set_payload '
        'changes without recompilation; read at configure. Also the link of requests of '
        '~/set_payload that name none, read with each. Empty: tip_frame.',
    ),
    Parameter(
        'payload.mass',
        0.0,
        'Mass of the payload on payload.link, kg; ~/set_payload overrides it until cleanup. Read '
        'at configure.',
        0.0,
        NO_LIMIT,
    ),
    Parameter(
        'payload.center_of_mass',
        [0.0, 0.0, 0.0],
        'Centre of mass of the payload in the frame of payload.link, m. Read at configure.',
    ),
    Parameter(
        'payload.inertia',
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        'Inertia ixx, ixy, ixz, iyy, iyz, izz of the payload about its centre of mass along the '
        'axes of payload.link, kg m^2. Read at configure.',
    ),
    Parameter(
        'payload.ramp_time',
        1.0,
        'Time over which a payload set by ~/set_payload is blended in while commands are sent, s.',
        0.01,
        60.0,
    ),
    Parameter(
        'acceleration_source',
        'reference',
        'Joint accelerations for tip_acceleration: reference, model (forward dynamics of the '
        'measured efforts) or filtered (derivative of the measured velocities). Read at '
        'configure.',
        choices=('reference', 'model', 'filtered'),
    ),
    Parameter(
        'filter_cutoff',
        2.0,
        'Cutoff frequency of the derivative for acceleration_source filtered, Hz. Read at '
        'configure.',
        0.001,
        1000.0,
    ),
    Parameter(
        'linearized_model_rate',
        1.0,
        'Rate of linearized models in wall time, Hz, at most one per joint state; 0: none. Read '
        'at configure.',
        0.0,
        1000.0,
    ),
    Parameter(
        'linearization_point',
        'measured',
        'Operating point of linearized models: measured, with the accelerations of '
        'tip_acceleration (0 if there are none); or reference, and measured while no reference is '
        'followed. Read at configure.',
        choices=('measured', 'reference'),
    ),
    Parameter(
        'max_batch_size',
        500_000,
        'Largest count of numbers in a service request, and in an answer. The thread that sends '
        'commands converts them, so that more would delay commands.',
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
    Parameter(
        'step',
        0.001,
        'Longest integration step, s. Beyond 0.025 s divided by the number of joints with stops, '
        'stops are softer.',
        1e-6,
        0.1,
    ),
    Parameter('real_time_factor', 1.0, 'Simulated seconds per wall second.', 0.01, 100.0),
    Parameter(
        'publish_clock',
        False,
        'Publish /clock and stamp with simulated time. Needed if real_time_factor is not 1.',
    ),
    Parameter(
        'lockstep',
        False,
        'Stop simulated time, for at most command_timeout of wall time, until the last state has '
        'been answered on ~/command_state, and apply the efforts of the answer: a run does not '
        'depend on the load of the computer.',
    ),
    Parameter('seed', 1, 'Seed of the measurement noise.', 0, 2**31 - 1),
    Parameter(
        'command_timeout',
        0.5,
        'Simulated time without a command after which timeout_action starts, s.',
        0.001,
        60.0,
    ),
    Parameter(
        'timeout_action',
        'brake',
        'Reaction to missing commands: brake stops and holds the joints, coast sets their efforts '
        'to 0.',
        choices=('brake', 'coast'),
    ),
)
