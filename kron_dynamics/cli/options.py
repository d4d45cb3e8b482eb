# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path
from typing import TypedDict

from kron_dynamics.messages import shown
from kron_dynamics.model.robot_model import STANDARD_GRAVITY


class DescriptionOptions(TypedDict):
    """Options of `load` about the description itself."""

    hold_base: bool
    xacro_args: dict[str, str]
    constraints: Path | None


class RecordedJointOptions(TypedDict):
    """How the joints of a bag are those of the model, as readers of bags take it."""

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
    """Return a type of options: a whole number in a range, its ends included."""

    def parsed(text: str) -> int:
        is_short = text.isascii() and text.isdecimal() and len(text) <= len(str(highest))
        if not is_short or not lowest <= int(text) <= highest:
            raise argparse.ArgumentTypeError(
                f'{shown(text)} is not a whole number from {lowest} to {highest}'
            )
        return int(text)

    return parsed


def name_pair(text: str) -> tuple[str, str]:
    """Return the two names of 'recorded=model'."""
    recorded, equals, model = text.partition('=')
    if not (recorded and equals and model):
        raise argparse.ArgumentTypeError(f'{shown(text)} is not RECORDED=MODEL')
    return recorded, model


def scale_pair(text: str) -> tuple[str, float | str]:
    """Return the joint of 'joint=factor' and its factor, or the name of a unit."""
    joint, equals, factor = text.rpartition('=')
    if not (joint and equals and factor):
        raise argparse.ArgumentTypeError(f'{shown(text)} is not JOINT=FACTOR')
    try:
        return joint, float(factor)
    except ValueError:
        return joint, factor


def held_joint(text: str) -> tuple[str, float]:
    """Return joint and position of 'joint=position'."""
    joint, equals, position = text.rpartition('=')
    if not (joint and equals and position):
        raise argparse.ArgumentTypeError(f'{shown(text)} is not JOINT=POSITION')
    return joint, finite_number(position)


def xacro_argument(text: str) -> tuple[str, str]:
    """Return name and value of ``name:=value``."""
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
        help='hold a floating or planar base where it is',
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
        help='what closes loops and couples joints, and which joints have a drive: YAML, MJCF, '
        'SDF or URDF+',
    )


def description_options(arguments: argparse.Namespace) -> DescriptionOptions:
    """Return the options of `load` that `add_urdf` reads."""
    return {
        'hold_base': arguments.hold_base,
        'xacro_args': dict(arguments.xacro_arg),
        'constraints': arguments.constraints,
    }


def add_flexible(parser: argparse.ArgumentParser) -> None:
    """Add ``--flexible FILE``."""
    parser.add_argument(
        '--flexible', metavar='FILE', type=Path, help='description of the flexible links, YAML'
    )


def beside(bag: Path, what: str) -> Path:
    """Return the folder beside a bag that its results go to where none is named.

    Args:
        bag: folder or file.
        what: they are, such as 'analysis'.
    """
    bag = bag.resolve()
    return bag.with_name(f'{bag.name if bag.is_dir() else bag.stem}_{what}')


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
    """Add the options that say how the joints of a bag are those of the model."""
    parser.add_argument(
        '--joint-states',
        metavar='TOPIC',
        action='append',
        default=[],
        help='JointState topic to use; may be repeated, also for topics that have the joints '
        'together (default: all that cover the robot, else those that do so together)',
    )
    parser.add_argument(
        '--hold',
        metavar='JOINT=POSITION',
        type=held_joint,
        action='append',
        default=[],
        help='where a joint stands still that is not recorded, rad or m; may be repeated',
    )
    parser.add_argument(
        '--rename',
        metavar='RECORDED=MODEL',
        type=name_pair,
        action='append',
        default=[],
        help='what a joint of the bag is called in the model; may be repeated, and be a pattern, '
        "'fer_joint*=panda_joint*'",
    )
    parser.add_argument(
        '--scale',
        metavar='JOINT[:QUANTITY]=FACTOR',
        type=scale_pair,
        action='append',
        default=[],
        help='by what the numbers of a joint or a pattern are multiplied: a number, -1 for the '
        'other sign, or a unit (deg, rev, rpm, mm, kN, mN); may be repeated. QUANTITY is '
        'position, velocity or effort (default: all, of a unit those that it fits)',
    )


def recorded_joint_options(arguments: argparse.Namespace) -> RecordedJointOptions:
    """Return what `add_recorded_joints` reads, but for the topics."""
    return {
        'rename': dict(arguments.rename),
        'scale': dict(arguments.scale),
        'hold': dict(arguments.hold),
    }
