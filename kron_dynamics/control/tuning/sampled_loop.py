# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A machine at rest under efforts that are sampled, held and late: the loop in discrete time."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.typing import FloatArray, IndexArray

# Periods of delay that count as none at the end of a whole number of them.
_ROUNDED = 1e-9
_MOST_PERIODS = 20


class SampledPlant(NamedTuple):
    """N machines about rest, from one sample to the next.

    The state is (y, dy/dt) with coordinates y = L' q in which the mass matrix M = L L' is the
    unit matrix. Efforts u of sample k act from a delay after it until the next ones do:
    ``x[k+1] = transition x[k] + now u[k-d] + late u[k-d-1]``.

    Attributes:
        transition: shape (N, 2 n, 2 n).
        now: what the newer efforts do, shape (N, 2 n, n_j).
        late: what those before them do, shape (N, 2 n, n_j); zeros where the delay is d periods.
        whole: d, whole periods of delay.
        joints: from y to positions of the joints, shape (N, n_j, n).
    """

    transition: FloatArray
    now: FloatArray
    late: FloatArray
    whole: int
    joints: FloatArray

    def of(self, which: IndexArray) -> SampledPlant:
        """Return those with these indices."""
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
        K: stiffness, of weight too, shape (N, n, n).
        joints: number n_j of coordinates with efforts, the first ones.
        period: between samples, s.
        delay: from a sample until its efforts act, s.

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
    share = periods - whole  # of the period in which the older efforts still act, up to 1
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
    """Return the matrix from one sample to the next under ``u = -P q - V qd``, shape (N, m, m).

    Its state is that of the plant, then the efforts that have not acted yet, the newest first.

    Args:
        plant: the machines.
        P: of the positions of the joints, shape (N, n_j, n_j), N m/rad or N/m.
        V: of their velocities, shape (N, n_j, n_j).
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
    """Return the largest factor from one sample to the next, shape (N,): stable below 1."""
    return np.asarray(np.abs(np.linalg.eigvals(closed_loop(plant, P, V))).max(axis=1))


def single_joint_limit(
    period: float, delay: float, damping_ratio: float = 1.0, gain: float = 1.0
) -> float:
    """Return the largest natural frequency, rad/s, at which one joint is stable.

    A joint under computed torque is a double integrator under ``gain (kp e + kd ed)`` with
    kp = w^2 and kd = 2 z w: sampled every period, held, and a delay late.

    Args:
        period: between samples, s.
        delay: from a sample until its effort acts, s.
        damping_ratio: z.
        gain: inertia of the model through that of the machine.

    Raises:
        ParameterError: the delay is longer than 20 periods.
    """
    one = np.ones((1, 1, 1))
    plant = sampled_plant(one, 0.0 * one, 0.0 * one, 1, period, delay)

    def stable(w: float) -> bool:
        P, V = gain * w**2 * one, gain * 2.0 * damping_ratio * w * one
        return bool(growth(plant, P, V)[0] < 1.0)

    lower, upper = 0.0, 10.0 / (min(damping_ratio, 1.0) * gain * period)
    # Unstable at every frequency above one: up from where the delay is next to nothing.
    step = 1e-3 / (max(damping_ratio, 1.0) * (period + delay) * max(gain, 1.0))
    while step < upper and stable(step):
        lower, step = step, 1.25 * step
    upper = step
    for _ in range(40):
        middle = 0.5 * (lower + upper)
        lower, upper = (middle, upper) if stable(middle) else (lower, middle)
    return lower
