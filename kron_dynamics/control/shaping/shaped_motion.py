# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A reference convolved with a phase-varying shaper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.shaping.reference_rates import ReferenceRates
from kron_dynamics.control.shaping.shapers import damped, impulses
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
_MOST_HALVINGS = 16
# A velocity that counts as none, rad/s or m/s: rounding of joints that stay where they are.
_NO_VELOCITY = 1e-9
# Knots nearer to each other than this, in rad of the fastest mode, are one: quintic pieces much
# shorter would amplify rounding.
_LEAST_PHASE = 3e-3


class _Warp:
    """A function of time that grows: a phase of a mode; its inverse."""

    def __init__(self, function: PPoly) -> None:
        self.value = function
        self.rate = function.derivative()
        self.curvature = self.rate.derivative()
        self._at_breaks = function(function.x)

    @property
    def grows(self) -> bool:
        """Whether it grows at every break."""
        return bool(np.all(self.rate(self.rate.x) > 0.0))

    def inverse(self, phase: FloatArray) -> FloatArray:
        """Return the times, shape (K,), at which it has the values (K,)."""
        breaks = self.value.x
        t: FloatArray = np.interp(phase, self._at_breaks, breaks)
        for _ in range(50):
            step = (phase - self.value(t)) / self.rate(t)
            t = t + step
            if np.abs(step).max(initial=0.0) <= 1e-14 * (breaks[-1] - breaks[0]):
                break
        return t


@dataclass(frozen=True, slots=True, eq=False)
class ModeClock:
    """The phase of a mode along a motion, and the impulses its shaper makes of an increment.

    Attributes:
        frequency: of the times, rad/s: the damped one.
        phase: its integral over time, rad.
        parts: for each impulse its amplitude, by the time of the increment, that amplitude's
            derivative, and the phase at which it arrives.
    """

    frequency: PPoly
    phase: _Warp
    parts: tuple[tuple[PPoly, PPoly, _Warp], ...]

    @classmethod
    def of(
        cls,
        times: FloatArray,
        frequencies: FloatArray,
        damping_ratios: FloatArray,
        kind: str,
        tolerated_vibration: float,
    ) -> ModeClock:
        """Return the clock of a mode known at times (K,); before and after it stays as it is.

        Args:
            times: s, ascending.
            frequencies: shape (K,), rad/s, without damping.
            damping_ratios: shape (K,).
            kind: of the shaper.
            tolerated_vibration: of the kind 'ei'.

        Raises:
            ParameterError: there is no such shaper.
            TrajectoryError: the mode changes so fast that impulses would overtake others.
        """
        from scipy.interpolate import PPoly  # takes long to import

        made = [impulses(kind, float(z), tolerated_vibration) for z in damping_ratios]
        amplitudes = np.array([amplitude for amplitude, _ in made]).T
        rates = np.array(list(map(damped, frequencies, damping_ratios)), dtype=np.float64)
        frequency = _spline_held_at_ends(times, rates)
        phase = frequency.antiderivative()
        clock = _Warp(phase)
        warps, weights = [], []
        for amplitude, late in zip(amplitudes, np.array([p for _, p in made]).T, strict=True):
            coefficients = phase.c.copy()
            coefficients[1:] += _spline_held_at_ends(times, late).c
            warp = _Warp(PPoly(coefficients, phase.x))
            if not (clock.grows and warp.grows):
                raise TrajectoryError('a mode changes too fast to shape the trajectory for it')
            # A step at the frequency w leaves an amplitude behind as sqrt(w): the quotient of
            # energy and frequency of a free vibration stays the same while w changes slowly.
            arrival = clock.inverse(warp.value(times))
            weights.append(amplitude * np.sqrt(rates / frequency(arrival)))
            warps.append(warp)
        shares = [
            _spline_held_at_ends(times, weight) for weight in weights / np.sum(weights, axis=0)
        ]
        parts = [(s, s.derivative(), warp) for s, warp in zip(shares, warps, strict=True)]
        return cls(frequency, clock, tuple(parts))

    def change_to(self, other: ModeClock, times: FloatArray) -> float:
        """Return the largest difference of frequency, relative, and of amplitudes at the times."""
        frequency = other.frequency(times)
        changes = [np.abs(self.frequency(times) / frequency - 1.0)]
        for (share, _, _), (other_share, _, _) in zip(self.parts, other.parts, strict=True):
            changes.append(np.abs(share(times) - other_share(times)))
        return float(np.max(changes))


class ShapedMotion:
    """A reference, shaped for one mode after the other. Times are in s, rates (K, n)."""

    def __init__(self, reference: ReferenceRates, clocks: Sequence[ModeClock]) -> None:
        """Shape a reference for modes; without any it stays what it is."""
        self._reference = reference
        self._clocks = tuple(clocks)

    @property
    def end(self) -> float:
        """When the last increment has arrived whole."""
        return float(self.arrivals(self._reference.knots[-1:])[-1])

    def arrivals(self, times: FloatArray) -> FloatArray:
        """Return when the parts of increments at the times (K,) arrive, ascending, (K p^m,)."""
        for clock in self._clocks:
            times = np.concatenate(
                [clock.phase.inverse(warp.value(times)) for _, _, warp in clock.parts]
            )
        return np.sort(times)

    def rates(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return velocities and accelerations at the times (K,)."""
        return self._rates(t, len(self._clocks))

    def _rates(self, t: FloatArray, modes: int) -> tuple[FloatArray, FloatArray]:
        if modes == 0:
            return self._reference.velocity(t), self._reference.acceleration(t)
        clock = self._clocks[modes - 1]
        phase, rate, growth = clock.phase.value(t), clock.frequency(t), clock.phase.curvature(t)
        n = self._reference.velocity.c.shape[-1]
        qd, qdd = np.zeros((len(t), n)), np.zeros((len(t), n))
        for share, share_rate, warp in clock.parts:
            s = warp.inverse(phase)  # when that was made which arrives at t
            ds = rate / warp.rate(s)
            dds = (growth - warp.curvature(s) * ds**2) / warp.rate(s)
            made_qd, made_qdd = self._rates(s, modes - 1)
            A, dA = share(s), share_rate(s)
            qd += (A * ds)[:, np.newaxis] * made_qd
            qdd += (dA * ds**2 + A * dds)[:, np.newaxis] * made_qd
            qdd += (A * ds**2)[:, np.newaxis] * made_qdd
        return qd, qdd

    def displacements(self, times: FloatArray) -> FloatArray:
        """Return how far the joints have come since the first of the times, (K, n)."""
        half = np.diff(times) / 2.0
        t = (times[:-1] + half)[:, np.newaxis] + half[:, np.newaxis] * _NODES
        qd = self.rates(t.ravel())[0].reshape(*t.shape, -1)
        gained = np.einsum('k,g,kgn->kn', half, _WEIGHTS, qd)
        return np.vstack([np.zeros(qd.shape[-1]), np.cumsum(gained, axis=0)])

    def interpolated(
        self, begin: float, velocity_error: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return points that polynomials join well.

        They are times (K,) and displacements, velocities and accelerations, (K, n) each.
        Quintic ones where the reference is smooth, else cubic ones from the first three.

        Args:
            begin: first of the times, s.
            velocity_error: largest error between them, against the joint's greatest velocity.

        Raises:
            TrajectoryError: there are no such times.
        """
        from scipy.interpolate import BPoly, CubicHermiteSpline  # takes long to import

        end = self.end
        fastest = max(float(clock.frequency(clock.frequency.x).max()) for clock in self._clocks)
        knots = self.arrivals(self._reference.knots)
        knots = np.concatenate(([begin], knots[(knots > begin) & (knots < end)]))
        least = _LEAST_PHASE / fastest
        apart = (np.diff(knots, prepend=-np.inf) > least) & (end - knots > least)
        knots = np.append(knots[apart], end)
        for _ in range(_MOST_HALVINGS):
            q, (qd, qdd) = self.displacements(knots), self.rates(knots)
            polynomial = (
                BPoly.from_derivatives(knots, np.stack((q, qd, qdd), axis=1))
                if self._reference.smooth
                else CubicHermiteSpline(knots, q, qd)
            )
            t = knots[:-1, np.newaxis] + np.diff(knots)[:, np.newaxis] * [0.25, 0.5, 0.75]
            exact = self.rates(t.ravel())[0]
            error = np.abs(polynomial.derivative()(t.ravel()) - exact)
            allowed = velocity_error * np.abs(exact).max(axis=0) + _NO_VELOCITY
            wrong = np.any(error > allowed, axis=1)
            wrong = wrong.reshape(t.shape).any(axis=1)
            if not wrong.any():
                return knots, q, qd, qdd
            knots = np.sort(np.concatenate((knots, t[wrong, 1])))
        raise TrajectoryError(
            f'the shaped motion cannot be interpolated with {len(knots)} points: the modes change '
            'too fast along the trajectory'
        )


def _spline_held_at_ends(times: FloatArray, values: FloatArray) -> PPoly:
    """Return the spline through the values, constant before and after."""
    from scipy.interpolate import CubicSpline, PPoly  # takes long to import

    spline = CubicSpline(times, values, bc_type=('not-a-knot', 'clamped'))
    coefficients = np.zeros((4, len(times) + 1))
    coefficients[:, 1:-1] = spline.c
    coefficients[-1, [0, -1]] = values[[0, -1]]
    return PPoly(coefficients, np.concatenate(([times[0] - 1.0], times, [times[-1] + 1.0])))
