# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
r"""Stability of the gains in a sampled loop with one period of delay.

An effort computed from state k acts from k + 1 to k + 2. With the error e, the integral z and the
delayed feedback u = kp e + kd ed + z,

.. math:: \ddot e = -A u_{k-1}

A is 1 under computed torque, where errors are decoupled in every pose, and
:math:`M^{-1} diag(M_{nominal})` under the proportional-derivative law. A loop is stable if no
eigenvalue of its transition matrix over one period is outside the unit circle. Effects other than
sampling, such as the gradient of an uncompensated weight, are not modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.sample_poses import poses_within_limits
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.robot import Robot

_POSES = 100
# Gain margin, as a factor up and down, below which a loop is reported to be near instability.
_MARGIN = 2.0
# Largest spectral radius of a stable loop: eigenvalues on the unit circle are rounded.
LARGEST_STABLE = 1.0 + 1e-9
_SHORTEST = 1e-5  # lower end of the search for a stable period, s


def check_decoupled(
    kp: FloatArray, kd: FloatArray, ki: FloatArray, period: float, names: tuple[str, ...]
) -> list[str]:
    """Check the gains of computed torque; return a warning for each joint with little margin.

    Args:
        kp: position gains, shape (n,), 1/s^2.
        kd: velocity gains, shape (n,), 1/s.
        ki: integral gains, shape (n,), 1/s^3.
        period: time between states, s.
        names: names of the n joints.

    Raises:
        ParameterError: a joint's loop is unstable; reports the longest stable period.
    """
    near = []
    for name, *gains in zip(names, kp.tolist(), kd.tolist(), ki.tolist(), strict=True):
        p, d, i = (np.array([gain]) for gain in gains)

        def radius(
            T: float,
            factor: float = 1.0,
            p: FloatArray = p,
            d: FloatArray = d,
            i: FloatArray = i,
        ) -> float:
            return _radius(p, d, i, T, factor * np.eye(1))

        shown = f"joint '{name}' with kp {gains[0]:g}, kd {gains[1]:g}, ki {gains[2]:g}"
        if radius(period) > LARGEST_STABLE:
            raise ParameterError(_refusal(shown, period, longest_period(radius, period)))
        if max(radius(period, _MARGIN), radius(period, 1.0 / _MARGIN)) > LARGEST_STABLE:
            near.append(
                f'{shown} is near instability with states {period:g} s apart and one period of '
                f'delay: the gain margin is below {_MARGIN:g}'
            )
    return near


def check_coupled(
    robot: Robot,
    inertia: FloatArray,
    kp: FloatArray,
    kd: FloatArray,
    ki: FloatArray,
    period: float,
) -> None:
    """Check the gains of the proportional-derivative law in poses within the position limits.

    Args:
        robot: the machine.
        inertia: constant diagonal inertia of the law, shape (n,).
        kp: position gains, shape (n,), 1/s^2.
        kd: velocity gains, shape (n,), 1/s.
        ki: integral gains, shape (n,), 1/s^3.
        period: time between states, s.

    Raises:
        ParameterError: the loop is unstable in a pose; reports the pose and the longest stable
            period.
    """
    poses = poses_within_limits(robot, _POSES)
    M = robot.mass_matrix(poses)
    A = np.linalg.solve(M, np.broadcast_to(np.diag(inertia), M.shape))
    radii = np.array([_radius(kp, kd, ki, period, pose) for pose in A])
    worst = int(radii.argmax())
    if radii[worst] > LARGEST_STABLE:
        shown = ', '.join(f'{x:.3g}' for x in poses[worst])
        raise ParameterError(
            _refusal(
                f"control law 'pd' with these gains, in the pose [{shown}],",
                period,
                longest_period(lambda period: _radius(kp, kd, ki, period, A[worst]), period),
            )
        )


def _radius(kp: FloatArray, kd: FloatArray, ki: FloatArray, T: float, A: FloatArray) -> float:
    """Spectral radius of the transition of (e, T ed, z, u) over one period."""
    n = len(kp)
    eye, zero = np.eye(n), np.zeros((n, n))
    # Rates are scaled by the period, for good conditioning.
    position = np.hstack((eye, eye, zero, -(T**2) / 2.0 * A))
    rate = np.hstack((zero, eye, zero, -(T**2) * A))
    integral = np.hstack((T * np.diag(ki), zero, eye, zero))
    feedback = np.hstack((np.diag(kp + T * ki), np.diag(kd / T), eye, zero))
    transition = np.vstack((position, rate, integral, feedback))
    return float(np.abs(np.linalg.eigvals(transition)).max())


def longest_period(radius: Callable[[float], float], longest: float) -> float | None:
    """Return the longest stable period, s, by bisection; None if even 1e-5 s is unstable.

    Args:
        radius: returns the spectral radius of the loop with a period, s.
        longest: an unstable period, s.
    """
    shorter, longer = _SHORTEST, longest
    if radius(shorter) > LARGEST_STABLE:
        return None
    while longer > 1.01 * shorter:
        middle = float(np.sqrt(shorter * longer))
        if radius(middle) > LARGEST_STABLE:
            longer = middle
        else:
            shorter = middle
    return shorter


def _refusal(what: str, period: float, longest: float | None) -> str:
    text = f'{what} is unstable with states {period:g} s apart and one period of delay, expected '
    if longest is None:
        return text + 'other gains: ki below kp kd'
    return text + f'lower gains, or states at most {longest:.3g} s apart'
