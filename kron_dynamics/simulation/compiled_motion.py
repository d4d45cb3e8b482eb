# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles `stepper.c` on this machine and checks it against the same equations in Python."""

from __future__ import annotations

import ctypes
import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.cache import NoFolderError
from kron_dynamics.kernels.checked_function import checked_function
from kron_dynamics.kernels.compiler import find_compiler
from kron_dynamics.kernels.sources import read_beside
from kron_dynamics.simulation.motion import Motion
from kron_dynamics.simulation.stepper import Stepper, kernel_names
from kron_dynamics.typing import FloatArray

_log = logging.getLogger(__name__)
_FUNCTION = 'kron_steps'  # name in stepper.c
_TOLERANCE = 1e-9  # relative to the largest magnitude of the expected vector
_KERNEL = ctypes.CFUNCTYPE(
    None, ctypes.c_ssize_t, *(2 * [ctypes.POINTER(ctypes.POINTER(ctypes.c_double))])
)


def compiled_motion(motion: Motion, brakes_set: bool) -> Stepper | None:
    """Return a robot's motion in C, None where it or the robot's kernels cannot be compiled.

    Raises:
        KernelBuildError: the compiler failed, or its output computes wrong results.
        InvalidInertiaError: M is singular, and brakes are released.
    """
    kernels: list[int] = []
    for name in kernel_names(motion, brakes_set):
        address = getattr(getattr(motion.dynamics, name), 'address', None)
        if address is None:
            return None
        kernels.append(address)
    command = find_compiler()
    if command is None:
        return None
    try:
        return Stepper(motion, brakes_set, kernels, steps_address(command))
    except NoFolderError as error:
        _log.warning('%s; the simulation runs as Python code, slower', error)
        return None


@functools.cache
def steps_address(command: tuple[str, ...]) -> int:
    """Return the address of ``void kron_steps(const Machine *, ptrdiff_t steps, double h)``.

    Args:
        command: command line of the C compiler.

    Raises:
        KernelBuildError: the compiler failed, or its output computes wrong results.
        NoFolderError: there is no writable folder for the library.
    """
    source = read_beside(__file__, 'stepper.c')
    return checked_function(command, _FUNCTION, source, check_steps, __name__)


class _Known:
    """Test dynamics in Python, n = 4: two joints and two modal coordinates."""

    _M = np.diag([3.0, 2.0, 1.0, 1.5]) + 0.2
    _K = np.diag([0.5, -1.0, 30.0, 40.0]) + 0.3

    def joint_friction(self, qd: FloatArray) -> FloatArray:
        return 0.2 * qd + 0.1 * np.tanh(3.0 * qd)

    def mass_matrix(self, q: FloatArray) -> FloatArray:
        return self._M + np.diag(0.1 * np.cos(q))

    def inverse_dynamics(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        return np.asarray(self.mass_matrix(q) @ qdd + self._K @ q + qd * qd[::-1])

    def forward_dynamics(self, q: FloatArray, qd: FloatArray, tau: FloatArray) -> FloatArray:
        bias = self.inverse_dynamics(q, qd, np.zeros(4))
        return np.asarray(np.linalg.solve(self.mass_matrix(q), tau - bias), dtype=np.float64)


# Test states (q, qd): within the stops; at rest inside the stops (lower, upper), and inside one;
# leaving them; approaching them; with a NaN.
_STATES = (
    ([0.2, -0.3, 0.1, 0.2], [0.5, -1.0, 0.3, -0.2]),
    ([-1.02, 1.03, 0.1, 0.0], [0.0, 0.0, 0.0, 0.1]),
    ([-1.02, 0.0, 0.0, 0.1], [0.0, 0.0, 0.0, 0.0]),
    ([0.0, 1.03, 0.1, 0.0], [0.0, 0.0, 0.0, 0.0]),
    ([-1.001, 1.001, 0.0, 0.0], [2.0, -2.0, 0.0, 0.0]),
    ([-0.99, 0.99, 0.1, 0.1], [-1.0, 1.0, 0.0, 0.5]),
    ([0.0, np.nan, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]),
)


def check_steps(address: int) -> None:
    """Compare the compiled `kron_steps` with `Motion`, both on the test dynamics `_Known`.

    Args:
        address: address of `kron_steps`.

    Raises:
        KernelBuildError: the results differ by more than the tolerance.
    """
    infinite = np.full(2, np.inf)
    stops = np.concatenate((np.ones(2), infinite))
    motion = Motion(_Known(), 2, -stops, stops)
    for effort in (np.array([0.7, -0.4]), None):
        names = kernel_names(motion, effort is None)
        kernels = [_as_kernel(getattr(motion.dynamics, name)) for name in names]
        addresses = [ctypes.cast(kernel, ctypes.c_void_p).value or 0 for kernel in kernels]
        stepper = Stepper(motion, effort is None, addresses, address)
        for state in _STATES:
            q, qd = map(np.array, state)
            for got, right in zip(
                stepper.after(q, qd, effort, 5, 0.01),
                motion.after(q, qd, effort, 5, 0.01),
                strict=True,
            ):
                scale = np.abs(right[np.isfinite(right)]).max(initial=0.0)
                if not np.allclose(got, right, 0.0, _TOLERANCE * scale, equal_nan=True):
                    raise KernelBuildError(
                        f'the compiled steps of a simulation give {got.tolist()} where the '
                        f'equations give {right.tolist()}: check $CC and what it runs'
                    )


def _as_kernel(method: Callable[..., FloatArray]) -> Any:
    """Return a method of `_Known` as a C callback with the signature of kernels, one state."""
    count = len(inspect.signature(method).parameters)

    def kernel(_: int, arguments: Any, results: Any) -> None:
        values = [np.ctypeslib.as_array(arguments[k], (4,)) for k in range(count)]
        result = method(*values)
        np.ctypeslib.as_array(results[0], (result.size,))[:] = result.ravel()

    return _KERNEL(kernel)
