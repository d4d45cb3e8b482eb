# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics tune`: parameters of dynamics_node from a bandwidth and a sample rate."""

from __future__ import annotations

import argparse
import shlex
import warnings
from pathlib import Path

import numpy as np

from kron_dynamics.cli.options import (
    add_flexible,
    add_urdf,
    by_name,
    description_options,
    finite_number,
    positive_number,
)
from kron_dynamics.cli.output_files import check_outputs, output_file
from kron_dynamics.cli.streams import print_kept
from kron_dynamics.control.tuning.parameter_file import parameter_file
from kron_dynamics.control.tuning.parameter_values import (
    JOINT,
    stability_report,
    tuned_parameters,
)
from kron_dynamics.control.tuning.result import Tuning
from kron_dynamics.control.tuning.tuning import tune
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.loading import load
from kron_dynamics.messages import shown

DESCRIPTION = """\
Write a parameter file for dynamics_node: gains from the desired bandwidth of each joint, limits
and tolerances from the gains, each number with its unit and its reason. The sampled loop is
analysed with its delay, in poses all over the position limits, with model errors and with flexible
links if there are any. An unstable bandwidth is refused, with the bandwidth that would be stable.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_urdf(parser)
    parser.add_argument(
        '--bandwidth',
        metavar='[JOINT=]HZ',
        type=_for_joint,
        action='append',
        required=True,
        help="natural frequency of a joint's error dynamics, in Hz; without JOINT for all other "
        'joints; may be repeated',
    )
    parser.add_argument(
        '--rate',
        metavar='HZ',
        type=positive_number,
        required=True,
        help='rate of the joint states, 1 to 10000 Hz',
    )
    parser.add_argument(
        '--delay',
        metavar='S',
        type=finite_number,
        help='time from a joint state until its efforts act, in s (default: one period)',
    )
    parser.add_argument(
        '--damping-ratio',
        metavar='Z',
        type=positive_number,
        default=1.0,
        help='damping ratio of the error dynamics; 1 is critical (default: %(default)g)',
    )
    parser.add_argument(
        '--model-error',
        metavar='SHARE',
        type=finite_number,
        default=0.2,
        help='relative error of inertias and masses (default: %(default)g)',
    )
    parser.add_argument(
        '--effort-limit',
        metavar='JOINT=LIMIT',
        type=_of_joint,
        action='append',
        default=[],
        help='effort limit in N m or N, if the URDF has none or a larger one; may be repeated',
    )
    add_flexible(parser)
    parser.add_argument(
        '--output', metavar='FILE', type=Path, help='file to write (default: standard output)'
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the parameter file, or print it.

    Raises:
        ModelError: the description is unusable.
        ParameterError: the loop would be unstable, or an option names an unknown joint,
            or the output is an input.
        KronDynamicsError: the file cannot be written.
    """
    # These modules do not need ROS.
    from kron_dynamics.ros.joint_parameters import dynamics_joint_parameters
    from kron_dynamics.ros.node_parameters import DYNAMICS

    check_outputs(arguments, 'output')
    robot = load(arguments.urdf, flexible=arguments.flexible, **description_options(arguments))
    joints = robot.rigid.joint_names if robot.model.is_flexible else robot.joint_names
    tuning = tune(
        robot,
        _bandwidths(arguments.bandwidth, joints),
        arguments.rate,
        delay=arguments.delay,
        damping_ratio=arguments.damping_ratio,
        model_error=arguments.model_error,
        effort_limit=by_name('effort-limit', arguments.effort_limit),
    )
    for warning in tuning.warnings:
        warnings.warn(warning, stacklevel=1)
    declared = {each.name: each for each in (*DYNAMICS, *dynamics_joint_parameters([JOINT]))}
    values = tuned_parameters(tuning)
    for name in values.keys() & declared.keys():
        lower, upper = declared[name].lower, declared[name].upper
        for value in values[name].values:
            if not isinstance(value, str) and not (lower or 0.0) <= value <= (upper or np.inf):
                raise ParameterError(
                    f"parameter '{name}' would be {value:.4g}, expected {lower:g} to {upper:g}"
                )
    text = parameter_file(_header(arguments, tuning), values, declared, tuning.joint_names)
    if arguments.output is None:
        print(text, end='')
        return 0
    kept = list[str]()
    with output_file(arguments.output, kept) as file:
        file.write_text(text, encoding='utf-8')
    print('\n'.join(stability_report(tuning)))
    print(f'\nwritten  {arguments.output}')
    print_kept(kept)
    return 0


def _header(arguments: argparse.Namespace, tuning: Tuning) -> list[str]:
    """Return the file's header: purpose, command line and stability report."""
    return [
        f'Parameters of dynamics_node, made by `{_command_line(arguments)}`. SI units. Parameters '
        'that are not here keep their defaults. These limits are no safety function.',
        *stability_report(tuning),
    ]


def _command_line(arguments: argparse.Namespace) -> str:
    """Return the command that gives the same numbers, for a shell beside the files."""
    words = ['kron_dynamics', 'tune', arguments.urdf.name]
    for joint, value in arguments.bandwidth:
        words += ['--bandwidth', _exact(value) if joint is None else f'{joint}={_exact(value)}']
    words += ['--rate', _exact(arguments.rate)]
    if arguments.delay is not None:
        words += ['--delay', _exact(arguments.delay)]
    if arguments.damping_ratio != 1.0:
        words += ['--damping-ratio', _exact(arguments.damping_ratio)]
    if arguments.model_error != 0.2:
        words += ['--model-error', _exact(arguments.model_error)]
    for joint, value in arguments.effort_limit:
        words += ['--effort-limit', f'{joint}={_exact(value)}']
    for option in ('flexible', 'constraints'):
        if getattr(arguments, option) is not None:
            words += [f'--{option}', getattr(arguments, option).name]
    if arguments.hold_base:
        words.append('--hold-base')
    for name, text in arguments.xacro_arg:
        words += ['--xacro-arg', f'{name}:={text}']
    return shlex.join(words)


def _exact(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    return repr(value).removesuffix('.0')


def _bandwidths(
    given: list[tuple[str | None, float]], joints: tuple[str, ...]
) -> float | dict[str, float]:
    """Return one bandwidth for all joints, or one for each joint by name."""
    common = [value for joint, value in given if joint is None]
    own = by_name('bandwidth', [(joint, value) for joint, value in given if joint is not None])
    if len(common) > 1:
        raise ParameterError('--bandwidth is given twice for all joints')
    if common and not own:
        return common[0]
    return {**(dict.fromkeys(joints, common[0]) if common else {}), **own}


def _of_joint(text: str) -> tuple[str, float]:
    joint, value = _for_joint(text)
    if joint is None:
        raise argparse.ArgumentTypeError(f'{shown(text)} is not JOINT=NUMBER')
    return joint, value


def _for_joint(text: str) -> tuple[str | None, float]:
    joint, sign, value = text.rpartition('=')
    if sign and not joint:
        raise argparse.ArgumentTypeError(f'{shown(text)} is not JOINT=NUMBER')
    return (joint if sign else None), positive_number(value)
