# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Verification of compiled kernels against the same equations in Python, before their first use.

Options, environment variables or a wrapper script may make a compiler generate code that computes
something else. The check does not depend on the compiler.
"""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.random import default_rng  # a late import of NumPy's, unless it is named

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import FloatArray

# Tolerance relative to an element's largest magnitude over the states, or to the largest element
# of the result for a single state.
_TOLERANCE = 1e-9
# Factor on the rounding error bound of a result: the compiler may reorder sums, functions are
# accurate to a few units in the last place, and cancellation leaves only rounding errors.
_ROUNDING = 16.0
# Factor, for loops, on the change of a result when its arguments change by one rounding.
_ARGUMENTS_ROUNDED = 1e4
# Number of states: two of the widest SIMD vectors and a remainder for any width, so that both the
# vector code and the code for single states are run. Indices of a state far from 0 and of NaN.
_STATES, _FAR, _UNKNOWN = 19, 9, 13
_FAR_AWAY = 1e6  # magnitude at which sines and cosines use their fallback for huge angles
_SEED = 20190301
_EPSILON = float(np.finfo(float).eps)

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_void_p)
_OPERATIONS: dict[str, Callable[..., Any]] = {
    '+': operator.add,
    '-': operator.sub,
    '*': operator.mul,
    '/': np.divide,
    'neg': operator.neg,
    'sin': np.sin,
    'cos': np.cos,
    'tanh': np.tanh,
}


def check_kernel(
    address: int,
    name: str,
    arguments: Sequence[tuple[str, int]],
    function: Callable[..., Any],
    model: RobotModel,
    trace: Trace | LoopTrace,
) -> None:
    """Run a kernel for single states and for a batch, and compare the results.

    Straight-line code is compared with its trace at every state. Code with loops has no trace of
    single operations: it is compared with the recorded function on floats, at two states, one of
    them with huge angles, and the results of the batch with those of single states.

    Args:
        address: address of the kernel,
            ``void (ptrdiff_t count, const double *const *in, double *const *out)``.
        name: name of the kernel.
        arguments: (name, length) of each argument.
        function: the recorded function.
        model: the robot.
        trace: the trace that was compiled.

    Raises:
        KernelBuildError: the kernel computes something else.
    """
    rows = _states(arguments, model)
    widths = [prod(shape) for shape in trace.shapes]
    together = _run(address, rows, widths)
    singles = [_run(address, [row[k : k + 1] for row in rows], widths) for k in range(_STATES)]
    one_by_one = [np.concatenate(results) for results in zip(*singles, strict=True)]
    with np.errstate(all='ignore'):
        if isinstance(trace, Trace):
            expected, errors = _replayed(trace, rows)
            slacks = [_ROUNDING * _EPSILON * error for error in errors]
            for results in (together, one_by_one):
                for compared in zip(results, expected, slacks, strict=True):
                    _compare(name, *compared)
            return
        for state in (0, _FAR):
            _compare_loops(
                name, state, rows, together, one_by_one, functools.partial(function, model)
            )


def _compare_loops(
    name: str,
    state: int,
    rows: Sequence[FloatArray],
    together: Sequence[FloatArray],
    one_by_one: Sequence[FloatArray],
    function: Callable[..., Any],
) -> None:
    """Compare results with the function on floats at one state, and batch and single states."""
    expected, again = (
        _called(function, [row[state] * factor for row in rows])
        for factor in (1.0, 1.0 + _EPSILON)
    )
    for batch, singles, right, other in zip(together, one_by_one, expected, again, strict=True):
        slack = _ARGUMENTS_ROUNDED * np.abs(other - right)
        for result in (batch, singles):
            _compare(name, result[state : state + 1], right, slack)
        most = np.broadcast_to(np.nanmax(slack, initial=0.0), batch.shape)
        _compare(name, batch, singles, most)


def _states(arguments: Sequence[tuple[str, int]], model: RobotModel) -> list[FloatArray]:
    """Return a table per argument, one row per state: q within its limits, others up to 1."""
    rng = default_rng(_SEED)
    tables = []
    for name, size in arguments:
        table = rng.uniform(-1.0, 1.0, (_STATES, size))
        lower, upper = (getattr(model, f'position_{side}', None) for side in ('lower', 'upper'))
        if name == 'q' and lower is not None and upper is not None and len(lower) == size:
            known = np.isfinite(lower) & np.isfinite(upper)
            middle = (lower[known] + upper[known]) / 2
            table[:, known] = middle + table[:, known] * (upper[known] - lower[known]) / 2
        far = np.ones(size, dtype=bool)
        if name == 'q' and getattr(model, 'has_closed_loops', False):
            # The series of closed loops hold within the limits of a drive, and are noise outside.
            far = ~(np.isfinite(model.position_lower) & np.isfinite(model.position_upper))
        if name == 'q' and getattr(model, 'is_flexible', False):
            # With absurdly large deflections no loop closes, and rounding decides whether M is
            # invertible.
            far[model.joint_count :] = False
        table[_FAR, far] = (_FAR_AWAY * (2.0 + table[_FAR] / (1.0 + np.abs(table[_FAR]))))[far]
        table[_UNKNOWN] = np.nan
        tables.append(table)
    return tables


def _run(address: int, rows: Sequence[FloatArray], widths: Sequence[int]) -> list[FloatArray]:
    """Return the results of the machine code, shape (count, width) each."""
    count = len(rows[0]) if rows else 1
    outs = [np.zeros((count, width)) for width in widths]
    pointers = [
        (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        for arrays in (rows, outs)
    ]
    _KERNEL(address)(count, *pointers)
    return outs


def _replayed(
    trace: Trace, rows: Sequence[FloatArray]
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the results of a trace, and bounds of their rounding errors.

    Shapes (count, width) each. Bounds are first-order, in units of the machine epsilon: every
    operation propagates the errors of its operands and adds its own rounding error.
    """
    count = len(rows[0]) if rows else 1
    columns = [row.T.copy() for row in rows]
    values: list[Any] = []
    errors: list[Any] = []
    for operation, a, b in trace.nodes:
        if operation in ('const', 'input'):
            values.append(np.float64(a) if operation == 'const' else columns[a][b])
            errors.append(0.0)
            continue
        known = [values[a]] if b is None else [values[a], values[b]]
        value = _OPERATIONS[operation](*known)
        size = np.abs(value)
        if b is None:  # neg, sin, cos and tanh have slopes of at most 1
            error = errors[a] if operation == 'neg' else errors[a] + size
        elif operation in '+-':
            error = errors[a] + errors[b] + size
        elif operation == '*':
            error = np.abs(known[1]) * errors[a] + np.abs(known[0]) * errors[b] + size
        else:
            error = (errors[a] + size * errors[b]) / np.abs(known[1]) + size
        values.append(value)
        errors.append(error)

    def tables(numbers: Sequence[Any]) -> list[FloatArray]:
        return [
            np.array([np.broadcast_to(numbers[k], count) for k in places]).reshape(-1, count).T
            for places in trace.outputs
        ]

    return tables(values), tables(errors)


def _called(function: Callable[..., Any], values: Sequence[FloatArray]) -> list[FloatArray]:
    """Return the results of the recorded function on floats, shape (1, width) each."""
    returned = function(*values)
    results = returned if isinstance(returned, tuple) else (returned,)
    return [np.asarray(result, dtype=float).reshape(1, -1) for result in results]


def _compare(name: str, result: FloatArray, right: FloatArray, slack: FloatArray) -> None:
    """Compare one result, with a tolerance per element for the states of ordinary magnitude."""
    near = np.arange(len(right)) != _FAR
    for group in (near, ~near):
        axis = 0 if group.sum() > 1 else None
        tolerance = _TOLERANCE * _largest(right[group], axis)
        tolerance = tolerance + _largest(slack[group], axis)
        got, expected = result[group], right[group]
        same = (got == expected) | (np.isnan(got) & np.isnan(expected))
        same |= np.abs(got - expected) <= tolerance
        if not same.all():
            state, element = np.argwhere(~same)[0]
            raise KernelBuildError(
                f"the compiled kernel '{name}' gives {got[state, element]:.17g} where the "
                f'equations give {expected[state, element]:.17g}'
            )


def _largest(values: FloatArray, axis: int | None) -> FloatArray:
    """Return the largest finite magnitude along an axis, or of all for None."""
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    return np.asarray(sizes.max(axis=axis, initial=0.0))
