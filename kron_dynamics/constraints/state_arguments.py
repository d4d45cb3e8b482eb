# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of arguments of constrained robots: vectors of a length, and joints by name."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kron_dynamics.arguments import finite_array
from kron_dynamics.exceptions import ConstraintError, ShapeError
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


def joint_numbers(joints: Iterable[str], name: str, known: tuple[str, ...]) -> tuple[int, ...]:
    """Return the indices of joints in the list of known ones.

    Raises:
        ConstraintError: a joint is unknown, or named twice.
    """
    names = tuple(joints)
    wrong = [joint for joint in names if joint not in known]
    if wrong or len(set(names)) < len(names):
        what = f'no joints with a coordinate: {listed(map(shown, wrong))}' if wrong else 'twice'
        raise ConstraintError(f'{name} names {what}; expected some of {listed(known)}, once')
    return tuple(known.index(joint) for joint in names)
