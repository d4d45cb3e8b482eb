# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What all generated C has in common."""

from __future__ import annotations

from math import isfinite

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.sources import read_beside

# From this many angles on a vector of them is quicker than one after the other.
WIDE_ANGLES = 5


def prelude() -> str:
    """Return the C text that every translation unit stands on."""
    return read_beside(__file__, 'prelude.h')


def symbol(k: int) -> str:
    """Return the name of the function for trace k of a unit."""
    return f'kernel_{k}'


def literal(value: float) -> str:
    """Return a constant's text: the shortest that reads back as the same double.

    Raises:
        KernelBuildError: it is not finite.
    """
    if not isfinite(value):
        raise KernelBuildError(f'a constant of the model overflows: {value}')
    return f'({value!r})' if value < 0 else repr(value)
