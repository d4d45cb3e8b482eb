# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Checking compiled kernels before they are used: against the same equations in Python.

A compiler may have been told, by options, by its environment or by a script in its place, to
compute something else. Nothing here depends on it.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.model.robot_model import RobotModel
from kron_dynamics.typing import FloatArray

# Of the largest number among the states, or in the result where there is but one state.
_TOLERANCE = 1e-9
# Of the error that rounding can make of a result: the order of sums is the compiler's, functions
# are a few units of the last place off, and terms that cancel leave nothing but rounding.
_ROUNDING = 16.0
# Of loops, of what another rounding of the arguments changes.
_ARGUMENTS_ROUNDED = 1e4
# States: two vectors of the widest kind and a rest in any kind, so that code for vectors and for
# single states is run; of these, one far from zero and one that is not known.
_STATES, _FAR, _UNKNOWN = 19, 9, 13
_FAR_AWAY = 1e6  # where sines and cosines are computed another way
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
    """Run a kernel for single states and for many, and compare.

    Straight code is compared with its trace at every state. Of loops there is no trace of single
    operations: they are compared with the function itself on floats, at one state, and the code
    for vectors with that for single states.

    Args:
        address: of ``void (ptrdiff_t count, const double *const *in, double *const *out)``.
        name: of the kernel.
        arguments: (name, length) of each.
        function: what was recorded.
        model: the robot.
        trace: what was compiled.

    Raises:
        KernelBuildError: it computes something else.
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
            compared = slice(None)
        else:
            compared = slice(0, 1)
            first = [row[0] for row in rows]
            expected, again = (
                _called(function, model, [row * factor for row in first])
                for factor in (1.0, 1.0 + _EPSILON)
            )
            slacks = [
                _ARGUMENTS_ROUNDED * np.abs(other - right)
                for right, other in zip(expected, again, strict=True)
            ]
        for r, (right, slack) in enumerate(zip(expected, slacks, strict=True)):
            for result in (together[r], one_by_one[r]):
                _compare(name, result[compared], right, slack)
            if compared != slice(None):
                most = np.broadcast_to(np.nanmax(slack, initial=0.0), together[r].shape)
                _compare(name, together[r], one_by_one[r], most)


def _states(arguments: Sequence[tuple[str, int]], model: RobotModel) -> list[FloatArray]:
    """A table a argument, one row a state: positions within limits, numbers about one."""
    rng = np.random.default_rng(_SEED)
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
            # Series that hold within the limits of a drive are noise far outside.
            far = ~(np.isfinite(model.position_lower) & np.isfinite(model.position_upper))
        if name == 'q' and getattr(model, 'is_flexible', False):
            # With links that are bent out of all proportion no loop closes, and what is left of
            # sums that cancel decides whether M has an inverse.
            far[model.joint_count :] = False
        table[_FAR, far] = (_FAR_AWAY * (2.0 + table[_FAR] / (1.0 + np.abs(table[_FAR]))))[far]
        table[_UNKNOWN] = np.nan
        tables.append(table)
    return tables


def _run(address: int, rows: Sequence[FloatArray], widths: Sequence[int]) -> list[FloatArray]:
    """Results of the machine code, shape (count, width) each."""
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
    """Results of a trace, and bounds of the errors that rounding makes of them.

    Shapes (count, width) each; bounds are in units of the machine epsilon, to first order: every
    operation passes on the errors of its operands and adds that of its own rounding.
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
        if b is None:  # functions whose slope is 1 at most
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


def _called(
    function: Callable[..., Any], model: RobotModel, values: Sequence[FloatArray]
) -> list[FloatArray]:
    """Results of the recorded function on floats, shape (1, width) each."""
    returned = function(model, *values)
    results = returned if isinstance(returned, tuple) else (returned,)
    return [np.asarray(result, dtype=float).reshape(1, -1) for result in results]


def _compare(name: str, result: FloatArray, right: FloatArray, slack: FloatArray) -> None:
    """Compare one result: element by element where there are many states about one."""
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
    """Largest finite size along an axis, or of all."""
    sizes = np.where(np.isfinite(values), np.abs(values), 0.0)
    return np.asarray(sizes.max(axis=axis, initial=0.0))
