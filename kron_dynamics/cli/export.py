# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics export`: a robot's functions as a C library for real-time loops."""

from __future__ import annotations

import argparse
from pathlib import Path

from kron_dynamics.cli.options import add_flexible, add_gravity, add_urdf, description_options
from kron_dynamics.export import export_library, write_export
from kron_dynamics.loading import load

DESCRIPTION = """\
Write the compiled quantities of a robot to a folder as a C11 library without dependencies, with a
C++17/Eigen wrapper, a self-test, and the files of a CMake project and ament_cmake package. Only an
earlier, unmodified export is overwritten.
"""


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.description = DESCRIPTION
    add_urdf(parser)
    add_flexible(parser)
    add_gravity(parser)
    parser.add_argument(
        '--output',
        metavar='DIR',
        type=Path,
        required=True,
        help='new folder, or folder of an earlier export',
    )
    parser.add_argument(
        '--prefix',
        metavar='NAME',
        help="prefix of all names in C (default: the robot's name as an identifier)",
    )
    parser.add_argument(
        '--frame',
        metavar='LINK',
        action='append',
        default=[],
        help='link whose pose, Jacobian, velocity and control step are exported; may be repeated',
    )
    parser.add_argument(
        '--quantity',
        metavar='NAME',
        nargs='+',
        action='extend',
        default=[],
        help='methods of Robot and RobotFrame to export instead of the default ones',
    )
    parser.add_argument(
        '--payload-inputs',
        metavar='LINK',
        nargs='*',
        help='make the payloads of these links an argument of the functions (without LINK: the '
        'links of --frame, else the tip)',
    )
    parser.add_argument(
        '--real',
        choices=('double', 'float'),
        default='double',
        help='type of all numbers (default: %(default)s)',
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the library and print its contents.

    Raises:
        ModelError: the description is unusable.
        UnknownFrameError: the robot has no such link.
        ParameterError: an option names an unknown quantity, or the folder is not an unmodified
            export.
        KronDynamicsError: the folder cannot be written.
    """
    robot = load(
        arguments.urdf,
        gravity=arguments.gravity,
        flexible=arguments.flexible,
        **description_options(arguments),
    )
    payload_links = arguments.payload_inputs or []
    if arguments.payload_inputs == []:
        payload_links = arguments.frame or [robot.model.tip_link]
    library = export_library(
        robot,
        prefix=arguments.prefix,
        frames=arguments.frame,
        quantities=arguments.quantity,
        payload_links=payload_links,
        real=arguments.real,
    )
    write_export(library, arguments.output)
    print(f'package   {library.package}')
    print(f'model     {robot.model.fingerprint}')
    for carrier, links in library.carriers.items():
        print(f"payload   of {', '.join(links)}: ten parameters about the origin of '{carrier}'")
    for function in library.functions:
        extra = f', workspace {function.code.workspace}' if function.code.workspace else ''
        print(
            f'function  {library.prefix}_{function.name}: {function.operations} operations{extra}'
        )
    print(f'\nwritten   {arguments.output}')
    return 0
