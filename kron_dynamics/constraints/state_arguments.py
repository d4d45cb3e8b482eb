# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments of constrained robots: vectors of a length, times, joints by name."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from kron_dynamics.arguments import finite_array, real_number
from kron_dynamics.exceptions import ArgumentTypeError, ConstraintError, NonFiniteError, ShapeError
from kron_dynamics.messages import listed, shown
from kron_dynamics.typing import FloatArray


def state_vector(values: object, name: str, length: int) -> FloatArray:
    """Return finite numbers as a new array, shape (length,), in their own unit.

    Raises:
        ArgumentTypeError: the values are not real numbers.
        ShapeError: they have another shape.
        NonFiniteError: a value is NaN or infinite.
    """
    array = finite_array(values, name)
    if array.shape != (length,):
        raise ShapeError(f'{name} has shape {array.shape}, expected ({length},)')
    return array.astype(np.float64, copy=True)


def finite_time(value: object, name: str = 't') -> float:
    """Return a time, s.

    Raises:
        ArgumentTypeError: it is no real number.
        ShapeError: there are several.
        NonFiniteError: it is NaN or infinite.
    """
    time = real_number(value, name)
    if not math.isfinite(time):
        raise NonFiniteError(f'{name} is {time}, expected a finite time in s')
    return time


def joint_numbers(joints: Iterable[str], name: str, known: tuple[str, ...]) -> tuple[int, ...]:
    """Return the indices of joints in the list of known ones.

    Raises:
        ArgumentTypeError: joints is one name, or no names at all.
        ConstraintError: a joint is unknown, or named twice.
    """
    if isinstance(joints, str) or not isinstance(joints, Iterable):
        raise ArgumentTypeError(f'{name} is {shown(joints)}, expected a list of names of joints')
    names = tuple(joints)
    wrong = [joint for joint in names if joint not in known]
    if wrong or len(set(names)) < len(names):
        what = f'no joints with a coordinate: {listed(map(shown, wrong))}' if wrong else 'twice'
        raise ConstraintError(f'{name} names {what}; expected some of {listed(known)}, once')
    return tuple(known.index(joint) for joint in names)


def independent_numbers(
    joints: Iterable[str], known: tuple[str, ...], degrees: int
) -> tuple[int, ...]:
    """Return the indices of joints whose rates are to be the independent speeds.

    Args:
        joints: their names.
        known: names of all n coordinates.
        degrees: number m of degrees of freedom.

    Raises:
        ArgumentTypeError: joints is one name, or no names at all.
        ConstraintError: they are not m different joints with a coordinate.
    """
    numbers = joint_numbers(joints, 'independent', known)
    if len(numbers) != degrees:
        raise ConstraintError(
            f'independent has {len(numbers)} joints, expected {degrees}: {len(known)} coordinates '
            f'with {len(known) - degrees} independent conditions'
        )
    return numbers
