# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Stability of vibration damping with efforts that act whole periods late.

Regulator and Kalman filter are each stable for efforts that act at once, which their design
assumes. An effort computed from state k that acts from k + d to k + d + 1 moves the plant d
periods later than the filter predicts:

.. math:: x_{k+1} = A x_k + B u_{k-d}, \quad
    \hat x_{k+1} = p + L C (x_{k+1} - p), \quad p = A \hat x_k + B u_k, \quad u_k = -F \hat x_k

Effort limits and friction are not modelled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kron_dynamics.control.sampled_loop import LARGEST_STABLE, longest_period
from kron_dynamics.control.vibration.lqg import DampingGains
from kron_dynamics.exceptions import ParameterError


def spectral_radius(gains: DampingGains, delay: int) -> float:
    """Return the factor by which deviations grow per period in the end; below 1 if they decay.

    Args:
        gains: regulator and filter.
        delay: periods from a state until its effort acts, 0 or more.
    """
    A, B, F, L = gains.transition, gains.input, gains.feedback, gains.filter.gain
    n_x, n_u = B.shape
    moved = slice(2 * len(gains.joint_names))  # the plant has no slow efforts d
    n_p = moved.stop
    # Rows of the plant's state, the estimate and the efforts u_(k-1) to u_(k-d).
    rows = np.eye(n_p + n_x + delay * n_u)
    x, estimate = rows[:n_p], rows[n_p : n_p + n_x]
    efforts = np.vstack((-F @ estimate, rows[n_p + n_x :]))
    x = A[moved, moved] @ x + B[moved] @ efforts[len(efforts) - n_u :]
    predicted = A @ estimate + B @ efforts[:n_u]
    measured = gains.filter.measured
    estimate = predicted + L @ (x[measured] - predicted[measured])
    transition = np.vstack((x, estimate, efforts[: delay * n_u]))
    return float(np.abs(np.linalg.eigvals(transition)).max())


def check_delay(gains: DampingGains, design: Callable[[float], DampingGains]) -> None:
    """Refuse gains that are unstable if efforts act one period late.

    Args:
        gains: regulator and filter.
        design: returns the gains for another period, s, of the same machine.

    Raises:
        ParameterError: the loop is unstable; reports the longest stable period.
    """
    if spectral_radius(gains, 1) <= LARGEST_STABLE:
        return
    longest = longest_period(lambda period: spectral_radius(design(period), 1), gains.period)
    expected = (
        'other limits or gains' if longest is None else f'states at most {longest:.3g} s apart'
    )
    raise ParameterError(
        f'vibration_damping is unstable with states {gains.period:g} s apart and one period of '
        f'delay, expected {expected}'
    )


def delay_warning(gains: DampingGains) -> str | None:
    """Return a warning if the loop is unstable with two periods of delay, or None."""
    if spectral_radius(gains, 2) <= LARGEST_STABLE:
        return None
    return (
        f'vibration_damping is unstable if efforts act two periods of {gains.period:g} s late: '
        'make sure that they act within one, or shorten state_period'
    )
