# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Peaks of velocities to effort rates of a motion, and the slow-down that keeps their limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.control.reference.path_terms import (
    ACCELERATION,
    EFFORT,
    EFFORT_RATE,
    VELOCITY,
    Limits,
)
from kron_dynamics.control.reference.polynomials import States, powers_of, quintic_pieces
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Each piece is evaluated at 9 Chebyshev points. Where a quantity exceeds 0.9 of its limit, the
# interpolating polynomial is evaluated at 129 points.
_PLACES, _NEAR, _SAMPLES = 9, 0.9, 129
# Motions stay within this share of their limits; the margin exceeds rounding errors and those of
# peaks between samples.
_WITHIN = 1.0 - 5e-8
# Most iterations for the slow-down factor.
_MOST_TRIALS = 30


def _powers(z: FloatArray, order: int, derivative: int) -> FloatArray:
    """Derivatives of the powers of z, shape (len(z), order)."""
    found = np.vander(z, order, increasing=True)
    for _ in range(derivative):
        found[:, 1:] = found[:, :-1] * np.arange(1, order)
        found[:, 0] = 0.0
    return found


_Z = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, _PLACES))
_STATES = [_powers(_Z, 6, derivative) for derivative in range(3)]
_TO_POWERS = np.linalg.inv(_powers(_Z, _PLACES, 0))
_EVEN = np.linspace(0.0, 1.0, _SAMPLES)
_TO_SAMPLES = _powers(_EVEN, _PLACES, 0) @ _TO_POWERS
_TO_SLOPES = _powers(_Z, _PLACES, 1) @ _TO_POWERS
# Quadrature weights of the 9 points.
_SHARES = (1.0 / np.arange(1, _PLACES + 1)) @ _TO_POWERS


def _highest(samples: FloatArray) -> FloatArray:
    """Maxima of samples, (m, S), refined by parabolas through the largest and its neighbours."""
    rows = np.arange(len(samples))
    top = np.clip(samples.argmax(axis=1), 1, samples.shape[1] - 2)
    before, here, after = (samples[rows, top + k] for k in (-1, 0, 1))
    slope, bend = 0.5 * (after - before), before - 2.0 * here + after
    inside = (bend < 0.0) & (np.abs(slope) < -bend)
    above = here - 0.5 * slope**2 / np.where(inside, bend, -1.0)
    ends = np.maximum(np.maximum(before, here), after)
    found: FloatArray = np.where(inside, above, ends)
    return found


@dataclass(frozen=True, slots=True, eq=False)
class MotionSamples:
    """States of a motion, joined by quintic pieces, and its quantities at points of each piece.

    Attributes:
        times: times of the states, shape (K,), s, the first 0.
        states: q, qd and qdd, shape (K, n) each.
        values: velocities, accelerations, efforts and effort rates, shape (4, S, K - 1, n), at
            S points of each piece: 9, interpolated by a polynomial, or 129 with friction. The
            rates exclude Coulomb friction.
        standing: weight and friction, which slowing down does not reduce, and their rates, which
            are at most proportional to the speed, shape (2, S, K - 1, n).
    """

    times: FloatArray
    states: States
    values: FloatArray
    standing: FloatArray

    @classmethod
    def of(cls, robot: Robot, times: FloatArray, states: States, friction: bool) -> MotionSamples:
        """Return the motion through the states with its computed quantities."""
        sizes = np.diff(times)
        begin, end = (tuple(state[at] for state in states) for at in (slice(-1), slice(1, None)))
        pieces = quintic_pieces(sizes, begin, end)  # type: ignore[arg-type]
        pieces *= powers_of(sizes, 6)[..., np.newaxis]
        grid = (_PLACES, sizes.size, robot.n)
        flat = pieces.reshape(6, -1)
        q, values, standing = _STATES[0] @ flat, np.empty((4, *grid)), np.empty((2, *grid))
        for k, powers in ((VELOCITY, _STATES[1]), (ACCELERATION, _STATES[2])):
            np.matmul(powers, flat, out=values[k].reshape(_PLACES, -1))
            values[k] /= sizes[:, np.newaxis] ** (k + 1)
        motion = [
            each.reshape(-1, robot.n) for each in (q, values[VELOCITY], values[ACCELERATION])
        ]
        values[EFFORT] = robot.inverse_dynamics(*motion).reshape(grid)
        standing[0] = robot.gravity_vector(motion[0]).reshape(grid)
        for k, found in ((EFFORT, values), (0, standing)):
            rates = (_TO_SLOPES @ found[k].reshape(_PLACES, -1)).reshape(grid)
            found[k + 1] = rates / sizes[:, np.newaxis]
        if friction:
            values, standing = (
                (_TO_SAMPLES @ found.reshape(len(found), _PLACES, -1)).reshape(
                    len(found), _SAMPLES, *grid[1:]
                )
                for found in (values, standing)
            )
            own = robot.joint_friction(values[VELOCITY].reshape(-1, robot.n))
            viscous = robot.model.damping * values[ACCELERATION]
            for found in (values[EFFORT:], standing):
                found += np.stack((own.reshape(viscous.shape), viscous))
        return cls(times, states, values, standing)

    @property
    def duration(self) -> float:
        """Duration of the motion, s."""
        return float(self.times[-1])

    def peaks(self, limits: Limits) -> FloatArray:
        """Return the largest ratio to each limit in each piece, shape (4, K - 1, n)."""
        all_limits = np.stack(limits)
        found: FloatArray = np.abs(self.values).max(axis=1) / all_limits[:, np.newaxis]
        at = np.nonzero(found > _NEAR)
        samples = self._between(self.values[at[0], :, at[1], at[2]])
        found[at] = _highest(np.abs(samples)) / all_limits[at[0], at[2]]
        return found

    def reached(self, limits: Limits, share: float) -> FloatArray:
        """Return for how long each quantity reaches a share of its limit, shape (4, n), s."""
        used = np.abs(self.values) >= share * np.stack(limits)[:, np.newaxis, np.newaxis]
        even = np.full(_SAMPLES, 1.0 / _SAMPLES)
        weights = _SHARES if used.shape[1] == _PLACES else even
        shares = weights @ used.reshape(*used.shape[:2], -1).astype(np.float64)
        found: FloatArray = np.diff(self.times) @ shares.reshape(len(used), *used.shape[2:])
        return found

    def slowing(self, limits: Limits, peaks: FloatArray) -> float:
        """Return the factor, 1 or more, by which the duration must grow to keep the limits.

        It is inf if no speed keeps them.

        Args:
            limits: limits of all joints.
            peaks: ratios to the limits, from `peaks`.
        """
        most = peaks.max(axis=(1, 2)) / _WITHIN
        factor = max(1.0, float(most[VELOCITY]), float(np.sqrt(most[ACCELERATION])))
        limit, still, rest = self._beyond(EFFORT, limits, peaks)
        room = limit - still
        if (room <= 0.0).any():
            return float('inf')
        factor = max(factor, float(np.sqrt((rest / room).max(initial=1.0))))
        limit, still, rest = self._beyond(EFFORT_RATE, limits, peaks)
        for _ in range(_MOST_TRIALS):
            over = float(((rest / factor**3 + still / factor) / limit).max(initial=0.0))
            if over <= 1.0:
                return factor
            factor *= (1.0 + 1e-7) * over ** (1.0 / 3.0)
        return float('inf')

    def _between(self, values: FloatArray) -> FloatArray:
        """Values, (m, S), interpolated at 129 points of their pieces."""
        return values if values.shape[1] == _SAMPLES else values @ _TO_SAMPLES.T

    def _beyond(
        self, quantity: int, limits: Limits, peaks: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Limits of violating samples, and their static and speed-dependent parts, same sign."""
        piece, joint = np.nonzero(peaks[quantity] > _WITHIN)
        values = self._between(self.values[quantity][:, piece, joint].T)
        still = self._between(self.standing[quantity - EFFORT][:, piece, joint].T)
        limit = _WITHIN * limits[quantity][joint]
        # Lower the limit by the ratio of the highest sample to the peak between the samples.
        high = peaks[quantity][piece, joint] * limits[quantity][joint]
        limit = limit * np.minimum(np.abs(values).max(axis=1, initial=0.0) / high, 1.0)
        at = np.nonzero(np.abs(values) > limit[:, np.newaxis])
        sign = np.sign(values[at])
        return limit[at[0]], sign * still[at], sign * (values - still)[at]

    def slowed(self, factor: float) -> MotionSamples:
        """Return the motion with its duration multiplied by a factor."""
        if factor == 1.0:
            return self
        q, v, a = self.states
        scale = np.array([1.0, factor])[:, np.newaxis, np.newaxis, np.newaxis]
        values, standing = self.values.copy(), self.standing / scale
        values[EFFORT:] = (values[EFFORT:] - self.standing) / (factor**2 * scale) + standing
        values[VELOCITY] /= factor
        values[ACCELERATION] /= factor**2
        return MotionSamples(factor * self.times, (q, v / factor, a / factor**2), values, standing)
