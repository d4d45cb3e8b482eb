# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Options of `identify` for known loads and the drive gains that they determine."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kron_dynamics.cli.options import finite_number
from kron_dynamics.exceptions import KronDynamicsError, ParameterError
from kron_dynamics.identification import KnownLoad
from kron_dynamics.messages import shown
from kron_dynamics.model.payload import RigidPayload
from kron_dynamics.robot import Robot

# Count of numbers of a load: mass and centre of mass only, or with inertia.
POINT, BODY = 4, 10


@dataclass
class LoadedBags:
    """Recordings during which the robot carried the same loads.

    Attributes:
        bags: rosbag2 directories or files.
        loads: loads that were carried.
    """

    bags: list[Path]
    loads: list[KnownLoad] = field(default_factory=list)

    def summary(self) -> dict[str, Any]:
        """Return the recordings and loads as JSON-compatible values."""
        loads = [
            {
                'link': load.link,
                'mass': load.payload.mass,
                'center_of_mass': load.payload.center_of_mass,
                'inertia': load.payload.inertia if load.has_inertia else None,
            }
            for load in self.loads
        ]
        return {'bags': list(map(str, self.bags)), 'loads': loads}


class _AppendBags(argparse.Action):
    """Action of ``--loaded``: starts a group of recordings."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        groups = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*groups, LoadedBags(values)])


class _AppendLoad(argparse.Action):
    """Action of ``--load``: adds a load to the last group of recordings."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        groups = getattr(namespace, self.dest)
        if not groups:
            parser.error('--load must follow the --loaded recordings that it applies to')
        last = groups[-1]
        setattr(namespace, self.dest, [*groups[:-1], LoadedBags(last.bags, [*last.loads, values])])


def _load(text: str) -> KnownLoad:
    """Parse 'link=mass,x,y,z' or 'link=mass,x,y,z,ixx,ixy,ixz,iyy,iyz,izz' into a load."""
    link, separator, numbers = text.rpartition('=')
    values = numbers.split(',')
    if not (link and separator and len(values) in (POINT, BODY)):
        raise argparse.ArgumentTypeError(
            f'{shown(text)} is not LINK=MASS,X,Y,Z, with or without IXX,IXY,IXZ,IYY,IYZ,IZZ'
        )
    mass, *rest = map(finite_number, values)
    inertia = np.zeros((3, 3))
    if len(values) == BODY:
        inertia[np.triu_indices(3)] = rest[3:]
        inertia = inertia + np.triu(inertia, 1).T
    try:
        return KnownLoad(
            link, RigidPayload(mass, np.array(rest[:3]), inertia), len(values) == BODY
        )
    except KronDynamicsError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_known_loads(parser: argparse.ArgumentParser) -> None:
    """Add ``--loaded``, ``--load`` and ``--estimate-gains``."""
    parser.add_argument(
        '--loaded',
        metavar='BAG',
        nargs='+',
        type=Path,
        action=_AppendBags,
        default=[],
        help='training recordings in which the robot carried the loads of the following --load '
        'options; may be repeated',
    )
    parser.add_argument(
        '--load',
        metavar='LINK=MASS,X,Y,Z[,IXX,IXY,IXZ,IYY,IYZ,IZZ]',
        type=_load,
        action=_AppendLoad,
        dest='loaded',
        default=argparse.SUPPRESS,
        help='load of a link in the preceding --loaded recordings: mass, kg; centre of mass in '
        'the frame of the link, m; inertia about the centre of mass, kg m^2 (default: estimated); '
        'may be repeated',
    )
    parser.add_argument(
        '--estimate-gains',
        metavar='JOINT',
        nargs='*',
        help='joints (default: all) whose recorded efforts are not in N m or N, such as motor '
        'currents: estimate the factor; needs recordings with and without a known load',
    )


def loaded_bags(arguments: argparse.Namespace) -> list[LoadedBags]:
    """Return the recordings with their loads.

    Raises:
        ParameterError: a group of recordings has no load.
    """
    groups: list[LoadedBags] = arguments.loaded
    for group in groups:
        if not group.loads:
            raise ParameterError(
                f"the load carried in '{group.bags[0]}' is missing: give --load after --loaded"
            )
    return groups


def gain_joints(arguments: argparse.Namespace, robot: Robot) -> Sequence[str]:
    """Return the names of the joints whose gains are to be estimated.

    Args:
        arguments: parsed arguments.
        robot: robot with these joints.
    """
    if arguments.estimate_gains is None:
        return ()
    return arguments.estimate_gains or robot.joint_names
