# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Input shaping of a reference in the phase of modes with varying frequencies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kron_dynamics.control.reference.polynomials import (
    cubic_pieces,
    derivative_of,
    quintic_pieces,
)
from kron_dynamics.control.shaping.reference_rates import ReferenceRates
from kron_dynamics.control.shaping.shapers import damped, impulses
from kron_dynamics.exceptions import TrajectoryError
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(5)
_MOST_HALVINGS = 16
# Absolute velocity tolerance, rad/s or m/s: rounding of joints that do not move.
_NO_VELOCITY = 1e-9
# Knots nearer to each other than this, in rad of the fastest mode, are merged: much shorter
# quintic pieces would amplify rounding.
_LEAST_PHASE = 3e-3


class _Warp:
    """An increasing function of time, such as the phase of a mode, with its inverse."""

    def __init__(self, function: PPoly) -> None:
        self.value = function
        self.rate = function.derivative()
        self.curvature = self.rate.derivative()
        self._at_breaks = function(function.x)

    @property
    def grows(self) -> bool:
        """Whether the function increases at every break."""
        return bool(np.all(self.rate(self.rate.x) > 0.0))

    def inverse(self, phase: FloatArray) -> FloatArray:
        """Return the times, shape (K,), at which the function has the values (K,)."""
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
    """The phase of a mode along a motion, and the impulses that its shaper makes of an increment.

    Attributes:
        frequency: damped frequency as a function of time, rad/s.
        phase: integral of the frequency over time, rad.
        parts: for each impulse its amplitude, the derivative of the amplitude, and the phase of
            its arrival, as functions of the time of the increment.
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
        """Return the clock of a mode given at times (K,); it is constant before and after them.

        Args:
            times: s, ascending.
            frequencies: undamped natural frequencies, shape (K,), rad/s.
            damping_ratios: shape (K,).
            kind: kind of the shaper.
            tolerated_vibration: residual vibration of the kind 'ei'.

        Raises:
            ParameterError: the shaper does not exist.
            TrajectoryError: the mode changes so fast that impulses would overtake each other.
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
            # Weights by the adiabatic invariant: energy / frequency of a free vibration is
            # constant while the frequency w changes slowly, so amplitudes scale with sqrt(w).
            arrival = clock.inverse(warp.value(times))
            weights.append(amplitude * np.sqrt(rates / frequency(arrival)))
            warps.append(warp)
        shares = [
            _spline_held_at_ends(times, weight) for weight in weights / np.sum(weights, axis=0)
        ]
        parts = [(s, s.derivative(), warp) for s, warp in zip(shares, warps, strict=True)]
        return cls(frequency, clock, tuple(parts))

    def frequency_change_to(self, other: ModeClock, times: FloatArray) -> FloatArray:
        """Return the relative difference of the frequencies at times (K,), shape (K,)."""
        change: FloatArray = np.abs(self.frequency(times) / other.frequency(times) - 1.0)
        return change

    def change_to(self, other: ModeClock, times: FloatArray) -> FloatArray:
        """Return the larger of frequency difference, relative, and amplitude difference, (K,)."""
        changes = [self.frequency_change_to(other, times)]
        for (share, _, _), (other_share, _, _) in zip(self.parts, other.parts, strict=True):
            changes.append(np.abs(share(times) - other_share(times)))
        return np.asarray(np.max(changes, axis=0))


class ShapedMotion:
    """A reference shaped for several modes in sequence. Times are in s, rates (K, n)."""

    def __init__(self, reference: ReferenceRates, clocks: Sequence[ModeClock]) -> None:
        """Shape a reference for modes; without modes it is unchanged."""
        self._reference = reference
        self._clocks = tuple(clocks)

    @property
    def end(self) -> float:
        """Time at which all parts of the last increment have arrived."""
        return float(self.arrivals(self._reference.knots[-1:])[-1])

    def arrivals(self, times: FloatArray) -> FloatArray:
        """Return the arrival times of the parts of increments at times (K,), sorted, (K p^m,)."""
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
            s = warp.inverse(phase)  # time of the increment that arrives at t
            ds = rate / warp.rate(s)
            dds = (growth - warp.curvature(s) * ds**2) / warp.rate(s)
            made_qd, made_qdd = self._rates(s, modes - 1)
            A, dA = share(s), share_rate(s)
            qd += (A * ds)[:, np.newaxis] * made_qd
            qdd += (dA * ds**2 + A * dds)[:, np.newaxis] * made_qd
            qdd += (A * ds**2)[:, np.newaxis] * made_qdd
        return qd, qdd

    def displacements(self, times: FloatArray) -> FloatArray:
        """Return the displacements of the joints since the first of the times, (K, n)."""
        half = np.diff(times) / 2.0
        t = (times[:-1] + half)[:, np.newaxis] + half[:, np.newaxis] * _NODES
        qd = self.rates(t.ravel())[0].reshape(*t.shape, -1)
        gained = np.einsum('k,g,kgn->kn', half, _WEIGHTS, qd)
        return np.vstack([np.zeros(qd.shape[-1]), np.cumsum(gained, axis=0)])

    def interpolated(
        self, begin: float, velocity_error: float
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return points whose polynomial interpolation is accurate.

        These are times (K,) and displacements, velocities and accelerations, (K, n) each, for
        quintic pieces if the reference is smooth, else without accelerations for cubic pieces.

        Args:
            begin: first of the times, s.
            velocity_error: largest interpolation error, relative to the joint's largest velocity.

        Raises:
            TrajectoryError: the error remains too large after all refinements.
        """
        end = self.end
        fastest = max(float(clock.frequency(clock.frequency.x).max()) for clock in self._clocks)
        arrivals = self.arrivals(self._reference.knots)
        arrivals = np.concatenate(([begin], arrivals[(arrivals > begin) & (arrivals < end)]))
        least = _LEAST_PHASE / fastest
        apart = (np.diff(arrivals, prepend=-np.inf) > least) & (end - arrivals > least)
        knots = np.append(arrivals[apart], end)
        for _ in range(_MOST_HALVINGS):
            q, (qd, qdd) = self.displacements(knots), self.rates(knots)
            late = np.diff(knots)[:, np.newaxis] * [0.25, 0.5, 0.75]
            t = knots[:-1, np.newaxis] + late
            exact = self.rates(t.ravel())[0].reshape(*t.shape, -1)
            rates = _velocities(knots, q, qd, qdd if self._reference.smooth else None)
            found = np.zeros_like(exact)
            for coefficient in rates[::-1, :, np.newaxis]:
                found = found * late[..., np.newaxis] + coefficient
            allowed = velocity_error * np.abs(exact).max(axis=(0, 1)) + _NO_VELOCITY
            wrong = np.any(np.abs(found - exact) > allowed, axis=(1, 2))
            if not wrong.any():
                # A move between merged knots may have been overlooked.
                gained = self.displacements(np.union1d(knots, arrivals))[-1]
                if np.all(np.abs(gained - q[-1]) <= allowed * (end - begin)):
                    return knots, q, qd, qdd
                break
            knots = np.sort(np.concatenate((knots, t[wrong, 1])))
        why = 'the modes change too fast along the trajectory'
        shortest = self._reference.shortest_moving_piece
        if shortest < least:
            why = (
                f'the reference moves within {shortest:.3g} s, expected pieces of at least '
                f'{1.1 * least:.2g} s for modes of {fastest:.4g} rad/s'
            )
        raise TrajectoryError(
            f'the shaped motion cannot be interpolated with {len(knots)} points: {why}'
        )


def _velocities(
    knots: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray | None
) -> FloatArray:
    """Velocity of the pieces through states, (K, n) each, as coefficients (order, K - 1, n)."""
    sizes = np.diff(knots)
    if qdd is None:
        return derivative_of(cubic_pieces(sizes, (q[:-1], qd[:-1]), (q[1:], qd[1:])))
    begin, end = (q[:-1], qd[:-1], qdd[:-1]), (q[1:], qd[1:], qdd[1:])
    return derivative_of(quintic_pieces(sizes, begin, end))


def _spline_held_at_ends(times: FloatArray, values: FloatArray) -> PPoly:
    """Return the cubic spline through the values, constant before and after."""
    from scipy.interpolate import CubicSpline, PPoly  # takes long to import

    spline = CubicSpline(times, values, bc_type=('not-a-knot', 'clamped'))
    coefficients = np.zeros((4, len(times) + 1))
    coefficients[:, 1:-1] = spline.c
    coefficients[-1, [0, -1]] = values[[0, -1]]
    return PPoly(coefficients, np.concatenate(([times[0] - 1.0], times, [times[-1] + 1.0])))
