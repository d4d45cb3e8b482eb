# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TypeAlias

from kron_dynamics.messages import shown
from kron_dynamics.model.robot_model import STANDARD_GRAVITY

Commands: TypeAlias = 'argparse._SubParsersAction[argparse.ArgumentParser]'


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
