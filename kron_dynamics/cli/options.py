# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Command-line options shared by several commands."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict, TypeVar

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.messages import clipped, shown
from kron_dynamics.model.robot_model import STANDARD_GRAVITY

Value = TypeVar('Value')


class DescriptionOptions(TypedDict):
    """Options of `load` about the description itself."""

    hold_base: bool
    xacro_args: dict[str, str]
    constraints: Path | None


class RecordedJointOptions(TypedDict):
    """Mapping of a bag's joints to the model's, keyword arguments of the bag readers."""

    rename: dict[str, str]
    scale: dict[str, float | str]
    hold: dict[str, float]


def finite_number(text: str) -> float:
    """Return a number that is neither infinite nor NaN."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f'{shown(text)} is not a finite number')
    return value


def positive_number(text: str) -> float:
    """Return a finite number above zero."""
    value = finite_number(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f'{shown(text)} is not above zero')
    return value


def whole_number(lowest: int, highest: int) -> Callable[[str], int]:
    """Return an argparse type: whole numbers from `lowest` to `highest`, both included."""

    def parsed(text: str) -> int:
        is_short = text.isascii() and text.isdecimal() and len(text) <= len(str(highest))
        if not is_short or not lowest <= int(text) <= highest:
            raise argparse.ArgumentTypeError(
                f'{shown(text)} is not a whole number from {lowest} to {highest}'
            )
        return int(text)

    return parsed


def name_pair(text: str) -> tuple[str, str]:
    """Parse 'recorded=model' into two names."""
    recorded, equals, model = text.partition('=')
    if not (recorded and equals and model):
        raise argparse.ArgumentTypeError(f'{shown(text)} is not RECORDED=MODEL')
    return recorded, model


def scale_pair(text: str) -> tuple[str, float | str]:
    """Parse 'joint=factor' into the joint and its factor or the name of a unit."""
    joint, equals, factor = text.rpartition('=')
    if not (joint and equals and factor):
        raise argparse.ArgumentTypeError(f'{shown(text)} is not JOINT=FACTOR')
    try:
        return joint, float(factor)
    except ValueError:
        return joint, factor


def held_joint(text: str) -> tuple[str, float]:
    """Parse 'joint=position' into joint and position."""
    joint, equals, position = text.rpartition('=')
    if not (joint and equals and position):
        raise argparse.ArgumentTypeError(f'{shown(text)} is not JOINT=POSITION')
    return joint, finite_number(position)


def xacro_argument(text: str) -> tuple[str, str]:
    """Parse ``name:=value`` into name and value."""
    name, separator, value = text.partition(':=')
    if not (name and separator):
        raise argparse.ArgumentTypeError(f"'{text}' is not name:=value")
    return name, value


def add_urdf(parser: argparse.ArgumentParser) -> None:
    """Add ``URDF``, ``--constraints``, ``--hold-base`` and ``--xacro-arg NAME:=VALUE``."""
    parser.add_argument(
        'urdf', metavar='URDF', type=Path, help='robot description file, URDF or xacro'
    )
    add_constraints(parser)
    parser.add_argument(
        '--hold-base',
        action='store_true',
        help='fix a floating or planar base at its zero position',
    )
    parser.add_argument(
        '--xacro-arg',
        metavar='NAME:=VALUE',
        type=xacro_argument,
        action='append',
        default=[],
        help='value of an argument of a xacro file; may be repeated',
    )


def add_constraints(parser: argparse.ArgumentParser) -> None:
    """Add ``--constraints FILE``."""
    parser.add_argument(
        '--constraints',
        metavar='FILE',
        type=Path,
        help='loop closures, joint couplings and the joints with a drive: YAML, MJCF, SDF or '
        'URDF+',
    )


def description_options(arguments: argparse.Namespace) -> DescriptionOptions:
    """Return the options of `load` that `add_urdf` reads."""
    return {
        'hold_base': arguments.hold_base,
        'xacro_args': by_name('xacro-arg', arguments.xacro_arg),
        'constraints': arguments.constraints,
    }


def add_flexible(parser: argparse.ArgumentParser) -> None:
    """Add ``--flexible FILE``."""
    parser.add_argument(
        '--flexible', metavar='FILE', type=Path, help='description of the flexible links, YAML'
    )


def add_gravity(parser: argparse.ArgumentParser) -> None:
    """Add ``--gravity X Y Z``."""
    parser.add_argument(
        '--gravity',
        nargs=3,
        type=finite_number,
        metavar=('X', 'Y', 'Z'),
        default=STANDARD_GRAVITY,
        help='gravity acceleration in the axes of the root link, in m/s^2 '
        f'(default: {" ".join(f"{value:g}" for value in STANDARD_GRAVITY)})',
    )


def add_recorded_joints(parser: argparse.ArgumentParser) -> None:
    """Add the options that map a bag's joints to the model's."""
    parser.add_argument(
        '--joint-states',
        metavar='TOPIC',
        action='append',
        default=[],
        help='JointState topic to use; may be repeated, also for topics that cover the joints '
        'only together (default: all that cover the robot, but identify and payload need the only '
        'one; else those that do so together)',
    )
    parser.add_argument(
        '--hold',
        metavar='JOINT=POSITION',
        type=held_joint,
        action='append',
        default=[],
        help='fixed position of a joint that is not recorded, rad or m; may be repeated',
    )
    parser.add_argument(
        '--rename',
        metavar='RECORDED=MODEL',
        type=name_pair,
        action='append',
        default=[],
        help="the model's name of a recorded joint; may be repeated, and be a pattern such as "
        "'fer_joint*=panda_joint*'",
    )
    parser.add_argument(
        '--scale',
        metavar='JOINT[:QUANTITY]=FACTOR',
        type=scale_pair,
        action='append',
        default=[],
        help='factor for the recorded values of a joint or pattern: a number (-1 flips the sign) '
        'or the recorded unit (deg, rev, rpm, mm, kN, mN); may be repeated. QUANTITY is position, '
        'velocity or effort (default: all, for a unit all that have it)',
    )


def recorded_joint_options(arguments: argparse.Namespace) -> RecordedJointOptions:
    """Return the options of `add_recorded_joints` except the topics.

    Raises:
        ParameterError: an option has two values for one name.
    """
    return {
        'rename': by_name('rename', arguments.rename),
        'scale': by_name('scale', arguments.scale),
        'hold': by_name('hold', arguments.hold),
    }


def by_name(option: str, pairs: Sequence[tuple[str, Value]]) -> dict[str, Value]:
    """Return the values of an option by name.

    Args:
        option: its name without dashes.
        pairs: names and values.

    Raises:
        ParameterError: a name has two values.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(name for name in found if [key for key, _ in pairs].count(name) > 1)
        raise ParameterError(f"--{option} of '{clipped(twice)}' is given twice, expected once")
    return found
