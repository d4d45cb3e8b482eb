# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Calls `stepper.c` for one machine: memory layout, kernel addresses and step calls."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

import numpy as np

from kron_dynamics.simulation.motion import BRAKE_RATE, Motion
from kron_dynamics.typing import FloatArray

# Steps per C call; between calls Python handles interrupts (Ctrl-C).
_AT_ONCE = 10_000
# Alignment of the memory, bytes: enough for SIMD vectors of any width, and always the same, so
# that results do not depend on where the memory lies.
_ALIGNMENT = 64
_KERNELS = ('joint_friction', 'forward_dynamics', 'inverse_dynamics', 'mass_matrix')


class _Machine(ctypes.Structure):
    """The struct `Machine` of stepper.c."""

    _fields_ = (
        *((name, ctypes.c_ssize_t) for name in ('n', 'joints', 'brakes_set')),
        *((name, ctypes.c_void_p) for name in _KERNELS),
        *((name, ctypes.c_double) for name in ('brake_rate', 'stop_frequency')),
        *((name, ctypes.c_void_p) for name in ('effort', 'lower', 'upper')),
        *((name, ctypes.c_void_p) for name in ('q', 'qd', 'qdd', 'work')),
    )


class Stepper:
    """A machine's motion in C: `Motion.after` with the same arguments, equal up to rounding.

    Equal arguments give bit-identical results, independent of earlier calls and of how the steps
    are divided among calls.
    """

    def __init__(
        self, motion: Motion, brakes_set: bool, kernels: Sequence[int], steps: int
    ) -> None:
        """Allocate the memory.

        Args:
            motion: motion to compute.
            brakes_set: whether brakes are engaged.
            kernels: addresses of the kernels, in the order of `kernel_names`.
            steps: address of `kron_steps`.
        """
        self._motion = motion
        n = len(motion.lower)
        sizes = {
            **dict.fromkeys(('effort', 'lower', 'upper', 'q', 'qd', 'qdd'), n),
            'work': 8 * n + 2 * n * n,
        }
        self._memory = _aligned(sum(sizes.values()))
        parts = np.split(self._memory, np.cumsum(list(sizes.values()))[:-1])
        arrays = dict(zip(sizes, parts, strict=True))
        arrays['lower'][:], arrays['upper'][:] = motion.lower, motion.upper
        self._q, self._qd, self._qdd = (arrays[name] for name in ('q', 'qd', 'qdd'))
        self._effort = arrays['effort'][: motion.joint_count]
        self._machine = _Machine(
            n=n,
            joints=motion.joint_count,
            brakes_set=bool(brakes_set),
            brake_rate=BRAKE_RATE,
            **dict(zip(kernel_names(motion, brakes_set), kernels, strict=True)),
            **{name: array.ctypes.data for name, array in arrays.items()},
        )
        # Calls through CFUNCTYPE release the GIL.
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_double)
        self._steps = functools.partial(prototype(steps), ctypes.addressof(self._machine))

    def after(
        self, q: FloatArray, qd: FloatArray, effort: FloatArray | None, steps: int, h: float
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return q, qd and qdd, shape (n,) each, after `steps` steps, see `Motion.after`."""
        if effort is not None:
            self._effort[:] = effort
        self._machine.stop_frequency = self._motion.stop_frequency
        self._q[:], self._qd[:] = q, qd
        while steps > _AT_ONCE:
            self._steps(_AT_ONCE, h)
            steps -= _AT_ONCE
        self._steps(steps, h)
        return self._q.copy(), self._qd.copy(), self._qdd.copy()


def kernel_names(motion: Motion, brakes_set: bool) -> tuple[str, ...]:
    """Return the names of the dynamics' kernels that the motion needs."""
    if not brakes_set:
        return 'joint_friction', 'forward_dynamics', 'mass_matrix'
    if motion.joint_count == len(motion.lower):
        return ('joint_friction',)
    return 'joint_friction', 'inverse_dynamics', 'mass_matrix'


def _aligned(count: int) -> FloatArray:
    """Return aligned zeros, shape (count,)."""
    space = np.zeros(8 * count + _ALIGNMENT, np.uint8)
    start = -space.ctypes.data % _ALIGNMENT
    return space[start : start + 8 * count].view(np.float64)
