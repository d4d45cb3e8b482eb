# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Input shapers: sequences of impulses whose vibrations cancel each other.

Kinds, with K = exp(-pi z / sqrt(1 - z^2)) the decay over half a damped period Td:

- `zv`, zero vibration: amplitudes (1, K) / (1 + K) at 0, Td/2. Exact at one frequency.
- `zvd`, zero vibration and derivative: (1, 2 K, K^2) / (1 + K)^2 at 0, Td/2, Td. The residual
  vibration grows with the square of a small frequency error.
- `ei`, extra insensitive: three impulses within about Td, whose residual vibration is at most the
  tolerated value V between two zeros, one on either side of the frequency.

Sources: Singer and Seering, Preshaping command inputs to reduce system vibration, 1990 (zv, zvd);
Singhose, Seering and Singer, Residual vibration reduction using vector diagrams, 1994 (ei).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kron_dynamics.arguments import real_array, real_number
from kron_dynamics.exceptions import NonFiniteError, ParameterError
from kron_dynamics.typing import ArrayLike, FloatArray

KINDS = ('zv', 'zvd', 'ei')
# Largest values for which the equations of the extra insensitive shaper are solved.
_EI_DAMPING = 0.3
_EI_TOLERANCE = 0.15


@dataclass(frozen=True, slots=True, eq=False)
class Shaper:
    """Impulses with which a motion is convolved; arrays are read-only.

    Attributes:
        amplitudes: amplitudes of the impulses, shape (p,), sum 1.
        delays: times of the impulses, shape (p,), s, ascending from 0.
    """

    amplitudes: FloatArray
    delays: FloatArray

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        self.amplitudes.setflags(write=False)
        self.delays.setflags(write=False)

    @property
    def duration(self) -> float:
        """Delay of the last impulse, in s, by which shaping lengthens a motion."""
        return float(self.delays[-1])


def shaper(
    kind: str, frequency: float, damping_ratio: float, tolerated_vibration: float = 0.05
) -> Shaper:
    """Return the shaper of a kind for one mode.

    Args:
        kind: 'zv', 'zvd' or 'ei'.
        frequency: undamped natural frequency w, rad/s.
        damping_ratio: z; 0 <= z < 1, for 'ei' at most 0.3.
        tolerated_vibration: V of 'ei', as a share of the unshaped vibration, above 0 and at most
            0.15.

    Raises:
        ArgumentTypeError: an argument is no number.
        ParameterError: the kind is unknown, or a number is out of its range.
        NonFiniteError: a number is NaN or infinite.
    """
    frequency = real_number(frequency, 'frequency')
    damping_ratio = real_number(damping_ratio, 'damping_ratio')
    check_mode(frequency, damping_ratio)
    amplitudes, phases = impulses(kind, damping_ratio, tolerated_vibration)
    return Shaper(amplitudes.copy(), phases / damped(frequency, damping_ratio))


def convolved(shapers: Iterable[Shaper]) -> Shaper:
    """Return the convolution of shapers, one for each of several modes.

    Raises:
        ParameterError: no shaper is given.
    """
    given = list(shapers)
    if not given:
        raise ParameterError('shapers is empty, expected at least one')
    amplitudes, delays = given[0].amplitudes, given[0].delays
    for other in given[1:]:
        amplitudes = np.outer(amplitudes, other.amplitudes).ravel()
        delays = np.add.outer(delays, other.delays).ravel()
    order = np.argsort(delays, kind='stable')
    return Shaper(amplitudes[order], delays[order])


def residual_vibration(shaper: Shaper, frequency: ArrayLike, damping_ratio: float) -> FloatArray:
    """Return the residual vibration after the last impulse, as a share of the unshaped one.

    ``exp(-z w t_p) |sum_i A_i exp((z w + j wd) t_i)|``: the amplitude right after the last
    impulse, relative to the amplitude right after a single unit impulse.

    Args:
        shaper: the impulses.
        frequency: actual natural frequencies w of the machine, any shape, rad/s.
        damping_ratio: actual damping ratio z.

    Returns:
        Shape of frequency, unit 1.

    Raises:
        ArgumentTypeError: one of them is no number.
        ParameterError: a frequency or the damping ratio is out of its range.
        NonFiniteError: one of them is NaN or infinite.
    """
    w = real_array(frequency, 'frequency')
    damping_ratio = real_number(damping_ratio, 'damping_ratio')
    for value in w.flat:
        check_mode(value, damping_ratio)
    rate = w * complex(damping_ratio, np.sqrt(1.0 - damping_ratio**2))
    late = shaper.delays - shaper.delays[-1]
    share: FloatArray = np.abs(np.exp(rate[..., np.newaxis] * late) @ shaper.amplitudes)
    return share


def check_mode(frequency: float, damping_ratio: float, where: str = '') -> None:
    """Refuse a mode for which no shaper exists.

    Args:
        frequency: rad/s.
        damping_ratio: unit 1.
        where: text to add to the message.

    Raises:
        ParameterError: the frequency is not above 0, or the damping ratio not in [0, 1).
        NonFiniteError: one of them is NaN or infinite.
    """
    for name, value in (('frequency', frequency), ('damping_ratio', damping_ratio)):
        if not np.isfinite(value):
            raise NonFiniteError(f'{name} is {value}{where}, expected a finite number')
    if frequency <= 0.0:
        raise ParameterError(f'frequency is {frequency:g} rad/s{where}, expected above 0')
    if not 0.0 <= damping_ratio < 1.0:
        raise ParameterError(
            f'damping_ratio is {damping_ratio:g}{where}, expected at least 0 and below 1'
        )


def damped(frequency: float, damping_ratio: float) -> float:
    """Return the damped natural frequency w sqrt(1 - z^2), rad/s."""
    return float(frequency * np.sqrt(1.0 - damping_ratio**2))


def impulses(
    kind: str, damping_ratio: float, tolerated_vibration: float
) -> tuple[FloatArray, FloatArray]:
    """Return a shaper independent of the frequency: amplitudes (p,) and phases wd t_i (p,), rad.

    Raises:
        ArgumentTypeError: the tolerated vibration is no number.
        ParameterError: the kind is unknown, or 'ei' has no solution for these numbers.
        NonFiniteError: the tolerated vibration is NaN or infinite.
    """
    if kind not in KINDS:
        raise ParameterError(f'kind is {kind!r}, expected one of {", ".join(map(repr, KINDS))}')
    return _impulses(kind, damping_ratio, real_number(tolerated_vibration, 'tolerated_vibration'))


@lru_cache(maxsize=4096)
def _impulses(
    kind: str, damping_ratio: float, tolerated_vibration: float
) -> tuple[FloatArray, FloatArray]:
    K = float(np.exp(-np.pi * damping_ratio / np.sqrt(1.0 - damping_ratio**2)))
    if kind == 'zv':
        weights, phases = np.array([1.0, K]), np.array([0.0, np.pi])
    elif kind == 'zvd':
        weights, phases = np.array([1.0, 2.0 * K, K**2]), np.array([0.0, np.pi, 2.0 * np.pi])
    else:
        weights, phases = _extra_insensitive(damping_ratio, tolerated_vibration, K)
    amplitudes: FloatArray = np.asarray(weights / weights.sum(), dtype=np.float64)
    amplitudes.setflags(write=False)
    phases.setflags(write=False)
    return amplitudes, phases


def _extra_insensitive(z: float, V: float, K: float) -> tuple[FloatArray, FloatArray]:
    """Solve for residual V with zero slope at w, and residual 0 at one lower and one higher w.

    The literature has curves fitted to this solution; they miss V by a few percent.
    """
    if not np.isfinite(V):
        raise NonFiniteError(f'tolerated_vibration is {V}, expected a finite number')
    if not 0.0 < V <= _EI_TOLERANCE:
        raise ParameterError(
            f'tolerated_vibration is {V:g}, expected above 0 and at most {_EI_TOLERANCE:g}'
        )
    if z > _EI_DAMPING:
        raise ParameterError(
            f"damping_ratio is {z:g}, expected at most {_EI_DAMPING:g} for kind 'ei'"
        )
    from scipy.optimize import root  # takes long to import

    rate = complex(z / np.sqrt(1.0 - z**2), 1.0)

    def conditions(unknowns: FloatArray) -> list[float]:
        first, last, *times, below, above = unknowns
        A = np.array([first, 1.0 - first - last, last])
        late = np.array([0.0, *times]) - times[-1]
        low, high, middle = (A @ np.exp(rate * late * w) for w in (below, above, 1.0))
        slope = (A * rate * late) @ np.exp(rate * late)
        level = (slope * middle.conjugate()).real
        return [low.real, low.imag, high.real, high.imag, abs(middle) ** 2 - V**2, level]

    # Initial guess, exact without damping.
    guess = np.array([(1.0 + V), 2.0 * (1.0 - V) * K, (1.0 + V) * K**2])
    guess /= guess.sum()
    width = np.arccos((1.0 - V) / (1.0 + V)) / np.pi
    begin = [guess[0], guess[2], np.pi, 2.0 * np.pi, 1.0 - width, 1.0 + width]
    found = root(conditions, begin, tol=1e-13)
    if np.abs(found.fun).max() > 1e-10:
        raise ParameterError(
            f"no shaper of kind 'ei' found for damping_ratio {z:g}, tolerated_vibration {V:g}"
        )
    first, last, second_time, third_time = found.x[:4]
    return np.array([first, 1.0 - first - last, last]), np.array([0.0, second_time, third_time])
