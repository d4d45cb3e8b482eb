# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics identify`: dynamic parameters from recordings."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kron_dynamics.bag.distinct_recordings import require_distinct
from kron_dynamics.bag.motions import motions, recorded_runs
from kron_dynamics.bag.outputs.identification_files import (
    identification_report,
    write_identification,
)
from kron_dynamics.bag.outputs.result_folder import beside
from kron_dynamics.cli.known_loads import add_known_loads, gain_joints, loaded_bags
from kron_dynamics.cli.options import (
    add_gravity,
    add_recorded_joints,
    positive_number,
    recorded_joint_options,
)
from kron_dynamics.cli.streams import print_kept, writing
from kron_dynamics.identification import KnownLoad, Motion, identify
from kron_dynamics.identification.described_elements import described_elements
from kron_dynamics.identification.friction import TERMS
from kron_dynamics.loading import loads
from kron_dynamics.model import read_urdf_file
from kron_dynamics.model.xacro_text import expanded, is_xacro
from kron_dynamics.robot import Robot

DESCRIPTION = """\
Identify masses, inertias and friction of a robot from recorded motion with efforts, and write a
URDF with them. Every body's parameters stay physically consistent; parameters that the motion does
not excite keep the URDF's values. The residuals on held-out data are compared with those of the
old URDF and of plain least squares.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        'bags', metavar='BAG', nargs='+', type=Path, help='rosbag2 directory, .mcap or .db3'
    )
    parser.add_argument(
        '--urdf', metavar='FILE', type=Path, required=True, help='the robot as described'
    )
    parser.add_argument(
        '--validate',
        metavar='BAG',
        nargs='+',
        type=Path,
        help='held-out recordings to validate on (default: the last 30 %% of each stretch of '
        'motion)',
    )
    add_gravity(parser)
    add_recorded_joints(parser)
    add_known_loads(parser)
    _add_choices(parser)
    parser.set_defaults(run=run)


def _add_choices(parser: argparse.ArgumentParser) -> None:
    """Add options whose default is chosen from the data, and the output folder."""
    parser.add_argument(
        '--friction',
        metavar='TERM',
        nargs='+',
        choices=tuple(TERMS),
        help=f'friction terms: {", ".join(TERMS)} (default: those that improve the '
        'cross-validated residuals)',
    )
    parser.add_argument(
        '--strength',
        metavar='NUMBER',
        type=positive_number,
        help="weight of the URDF's parameters as a prior (default: by cross-validation)",
    )
    parser.add_argument(
        '--output',
        metavar='DIR',
        type=Path,
        help='folder for the results (default: BAG_identification beside the first bag)',
    )


def run(arguments: argparse.Namespace) -> int:
    """Identify a robot, print the report and write its files."""
    groups, mapping = loaded_bags(arguments), recorded_joint_options(arguments)
    loaded = [bag for group in groups for bag in group.bags]
    bags = [*arguments.bags, *loaded, *(arguments.validate or ())]
    require_distinct(bags)
    text = read_urdf_file(arguments.urdf)
    robot = loads(text, path=arguments.urdf, gravity=arguments.gravity)
    if is_xacro(text, arguments.urdf):
        text = expanded(text, arguments.urdf)
    described_elements(text, robot.model)  # what cannot be written is refused before the work
    training = _motions(arguments, robot, arguments.bags)
    for group in groups:
        training += _motions(arguments, robot, group.bags, group.loads)
    held = _motions(arguments, robot, arguments.validate) if arguments.validate else None
    found = identify(
        robot,
        training,
        held,
        terms=arguments.friction,
        strength=arguments.strength,
        estimate_gains=gain_joints(arguments, robot),
    )
    print(identification_report(found, mapping['scale']))
    output = arguments.output or beside(arguments.bags[0], 'identification')
    options = {
        name: str(value) if isinstance(value, Path) else value
        for name, value in vars(arguments).items()
        if name not in ('bags', 'validate', 'loaded', 'output', 'run', 'command')
    }
    options['loaded'] = [group.summary() for group in groups]
    with writing(output):
        files, notes, kept = write_identification(
            found,
            robot.model,
            arguments.urdf,
            text,
            bags,
            options,
            output,
        )
    for note in notes:
        print(f'note: {note}')
    print(f'\nwritten  {output}: {", ".join(files)}')
    print_kept(kept)
    return 0


def _motions(
    arguments: argparse.Namespace,
    robot: Robot,
    bags: list[Path],
    loads: Sequence[KnownLoad] = (),
) -> list[Motion]:
    found = []
    for bag in bags:
        replays = recorded_runs(
            bag,
            robot,
            topics=arguments.joint_states,
            **recorded_joint_options(arguments),
        )
        for replay in replays:
            for note in replay.notes:
                print(f'note: {bag}: {note}')
            found += [
                replace(item, label=f'{bag} {item.label}', loads=tuple(loads))
                for item in motions(replay)
            ]
    return found
