# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stability of linear systems with periodic coefficients, after Floquet.

A flexible manipulator linearized about a periodic reference motion obeys

    M(t) ydd + D(t) yd + K(t) y = 0,   or   xdot = A(t) x  with  x = (y, yd),

with coefficients of period T. Over one period x is multiplied by the monodromy matrix, whose
eigenvalues, the multipliers, decide: motion near the reference dies out if all of them lie inside
the unit circle, and grows if one lies outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from kron_dynamics.arguments import real_array, real_number, whole_number
from kron_dynamics.exceptions import KronDynamicsError, NonFiniteError, ParameterError, ShapeError
from kron_dynamics.messages import shown
from kron_dynamics.stability.coefficients import (
    System,
    check_period,
    check_periodic,
    finite_square,
    state_matrices,
)
from kron_dynamics.stability.collocation import fundamental_matrix, node_times
from kron_dynamics.typing import ArrayLike, ComplexArray, FloatArray

FIRST_STEPS = 16


@dataclass(frozen=True, slots=True, eq=False)
class FloquetAnalysis:
    """What the monodromy matrix of a system says about its stability.

    Multipliers much smaller than the largest are known to the matrix's absolute error only.

    Attributes:
        monodromy: the state after one period over the state before, shape (m, m).
        period: T, s.
    """

    monodromy: FloatArray
    period: float

    def __post_init__(self) -> None:
        """Copy the matrix, close it to writing and refuse what is none."""
        monodromy = finite_square(np.array(self.monodromy, dtype=np.float64), 'monodromy')
        monodromy.setflags(write=False)
        object.__setattr__(self, 'monodromy', monodromy)
        check_period(self.period)

    @property
    def multipliers(self) -> ComplexArray:
        """Eigenvalues of the monodromy matrix, largest magnitude first, shape (m,)."""
        values = np.linalg.eigvals(self.monodromy).astype(np.complex128)
        return np.asarray(values[np.argsort(-np.abs(values), kind='stable')])

    @property
    def exponents(self) -> ComplexArray:
        """Logarithms of the `multipliers` over T, in their order, shape (m,), 1/s.

        Imaginary parts are known modulo 2 pi/T; those from -pi/T to pi/T are returned. A
        multiplier of zero has the exponent -inf.
        """
        values = self.multipliers
        with np.errstate(divide='ignore'):
            growth = np.log(np.abs(values))
        return np.asarray(growth / self.period + 1j * (np.angle(values) / self.period))

    @property
    def spectral_radius(self) -> float:
        """Magnitude of the largest multiplier."""
        return float(np.abs(self.multipliers[0]))

    @property
    def stability_margin(self) -> float:
        """Minus the largest real part of the exponents, 1/s: asymptotically stable if positive."""
        return -float(self.exponents[0].real)

    def is_stable(self, tolerance: float = 1e-6) -> bool:
        """Tell whether no multiplier lies outside the unit circle.

        The multipliers of an undamped system that is stable lie on the circle, up to the error of
        the monodromy matrix, or up to that error's square root (1e-5 at the default) where two of
        them meet. Growth that is not exponential, as the drift of a free body that two
        multipliers of 1 may stand for, counts as stable; a tolerance below 0 asks for decay.

        Args:
            tolerance: how far outside the circle counts as on it.
        """
        return self.spectral_radius <= 1 + tolerance


def monodromy_matrix(
    system: System,
    period: float,
    *,
    start: float = 0.0,
    breaks: ArrayLike = (),
    vectorized: bool = False,
    tolerance: float = 1e-10,
    max_steps: int = 1 << 16,
) -> FloatArray:
    """Return the state of a periodic system after one period over the state before.

    The steps are halved until that changes the matrix by less than the tolerance, which leaves an
    error of about a sixtieth of it. Pulses much shorter than T/50 need breaks to be seen.

    Args:
        system: a(t), a function of the time in s that returns shape (m, m), 1/s; or (M, D, K),
            each such a function or a constant, shape (n, n), when the state is (y, yd) and
            m = 2n. Functions have the given period, before the start and beyond the end too.
        period: T, s.
        start: when the period begins, s.
        breaks: times at which a coefficient jumps or has a kink, once for each period, s.
        vectorized: whether functions take times of shape (k,) and return (k, m, m).
        tolerance: relative to the largest entry, in units of state that balance A.
        max_steps: in each piece between breaks.

    Returns:
        shape (m, m).

    Raises:
        ParameterError: the period is not positive or not a period of the coefficients, an
            option has no meaning, or the steps do not suffice.
        ShapeError: a coefficient is not square, or they do not fit together.
        NonFiniteError: a coefficient or the result is no number.
        ModelError: M is singular.
    """
    check_period(period)
    if not 1e-13 <= real_number(tolerance, 'tolerance') < 1:
        raise ParameterError(f'tolerance is {shown(tolerance)}, expected 1e-13 or more, below 1')
    if whole_number(max_steps, 'max_steps') < 2 * FIRST_STEPS:
        raise ParameterError(
            f'max_steps is {shown(max_steps)}, expected {2 * FIRST_STEPS} or more'
        )
    inner, start = real_array(breaks, 'breaks'), real_number(start, 'start')
    if inner.ndim != 1 or not np.isfinite([start, *inner]).all():
        raise ParameterError(
            f'start is {start}, breaks {shown(inner.tolist())}, expected finite times'
        )
    # Rounded, for a break that is the start or the end but for an error to leave no piece.
    pieces = start + period * np.unique([0, 1, *np.round((inner - start) / period % 1, 12)])

    from scipy.linalg import matrix_balance  # takes long to import

    def sample(times: FloatArray) -> FloatArray:
        return state_matrices(system, times, vectorized)

    def edges(steps: int) -> FloatArray:
        parts = np.linspace(pieces[:-1], pieces[1:], steps, endpoint=False, axis=1)
        return np.append(parts, pieces[-1])

    times = node_times(edges(FIRST_STEPS))
    first = sample(times)
    check_periodic(first, sample(times + period), times, period)
    # Of positions and velocities the larger numbers alone would decide; powers of two balance.
    scale = matrix_balance(np.abs(first).max(axis=0), permute=False, separate=True)[1][0]
    balance = scale / scale[:, None]
    steps, change, old = FIRST_STEPS, inf, fundamental_matrix(sample, edges(FIRST_STEPS))
    while 2 * steps <= max_steps:
        steps *= 2
        new = fundamental_matrix(sample, edges(steps))
        if not np.isfinite(new).all():
            raise NonFiniteError('the monodromy matrix overflows, expected less growth a period')
        change, largest = np.abs((new - old) * balance).max(), np.abs(new * balance).max()
        if change <= tolerance * largest:
            return new
        old = new
    raise ParameterError(
        f'after {steps} steps the monodromy matrix changes by {change:.3g} of {largest:.3g}, '
        f'expected {tolerance:.3g} of it: give the times of jumps as breaks, or more max_steps'
    )


def floquet_analysis(system: System, period: float, **options: Any) -> FloquetAnalysis:
    """Return the stability of a periodic system.

    Args:
        system: as `monodromy_matrix` takes it.
        period: T, s.
        options: of `monodromy_matrix`.
    """
    return FloquetAnalysis(monodromy_matrix(system, period, **options), period)


def stability_map(
    family: Callable[[float, float], FloquetAnalysis], xs: ArrayLike, ys: ArrayLike
) -> FloatArray:
    """Return the stability margin over a grid of two parameters.

    Args:
        family: the analysis of the system with parameters x and y, such as the speed and the
            amplitude of the reference motion; its period may depend on them.
        xs: values of x, shape (a,).
        ys: values of y, shape (b,).

    Returns:
        shape (b, a), 1/s: positive where asymptotically stable.

    Raises:
        ShapeError: xs or ys is no vector.
        KronDynamicsError: the analysis of a point failed, of the kind that it failed with.
    """
    x_values, y_values = (np.asarray(values, dtype=np.float64) for values in (xs, ys))
    if x_values.ndim != 1 or y_values.ndim != 1:
        raise ShapeError(f'xs, ys have shapes {x_values.shape}, {y_values.shape}, expected (k,)')
    margins = np.empty((len(y_values), len(x_values)))
    for row, y in enumerate(y_values):
        for column, x in enumerate(x_values):
            try:
                margins[row, column] = family(float(x), float(y)).stability_margin
            except KronDynamicsError as error:
                raise type(error)(f'at x = {x:.6g}, y = {y:.6g}: {error}') from error
    return margins
