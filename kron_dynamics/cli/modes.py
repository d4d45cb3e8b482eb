# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics modes`: natural frequencies against pose or payload."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from kron_dynamics.cli.options import (
    add_flexible,
    add_gravity,
    add_urdf,
    by_name,
    description_options,
    finite_number,
    whole_number,
)
from kron_dynamics.cli.output_files import check_outputs, output_file
from kron_dynamics.cli.streams import print_kept, require_plots
from kron_dynamics.exceptions import ModelError, ModelWarning, ParameterError
from kron_dynamics.loading import loads
from kron_dynamics.messages import shown
from kron_dynamics.model import read_urdf_file
from kron_dynamics.model.flexible_description import flexible_content
from kron_dynamics.modes import (
    ModeMap,
    check_mode_counts,
    joint_map,
    joint_range,
    most_influential_joint,
    payload_map,
)
from kron_dynamics.modes.export import format_map, write_csv
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

_MAX_POINTS = 100_000
_COUNT = whole_number(2, _MAX_POINTS)
_MAX_MASS = 1e12  # kg

DESCRIPTION = """\
Print the natural frequencies and damping ratios of a robot with flexible links along a sweep of
one joint, or of a payload's mass, about the static deflection of the links. A mode is named after
the coordinate that dominates it at the start of the sweep, and is tracked by its mode shape. Warns
of links with too few modes for accurate first frequencies, and of large deflections.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_urdf(parser)
    add_flexible(parser)
    swept = parser.add_mutually_exclusive_group()
    swept.add_argument(
        '--sweep',
        metavar='JOINT',
        help='joint to sweep (default: the one that changes a frequency most)',
    )
    swept.add_argument(
        '--masses',
        metavar='FROM:TO:COUNT',
        type=_masses,
        help='sweep the mass of a payload instead, in kg',
    )
    parser.add_argument(
        '--range',
        metavar=('FROM', 'TO'),
        nargs=2,
        type=finite_number,
        help='range of the swept joint, in rad or m (default: its limits)',
    )
    parser.add_argument(
        '--points',
        metavar='COUNT',
        type=_COUNT,
        help='number of positions in the range (default: 41)',
    )
    parser.add_argument(
        '--at',
        metavar='JOINT=POSITION',
        type=_position,
        action='append',
        default=[],
        help='position of another joint, in rad or m; may be repeated (default: 0, or the middle '
        'of a range without 0)',
    )
    parser.add_argument(
        '--payload', metavar='LINK', help='link that carries the payload (default: the tip)'
    )
    parser.add_argument(
        '--joints',
        choices=('held', 'free'),
        default='held',
        help='held: drives hold the joints fixed; free: only gravity and viscous joint damping '
        'act on the joints (default: %(default)s)',
    )
    add_gravity(parser)
    parser.add_argument('--csv', metavar='FILE', type=Path, help='write the table to this file')
    parser.add_argument(
        '--plot', metavar='FILE', type=Path, help='plot the curves into this file, .png or .svg'
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Print the table and write its files.

    Raises:
        ModelError: a description is unusable, or the robot has no vibrations.
        ParameterError: an option names an unknown joint or link, or options exclude each other.
    """
    check_outputs(arguments, 'csv', 'plot')
    if arguments.plot is not None:
        from kron_dynamics.modes.plot import check_picture

        check_picture(arguments.plot)
        require_plots('or omit --plot')
    with warnings.catch_warnings():
        warnings.simplefilter('always', ModelWarning)
        return _run(arguments)


def _run(arguments: argparse.Namespace) -> int:
    # Read once for all payloads: a pipe is empty the second time.
    arguments.text = read_urdf_file(arguments.urdf)
    if arguments.flexible is not None:
        arguments.flexible = flexible_content(arguments.flexible)
    robot = _loaded(arguments)
    if not robot.model.is_flexible and arguments.joints == 'held':
        raise ModelError(
            'without --flexible all links are rigid, and with its joints held the robot does not '
            'vibrate: give a description of its flexible links with --flexible, or let gravity '
            'alone hold the joints with --joints free'
        )
    if arguments.masses is None:
        found = _over_joint(robot, arguments)
    else:
        found = _over_payload(robot, arguments)
    print(f'robot    {robot.model.name}, joints {arguments.joints}')
    print('\n'.join(format_map(found)))
    if (found.frequencies < 0).any():
        print('negative: no frequency; minus the rate of growth in 1/s over 2 pi')
    _write_files(found, f'{robot.model.name}, joints {arguments.joints}', arguments)
    if robot.model.is_flexible:
        # Last, as it fails for links that buckle when straight, but not bent.
        _check_mode_counts(robot, arguments)
    return 0


def _loaded(
    arguments: argparse.Namespace,
    payload: dict[str, float] | None = None,
    flexible: Mapping[str, object] | None = None,
) -> Robot:
    return loads(
        arguments.text,
        path=arguments.urdf,
        gravity=arguments.gravity,
        flexible=arguments.flexible if flexible is None else flexible,
        payload=payload,
        **description_options(arguments),
    )


def _check_mode_counts(robot: Robot, arguments: argparse.Namespace) -> None:
    payload = None
    if arguments.masses is not None:
        # The heaviest payload needs the most modes.
        payload = {_carrier(robot, arguments): float(arguments.masses[-1])}
    for finding in check_mode_counts(
        lambda flexible: _loaded(arguments, payload, flexible),
        arguments.flexible,
        at=by_name('at', arguments.at),
    ):
        warnings.warn(finding, stacklevel=1)


def _carrier(robot: Robot, arguments: argparse.Namespace) -> str:
    """Return the link that carries the payload."""
    return robot.model.tip_link if arguments.payload is None else arguments.payload


def _over_joint(robot: Robot, arguments: argparse.Namespace) -> ModeMap:
    if arguments.payload is not None:
        raise ParameterError('--payload needs --masses')
    at, free = by_name('at', arguments.at), arguments.joints == 'free'
    joint = arguments.sweep
    if joint is None:
        if arguments.range is not None:
            raise ParameterError('--range needs --sweep JOINT')
        joint = most_influential_joint(robot, at=at, free=free)
    lower, upper = arguments.range or joint_range(robot.model, joint)
    if not lower < upper:
        raise ParameterError(f'--range is {lower:g} to {upper:g}, expected an increasing one')
    values = np.linspace(lower, upper, arguments.points or 41)
    return joint_map(robot, joint, values, at=at, free=free)


def _over_payload(robot: Robot, arguments: argparse.Namespace) -> ModeMap:
    for option in ('range', 'points'):
        if getattr(arguments, option) is not None:
            raise ParameterError(f'--{option} is for a joint; --masses has its own range')
    link = _carrier(robot, arguments)
    return payload_map(
        lambda mass: _loaded(arguments, {link: mass}),
        link,
        arguments.masses,
        at=by_name('at', arguments.at),
        free=arguments.joints == 'free',
    )


def _write_files(found: ModeMap, title: str, arguments: argparse.Namespace) -> None:
    kept = list[str]()
    if arguments.csv is not None:
        with output_file(arguments.csv, kept) as file:
            write_csv(found, file)
    if arguments.plot is not None:
        from kron_dynamics.modes.plot import plot_mode_map

        with output_file(arguments.plot, kept) as file:
            plot_mode_map(found, file, title=title)
    files = [str(path) for path in (arguments.csv, arguments.plot) if path is not None]
    if files:
        print(f'\nwritten  {", ".join(files)}')
    print_kept(kept)


def _position(text: str) -> tuple[str, float]:
    joint, sign, position = text.rpartition('=')
    if not sign:
        raise argparse.ArgumentTypeError(f'{shown(text)} is not JOINT=POSITION')
    return joint, finite_number(position)


def _masses(text: str) -> FloatArray:
    parts = text.split(':')
    if len(parts) != 3:
        raise argparse.ArgumentTypeError(f'{shown(text)} is not FROM:TO:COUNT')
    lower, upper = map(finite_number, parts[:2])
    if not 0 <= lower < upper:
        raise argparse.ArgumentTypeError(f'{shown(text)} is not an increasing range of masses')
    if upper > _MAX_MASS:
        raise argparse.ArgumentTypeError(f'{shown(text)} goes beyond {_MAX_MASS:g} kg')
    return np.linspace(lower, upper, _COUNT(parts[2]))
