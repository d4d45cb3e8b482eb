# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sampling and checking the coefficients of periodic systems."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np

from kron_dynamics.arguments import real_array, real_number
from kron_dynamics.dynamics.linearization import state_matrix
from kron_dynamics.exceptions import ModelError, NonFiniteError, ParameterError, ShapeError
from kron_dynamics.messages import shown
from kron_dynamics.typing import ArrayLike, FloatArray

Coefficient = Callable[[Any], ArrayLike] | ArrayLike
System = Callable[[Any], ArrayLike] | tuple[Coefficient, Coefficient, Coefficient]

# Allowed difference of an entry of A one period apart, relative to its largest magnitude; it
# leaves room for interpolation errors.
PERIODIC = 1e-6
# Rounding errors of entries, relative to the largest of all: a stiff mode beside a soft one.
_ROUNDING = 1e-13


def check_period(period: float) -> None:
    """Check that a period, in s, is a positive finite number.

    Raises:
        ArgumentTypeError: the period is not a number.
        ParameterError: the period is not positive and finite.
    """
    if not 0 < real_number(period, 'period') < inf:
        raise ParameterError(f'period is {shown(period)}, expected a positive number')


def check_periodic(A: FloatArray, later: FloatArray, times: FloatArray, period: float) -> None:
    """Check that the coefficients have the given period; a wrong one gives plausible results.

    Args:
        A: state matrices at the times, shape (k, m, m), 1/s.
        later: state matrices one period later, shape (k, m, m), 1/s.
        times: shape (k,), s.
        period: s.

    Raises:
        ParameterError: the coefficients differ.
    """
    gap, size = np.abs(later - A), np.maximum(np.abs(A), np.abs(later)).max(axis=0)
    excess = gap - (PERIODIC * size + _ROUNDING * size.max())
    worst = np.unravel_index(int(excess.argmax()), excess.shape)
    if excess[worst] > 0.0:
        entry = ', '.join(str(int(k)) for k in worst[1:])
        raise ParameterError(
            f'period is {period}, but A[{entry}] at t = {times[worst[0]]:.6g} and one period '
            f'later differ by {gap[worst]:.3g}, expected the same'
        )


def finite_square(values: FloatArray, name: str, ndim: int = 2) -> FloatArray:
    """Check that values are finite square matrices, and return them.

    Args:
        values: shape (m, m) or (k, m, m).
        name: name used in error messages.
        ndim: 2 for one matrix, 3 for several.

    Raises:
        ShapeError: the values are not square matrices.
        NonFiniteError: a matrix contains a NaN or an infinity.
    """
    if values.ndim != ndim or values.shape[-1] != values.shape[-2] or not values.size:
        expected = '(k, m, m)' if ndim == 3 else '(m, m)'
        raise ShapeError(f'{name} has shape {values.shape}, expected {expected}')
    if not np.isfinite(values).all():
        raise NonFiniteError(f'{name} holds a NaN or an infinity, expected finite numbers')
    return values


def state_matrices(system: System, times: FloatArray, vectorized: bool) -> FloatArray:
    """Return the state matrices A of a system at the times, shape (k, m, m), 1/s.

    Args:
        system: function A(t), or tuple (M, D, K) of functions or constants.
        times: shape (k,), s.
        vectorized: whether functions take an array of times.

    Raises:
        ParameterError: the system is neither of these.
        ShapeError: a coefficient is not square, or they do not fit together.
        NonFiniteError: a coefficient contains a NaN or an infinity.
        ModelError: M is singular.
    """
    if callable(system):
        return np.asarray(_sampled(system, times, vectorized, 'A'))
    if not isinstance(system, tuple) or len(system) != 3:
        raise ParameterError(
            f'system is {shown(system)}, expected a function A or a tuple (M, D, K)'
        )
    M, D, K = (
        _sampled(part, times, vectorized, name) for part, name in zip(system, 'MDK', strict=True)
    )
    if not M.shape == D.shape == K.shape:
        shapes = ', '.join(str(part.shape[1:]) for part in (M, D, K))
        raise ShapeError(f'M, D and K have shapes {shapes}, expected the same')
    try:
        return state_matrix(M, D, K)
    except np.linalg.LinAlgError as error:
        raise ModelError('M is singular, expected an inertia for each coordinate') from error


def _sampled(coefficient: Coefficient, times: FloatArray, vectorized: bool, name: str) -> Any:
    """Return a coefficient at the times, shape (k, m, m)."""
    if not callable(coefficient):
        constant = finite_square(real_array(coefficient, name), name)
        return np.broadcast_to(constant, (len(times), *constant.shape))
    if vectorized:
        values = finite_square(real_array(coefficient(times), name), name, ndim=3)
        if len(values) != len(times):
            raise ShapeError(f'{name} has shape {values.shape}, expected ({len(times)}, m, m)')
        return values
    rows = [real_array(coefficient(float(t)), name) for t in times]
    shapes = {row.shape for row in rows}
    if len(shapes) > 1:
        raise ShapeError(f'{name} has shapes {sorted(shapes)}, expected one')
    finite_square(rows[0], name)
    return finite_square(np.stack(rows), name, ndim=3)
