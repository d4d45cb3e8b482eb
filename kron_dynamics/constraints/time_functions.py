# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Prescribed signals over time: numbers, or functions with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from kron_dynamics.arguments import finite_array, real_array
from kron_dynamics.dual import derivatives_of
from kron_dynamics.exceptions import ConstraintError
from kron_dynamics.messages import named
from kron_dynamics.typing import FloatArray

# Function of the time in s, written with +, -, *, /, integer powers, sin, cos and tanh.
TimeFunction = Callable[[Any], Any]
Signal = float | tuple[float, ...] | TimeFunction


def signal_derivatives(
    signal: Signal, t: float, size: int, constraint: str, order: int = 2
) -> list[FloatArray]:
    """Return the value and the time derivatives of a signal, shape (size,) each.

    Args:
        signal: one number for all entries, `size` numbers, or a function of time with such values.
        t: time, s.
        size: number of entries.
        constraint: name of the constraint, for messages.
        order: order of the highest derivative.

    Raises:
        ConstraintError: the signal has another shape, or its function fails.
    """
    if callable(signal):
        function = signal
        try:
            values = derivatives_of(lambda x: function(x[0]), np.array([float(t)]), order)
        except Exception as error:  # a user's function may raise anything
            raise ConstraintError(
                f'{named("constraint", constraint)}: its function of time: {reason(error)}'
            ) from error
    else:
        value = real_array(signal, f'what {named("constraint", constraint)} prescribes')
        values = [value, *[np.zeros(value.shape)] * order]
    shape = np.shape(values[0])
    if shape not in ((), (1,), (size,)):
        raise ConstraintError(
            f'{named("constraint", constraint)}: what it prescribes has shape {shape}, expected '
            f'({size},)'
        )
    name = f'what {named("constraint", constraint)} prescribes'
    flat = [np.broadcast_to(np.ravel(value), (size,)) for value in values]
    return [finite_array(np.array(value, dtype=float), name) for value in flat]


def reason(error: Exception) -> str:
    """Return the message of an error; the name of its type if it is empty, as of `assert`."""
    return str(error) or type(error).__name__
