# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Measurement of the time that a kernel's call takes."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from typing import Any

from kron_dynamics.typing import FloatArray

_ROUND = 2e-3  # duration of one repetition, s
_ROUNDS = 5  # repetitions, of which the fastest counts


def seconds_per_call(call: Callable[..., Any], arguments: Sequence[FloatArray]) -> float:
    """Return the time of one call into preallocated arrays, s: the best of a few repetitions.

    Args:
        call: the kernel's call, with the keyword `out` for its results.
        arguments: float64 arrays.
    """
    names = ', '.join(f'x{k}' for k in range(len(arguments)))
    values = {f'x{k}': array for k, array in enumerate(arguments)}
    out = call(*arguments)
    timer = timeit.Timer(f'call({names}, out=out)', globals={'call': call, 'out': out, **values})
    number = max(1, int(_ROUND / timer.timeit(1)))
    return min(timer.repeat(_ROUNDS, number)) / number
