# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stability of linear systems with periodic coefficients by Floquet theory.

A flexible manipulator linearized about a periodic reference motion obeys

    M(t) ydd + D(t) yd + K(t) y = 0,   or   xdot = A(t) x  with  x = (y, yd),

with coefficients of period T. Over one period x is multiplied by the monodromy matrix, whose
eigenvalues are the Floquet multipliers: deviations from the reference decay if all of them lie
inside the unit circle, and grow if one lies outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from kron_dynamics.arguments import instance, real_array, real_number, whole_number
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

FIRST_STEPS = 16  # per piece between breaks, before they are halved


@dataclass(frozen=True, slots=True, eq=False)
class FloquetAnalysis:
    """Stability of a periodic system, derived from its monodromy matrix.

    Multipliers much smaller than the largest one have the absolute error of the matrix.

    Attributes:
        monodromy: maps the state to the state one period later, shape (m, m).
        period: T, s.
    """

    monodromy: FloatArray
    period: float

    def __post_init__(self) -> None:
        """Check the arguments and store a read-only copy of the matrix."""
        monodromy = finite_square(real_array(self.monodromy, 'monodromy'), 'monodromy').copy()
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
        """Logarithms of the `multipliers` divided by T, in the same order, shape (m,), 1/s.

        Imaginary parts are determined modulo 2 pi/T; they are returned within -pi/T to pi/T. A
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
        """Return whether no multiplier lies outside the unit circle.

        The multipliers of a stable undamped system lie on the circle, up to the error of the
        monodromy matrix, or up to the square root of this error (1e-5 with the default) where two
        of them coincide. Growth that is not exponential counts as stable, for example the drift
        of a free body (two multipliers of 1); a tolerance below 0 requires decay.

        Args:
            tolerance: distance outside the circle up to which a multiplier counts as on it.

        Raises:
            ArgumentTypeError: tolerance is not a real number.
        """
        return self.spectral_radius <= 1 + real_number(tolerance, 'tolerance')


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
    """Return the matrix that maps the state of a periodic system to the state one period later.

    The steps are halved until this changes the matrix by less than the tolerance; the remaining
    error is about a sixtieth of it. Pulses much shorter than T/50 are missed without breaks.

    Args:
        system: function A(t) of the time in s that returns shape (m, m), 1/s; or (M, D, K), each
            a function or a constant, shape (n, n), with the state (y, yd) and m = 2n. Functions
            must be periodic before the start and after the end, too.
        period: T, s.
        start: start of the period, s.
        breaks: times within one period at which a coefficient jumps or has a kink, s.
        vectorized: whether functions take times of shape (k,) and return (k, m, m).
        tolerance: relative to the largest entry, after scaling the state such that A is balanced.
        max_steps: largest number of steps in each piece between breaks.

    Returns:
        shape (m, m).

    Raises:
        ParameterError: the period is not positive or not a period of the coefficients, an
            option is out of range, or `max_steps` does not suffice.
        ShapeError: a coefficient is not square, or they do not fit together.
        NonFiniteError: a coefficient or the result contains a NaN or an infinity.
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
    # Rounding keeps a break at the start or the end from creating a piece of almost no length.
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
    # Balance the state (by powers of two): otherwise the larger ones of positions and velocities
    # would dominate the error measure.
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
        system: as for `monodromy_matrix`.
        period: T, s.
        options: further keyword arguments of `monodromy_matrix`.
    """
    return FloquetAnalysis(monodromy_matrix(system, period, **options), period)


def stability_map(
    family: Callable[[float, float], FloquetAnalysis], xs: ArrayLike, ys: ArrayLike
) -> FloatArray:
    """Return the stability margin over a grid of two parameters.

    Args:
        family: function of x and y that returns the analysis of the system with these
            parameters, for example the speed and the amplitude of the reference motion; the
            period may depend on them.
        xs: values of x, shape (a,).
        ys: values of y, shape (b,).

    Returns:
        shape (b, a), 1/s: positive where asymptotically stable.

    Raises:
        ShapeError: xs or ys is not a vector.
        ArgumentTypeError: xs or ys is not real numbers, or family returns no `FloquetAnalysis`.
        KronDynamicsError: the analysis of a point failed; the error's type is kept.
    """
    x_values, y_values = real_array(xs, 'xs'), real_array(ys, 'ys')
    if x_values.ndim != 1 or y_values.ndim != 1:
        raise ShapeError(f'xs, ys have shapes {x_values.shape}, {y_values.shape}, expected (k,)')
    margins = np.empty((len(y_values), len(x_values)))
    for row, y in enumerate(y_values):
        for column, x in enumerate(x_values):
            try:
                analysis = family(float(x), float(y))
                instance(analysis, FloquetAnalysis, 'result of family', 'a FloquetAnalysis')
                margins[row, column] = analysis.stability_margin
            except KronDynamicsError as error:
                raise type(error)(f'at x = {x:.6g}, y = {y:.6g}: {error}') from error
    return margins
