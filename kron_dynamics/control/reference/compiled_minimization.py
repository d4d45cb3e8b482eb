# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`minimize` of interior_point.py, compiled on this machine from `interior_point.c`."""

from __future__ import annotations

import ctypes
import functools
import logging
import os
from itertools import accumulate

import numpy as np

from kron_dynamics.control.reference import interior_point
from kron_dynamics.control.reference.interior_point import (
    CENTERED,
    COLD,
    LEAST_DUAL,
    STUCK,
    TO_BOUND,
    WARM,
    Objective,
    Rows,
)
from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.cache import NoFolderError
from kron_dynamics.kernels.checked_function import checked_function
from kron_dynamics.kernels.compiler import find_compiler
from kron_dynamics.kernels.sources import read_beside
from kron_dynamics.typing import FloatArray

_log = logging.getLogger(__name__)
_FUNCTION = 'kron_minimize'  # name in interior_point.c
_TOLERANCE = 1e-9  # relative error accepted in the check
_SIZES = ('windows', 'rows', 'moving', 'most')
_NUMBERS = ('first', 'gap', 'to_bound', 'centered', 'stuck', 'least_dual')
_GIVEN = ('coefficients', 'constant', 'places', 'which', 'weights', 'ends', 'c', 'duals')
_WORK = (
    *('slack', 'jacobian', 'ratio', 'change', 'dual_change'),
    *('step', 'gradient', 'pulls', 'factor'),
)


class _Problem(ctypes.Structure):
    """The struct `Problem` of interior_point.c."""

    _fields_ = (
        *((name, ctypes.c_ssize_t) for name in _SIZES),
        *((name, ctypes.c_double) for name in _NUMBERS),
        *((name, ctypes.c_void_p) for name in (*_GIVEN, *_WORK)),
    )


# Calls release the GIL.
_PROTOTYPE = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Problem))


def minimize(
    objective: Objective,
    rows: Rows,
    start: FloatArray,
    duals: FloatArray | None = None,
    *,
    gap: float,
    most: int,
) -> tuple[FloatArray, FloatArray]:
    """Return the minimizer and the duals of the rows: `interior_point.minimize` up to rounding.

    Shapes are (K + 2,) and (K, R) for K windows of R rows each, without units.
    Where there is no compiler, it is `interior_point.minimize`. Equal arguments give bit-identical
    results.

    Raises:
        KernelBuildError: the compiler failed, or its output computes wrong results.
    """
    address = minimize_address(os.environ.get('CC', ''))
    if address is None:
        return interior_point.minimize(objective, rows, start, duals, gap=gap, most=most)
    return minimize_at(address, objective, rows, start, duals, gap, most)


def minimize_at(
    address: int,
    objective: Objective,
    rows: Rows,
    start: FloatArray,
    duals: FloatArray | None,
    gap: float,
    most: int,
) -> tuple[FloatArray, FloatArray]:
    """Return what `minimize` does, (K + 2,) and (K, R), by `kron_minimize` at an address."""
    (k, r), count = rows.constant.shape, start.size
    c, multipliers = start.copy(), np.zeros((k, r)) if duals is None else duals.copy()
    arrays = [
        np.ascontiguousarray(array).ctypes
        for array in (
            *(rows.coefficients, rows.constant, rows.places, rows.which),
            *(objective.weights, objective.ends, c, multipliers),
        )
    ]
    work = np.empty(7 * k * r + 6 * count)
    sizes = (0, k * r, 3 * k * r, *(3 * [k * r]), *(3 * [count]))
    begin = work.ctypes.data
    problem = _Problem(
        *(k, r, rows.which.size, most, COLD if duals is None else WARM, gap),
        *(TO_BOUND, CENTERED, STUCK, LEAST_DUAL),
        *(array.data for array in arrays),
        *(begin + work.itemsize * size for size in accumulate(sizes)),
    )
    _PROTOTYPE(address)(ctypes.byref(problem))
    return c, multipliers


@functools.cache
def minimize_address(_compiler: str) -> int | None:
    """Return the address of ``void kron_minimize(const Problem *)``.

    Args:
        _compiler: value of $CC, for the cache: looking for the compiler takes as long as a search.

    Returns:
        None if there is no compiler, or no folder for the library.

    Raises:
        KernelBuildError: the compiler failed, or its output computes wrong results.
    """
    command = find_compiler()
    if command is None:
        return None
    source = read_beside(__file__, 'interior_point.c')
    try:
        return checked_function(command, _FUNCTION, source, check_minimize, __name__)
    except NoFolderError as error:
        _log.warning('%s; paths are retimed by Python code, slower', error)
        return None


def check_minimize(address: int) -> None:
    """Compare the compiled `kron_minimize` with `interior_point.minimize`.

    Args:
        address: address of `kron_minimize`.

    Raises:
        KernelBuildError: the results differ by more than the tolerance.
    """
    objective, rows, start = known_problem()
    duals = None
    for gap, most in ((1e-1, 3), (1e-6, 40), (1e-9, 3)):
        right = interior_point.minimize(objective, rows, start, duals, gap=gap, most=most)
        got = minimize_at(address, objective, rows, start, duals, gap, most)
        for values, expected in zip(got, right, strict=True):
            if not np.allclose(values, expected, _TOLERANCE, _TOLERANCE * expected.max()):
                raise KernelBuildError(
                    f'the compiled search of a retiming gives {values.tolist()} where the '
                    f'equations give {expected.tolist()}: check $CC and what it runs'
                )
        start, duals = 0.9 * right[0], 10.0 * right[1]


def known_problem() -> tuple[Objective, Rows, FloatArray]:
    """Return a problem of 6 windows with steady and moving bounds, and a feasible start, (8,)."""
    windows, weights = 6, np.linspace(2.0, 1.0, 8)
    weights[-1] = 0.0
    objective = Objective(weights, np.array([[1.0, -3.0, 2.0], [0.5, -2.0, 1.0]]))
    a = np.cos(np.arange(9.0 * windows)).reshape(3, windows, 3)
    coefficients = np.concatenate((a, 0.5 + a**2, -a[..., 1:], a[..., :1]), axis=2)
    coefficients[2, -1] = 0.0
    constant = 0.2 * np.sin(np.arange(9.0 * windows)).reshape(windows, 9)
    places = np.zeros((3, windows, 2))
    places[0, :, 0], places[1] = 0.4, 0.6
    places[2, :-1, 1], places[2, -1] = 0.4, 0.0
    rows = Rows(coefficients, constant, places, np.array([0, 1, 1, 0]))
    return objective, rows, np.full(windows + 2, 0.05)
