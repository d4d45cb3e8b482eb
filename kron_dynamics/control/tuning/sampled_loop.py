# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Exact discrete-time loop of a linearized machine with sampled, held and delayed efforts."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import BoolArray, FloatArray, IndexArray

# Delays nearer than this to a whole number of periods are rounded to it, periods.
_ROUNDED = 1e-9
_MOST_PERIODS = 20
# Squarings of a transition matrix after which is looked for contractions, and the norm below which
# the result surely is one.
_SQUARINGS, _CONTRACTION = (7, 5, 5), 0.5


class SampledPlant(NamedTuple):
    """N machines linearized about rest, from one sample to the next.

    The state is (y, dy/dt) with coordinates y = L' q in which the mass matrix M = L L' is the
    identity. Efforts u of sample k act after the delay until the next ones act:
    ``x[k+1] = transition x[k] + now u[k-d] + late u[k-d-1]``.

    Attributes:
        transition: shape (N, 2 n, 2 n).
        now: input matrix of the newer efforts, shape (N, 2 n, n_j).
        late: input matrix of the older efforts, shape (N, 2 n, n_j); zeros if the delay is exactly
            d periods.
        whole: d, whole periods of delay.
        joints: matrix from y to the joint positions, shape (N, n_j, n).
    """

    transition: FloatArray
    now: FloatArray
    late: FloatArray
    whole: int
    joints: FloatArray

    def of(self, which: IndexArray) -> SampledPlant:
        """Return the machines with these indices."""
        parts = (self.transition[which], self.now[which], self.late[which])
        return SampledPlant(*parts, self.whole, self.joints[which])


def sampled_plant(
    M: FloatArray, D: FloatArray, K: FloatArray, joints: int, period: float, delay: float
) -> SampledPlant:
    """Return ``M qdd + D qd + K q = u`` with efforts u on the first coordinates, discretised.

    Exact for efforts that are constant between changes (zero-order hold).

    Args:
        M: mass matrices, shape (N, n, n).
        D: damping, shape (N, n, n).
        K: stiffness including the gravity gradient, shape (N, n, n).
        joints: number n_j of the first coordinates, which have efforts.
        period: time between samples, s.
        delay: time from a sample until its efforts act, s.

    Raises:
        ParameterError: the delay is longer than 20 periods.
    """
    from scipy.linalg import expm

    periods = delay / period
    if periods > _MOST_PERIODS:
        raise ParameterError(
            f'delay is {delay:g} s, {periods:.3g} periods of the joint states, expected at most '
            f'{_MOST_PERIODS} periods'
        )
    count, n = M.shape[:2]
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    A = np.zeros((count, 2 * n + joints, 2 * n + joints))
    A[:, :n, n : 2 * n] = np.eye(n)
    for block, terms in ((slice(n), K), (slice(n, 2 * n), D)):
        A[:, n : 2 * n, block] = -inverse @ terms @ np.swapaxes(inverse, 1, 2)
    A[:, n : 2 * n, 2 * n :] = inverse[:, :, :joints]
    whole = max(0, ceil(periods - _ROUNDED) - 1)
    share = periods - whole  # share of the period in which the older efforts still act, up to 1
    if share > 1.0 - _ROUNDED:
        whole, share = whole + 1, 0.0
    first, rest = expm(A * (share * period)), expm(A * ((1.0 - share) * period))
    state, effort = slice(2 * n), slice(2 * n, None)
    return SampledPlant(
        transition=rest[:, state, state] @ first[:, state, state],
        now=rest[:, state, effort],
        late=rest[:, state, state] @ first[:, state, effort],
        whole=whole,
        joints=np.swapaxes(inverse, 1, 2)[:, :joints],
    )


def closed_loop(plant: SampledPlant, P: FloatArray, V: FloatArray) -> FloatArray:
    """Return the closed-loop transition matrix for ``u = -P q - V qd``, shape (N, m, m).

    Its state is the plant's state followed by the efforts that have not acted yet, newest first.

    Args:
        plant: the machines.
        P: gains of the joint positions, shape (N, n_j, n_j), N m/rad or N/m.
        V: gains of the joint velocities, shape (N, n_j, n_j).
    """
    count, size = plant.transition.shape[:2]
    joints = plant.joints.shape[1]
    remembered = plant.whole + bool(plant.late.any())
    F = -np.concatenate([P @ plant.joints, V @ plant.joints], axis=2)
    # Effort i, of the sample i periods ago: i = 0 is computed in this one.
    acting = {plant.whole: plant.now, plant.whole + 1: plant.late}
    loop = np.zeros((count, size + remembered * joints, size + remembered * joints))
    loop[:, :size, :size] = plant.transition
    if plant.whole == 0:
        loop[:, :size, :size] += plant.now @ F
    for i in range(1, remembered + 1):
        columns = slice(size + (i - 1) * joints, size + i * joints)
        if i in acting:
            loop[:, :size, columns] = acting[i]
        if i == 1:
            loop[:, columns, :size] = F
        else:
            before = slice(size + (i - 2) * joints, size + (i - 1) * joints)
            loop[:, columns, before] = np.eye(joints)
    return loop


def growth(plant: SampledPlant, P: FloatArray, V: FloatArray) -> FloatArray:
    """Return the spectral radius of the closed loop, shape (N,): stable below 1."""
    return spectral_radius(closed_loop(plant, P, V))


def spectral_radius(matrices: FloatArray) -> FloatArray:
    """Return the largest absolute eigenvalue of matrices, shape (N,) for (N, m, m)."""
    return np.asarray(np.abs(np.linalg.eigvals(matrices)).max(axis=1))


def contracting(matrices: FloatArray) -> BoolArray:
    """Return whose high powers are clearly contractions, shape (N,) for (N, m, m).

    Their spectral radius is below 1; that of the others may be, too.
    """
    sure = np.zeros(len(matrices), dtype=bool)
    left, power = np.arange(len(matrices)), matrices
    with np.errstate(over='ignore', invalid='ignore'):
        for squarings in _SQUARINGS:
            for _ in range(squarings):
                power = power @ power
            size = np.square(power).sum(axis=(1, 2))
            sure[left] = size < _CONTRACTION**2
            left, power = left[~sure[left]], power[~sure[left]]
    return sure


def single_joint_limit(
    period: float, delay: float, damping_ratio: float = 1.0, gain: float = 1.0
) -> float:
    """Return the largest natural frequency, rad/s, at which one joint is stable.

    A joint under computed torque is a double integrator under ``gain (kp e + kd ed)`` with
    kp = w^2 and kd = 2 z w, sampled every period, held and delayed.

    Args:
        period: time between samples, s.
        delay: time from a sample until its effort acts, s.
        damping_ratio: z.
        gain: inertia of the model divided by that of the machine.

    Raises:
        ParameterError: the delay is longer than 20 periods.
    """
    one = np.ones((1, 1, 1))
    plant = sampled_plant(one, 0.0 * one, 0.0 * one, 1, period, delay)

    def stable(w: float) -> bool:
        P, V = gain * w**2 * one, gain * 2.0 * damping_ratio * w * one
        return bool(growth(plant, P, V)[0] < 1.0)

    lower, upper = 0.0, 10.0 / (min(damping_ratio, 1.0) * gain * period)
    # One stability limit exists: search upwards from a frequency at which the delay is negligible.
    step = 1e-3 / (max(damping_ratio, 1.0) * (period + delay) * max(gain, 1.0))
    while step < upper and stable(step):
        lower, step = step, 1.25 * step
    upper = step
    for _ in range(40):
        middle = 0.5 * (lower + upper)
        lower, upper = (middle, upper) if stable(middle) else (lower, middle)
    return lower
