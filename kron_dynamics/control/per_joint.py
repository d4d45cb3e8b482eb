# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Vectors with one entry per joint: reordered by joint name and checked, with named errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from kron_dynamics.exceptions import JointNamesError, ParameterError
from kron_dynamics.messages import listed
from kron_dynamics.typing import ArrayLike, FloatArray, IndexArray


def reorder(names_given: Sequence[str], names_wanted: Sequence[str]) -> IndexArray:
    """Return the index array that brings columns given by name into the wanted order.

    ``positions[:, reorder(message_names, robot.joint_names)]`` has the robot's columns.

    Args:
        names_given: joint names of the columns.
        names_wanted: joint names in the wanted order.

    Returns:
        Indices, shape (len(names_wanted),), with names_given[index[i]] == names_wanted[i].

    Raises:
        JointNamesError: a name given is unknown or repeated, or a name wanted is missing.
    """
    position = {name: i for i, name in enumerate(names_given)}
    wanted = set(names_wanted)
    problems = []
    if repeated := repeated_names(names_given):
        problems.append(f'repeated: {_quoted(repeated)}')
    if unknown := [name for name in position if name not in wanted]:
        problems.append(f'unknown: {_quoted(unknown)}')
    if missing := [name for name in names_wanted if name not in position]:
        problems.append(f'missing: {_quoted(missing)}')
    if problems:
        raise JointNamesError(
            f'joint names do not match: {"; ".join(problems)} (expected {_quoted(names_wanted)})'
        )
    return np.array([position[name] for name in names_wanted], dtype=np.intp)


def repeated_names(names: Sequence[str]) -> list[str]:
    """Return the names that occur more than once, without repetition, in order of appearance."""
    return [name for name, count in Counter(names).items() if count > 1]


def positive_per_joint(
    label: str,
    values: ArrayLike,
    joint_names: Sequence[str],
    *,
    zero_allowed: bool = False,
    infinity_allowed: bool = False,
) -> FloatArray:
    """Return a parameter with one positive number per joint as a read-only array.

    Args:
        label: the parameter's name, for the message.
        values: the numbers, shape (n,), in the order of joint_names.
        joint_names: the n joint names.
        zero_allowed: whether 0 is valid.
        infinity_allowed: whether +inf (no limit) is valid.

    Returns:
        A copy, shape (n,).

    Raises:
        ParameterError: the shape is wrong or an entry cannot be used; names each joint.
    """
    array = np.array(values, dtype=np.float64)
    if array.shape != (len(joint_names),):
        raise ParameterError(
            f'{label} has shape {array.shape}, expected ({len(joint_names)},): '
            f'one value for each of {_quoted(joint_names)}'
        )
    usable = array >= 0.0 if zero_allowed else array > 0.0
    if not infinity_allowed:
        usable &= np.isfinite(array)
    if not usable.all():
        got = ', '.join(
            f'{joint_names[i]!r}: {array[i]:g}' for i in np.flatnonzero(~usable).tolist()
        )
        expected = 'a number of 0 or more' if zero_allowed else 'a number above 0'
        if infinity_allowed:
            expected += ' (or inf)'
        raise ParameterError(f'{label} cannot be used for {got}; expected {expected}')
    array.setflags(write=False)
    return array


def _quoted(names: Iterable[str]) -> str:
    return listed(repr(name) for name in names)
