# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How recorded efforts are explained: friction terms, averages, delay, form of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.friction import BASIC_TERMS
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.rows import Rows, joined, regressor_rows
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# The average leaves this much noise on the efforts, as a share of their norm,
NOISE_TARGET = 0.01
# but is never shorter than this many samples of the slowest recording,
LEAST_SAMPLES = 1.5
WIDTH_GROWTH = 1.2
# nor longer than this share of the period of the fastest motion: 95 % of the power of the
# velocities is in slower ones.
MOTION_SHARE = 0.05
MOTION_POWER = 0.95
# Stretches that are this share of the longest tell how fast it is.
LONG_SHARE = 0.25
# What efforts have above so many times the frequency of the fastest motion is no motion's: an arm
# that shakes by itself, or noise with a colour.
ABOVE_MOTION = 10.0


@dataclass(frozen=True)
class Structure:
    """What of a model is not a parameter.

    Attributes:
        width: standard deviation of the average of regressor and efforts, s.
        form: of the rows: 'momentum' or 'acceleration'.
        effort_width: standard deviation of an average that the recorder took of the efforts, s.
        presliding: time of `friction.presliding_state`, s; 0 for friction by velocity alone.
        delay: how late the stamps of the efforts are, s.
        terms: friction terms.
        passage: the speed over which Coulomb friction passes through zero, as a multiple of that
            of `joint_friction`.
        tilt: whether gravity may point a little elsewhere than the description says.
    """

    width: float
    form: str = 'momentum'
    effort_width: float = 0.0
    presliding: float = 0.0
    delay: float = 0.0
    terms: tuple[str, ...] = BASIC_TERMS
    tilt: bool = False
    passage: float = 1.0

    def rows(
        self, robot: Robot, motions: Sequence[Motion], parameters: FloatArray | None = None
    ) -> Rows:
        """Return the rows of some motions; see `regressor_rows`.

        Raises:
            ParameterError: no motion is longer than the average.
        """
        parts = [
            regressor_rows(
                robot,
                motion.shifted(self.delay),
                self.width,
                terms=self.terms,
                form=self.form,
                parameters=parameters,
                effort_width=self.effort_width,
                presliding=self.presliding,
                tilt=self.tilt,
                passage=self.passage,
            )
            for motion in motions
        ]
        rows = joined(parts)
        if not np.isfinite(rows.effort).any():
            longest = max(float(motion.time[-1] - motion.time[0]) for motion in motions)
            raise ParameterError(
                f'no stretch of motion with efforts is longer than the average of '
                f'{8 * np.hypot(self.width, self.effort_width):.3g} s that the noise asks for; '
                f'the longest is {longest:.3g} s'
            )
        return rows


def average_width(motions: Sequence[Motion]) -> float:
    """Return the standard deviation in s of the average that efforts need for their noise.

    The shortest that leaves `NOISE_TARGET` of their norm, if they are noisy; see the constants.

    Args:
        motions: recorded motion.
    """
    # Recordings may have different rates: the average has samples enough in the slowest.
    step = max(motion.step for motion in motions)
    densities = [motion.step * np.nansum(motion.effort_noise() ** 2) for motion in motions]
    noise = np.mean(densities)
    power = np.mean([_power(motion) for motion in motions])
    fastest = fastest_motion(motions)
    frequency, fast = _spectrum_above(motions, ABOVE_MOTION * fastest)
    longest = max(LEAST_SAMPLES * step, MOTION_SHARE / fastest)
    width = LEAST_SAMPLES * step
    while width * WIDTH_GROWTH <= longest:
        # White noise shrinks by the root of the sum of the squared weights: step / (2 sqrt(pi)
        # width), what is seen in the spectrum by the response of the average.
        white = noise / (2.0 * np.sqrt(np.pi) * width)
        seen = float(np.sum(fast * np.exp(-((2.0 * np.pi * frequency * width) ** 2))))
        if max(white, seen) <= NOISE_TARGET**2 * power:
            break
        width *= WIDTH_GROWTH
    return float(width)


def _spectrum_above(motions: Sequence[Motion], least: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies in Hz, and the mean squares of all efforts there, shape (F,) each."""
    frequencies, powers = [], []
    total = sum(len(motion.time) for motion in motions)
    for motion in motions:
        moving = _filled(motion)
        moving -= moving.mean(axis=0)
        frequency, power = _tapered_spectrum(moving, motion.step)
        above = frequency >= least
        frequencies.append(frequency[above])
        # The mean square of the weights is 3 / 8.
        powers.append(power[above].sum(axis=1) * 2.0 / (0.375 * len(moving) * total))
    return np.concatenate(frequencies), np.concatenate(powers)


def _filled(motion: Motion) -> FloatArray:
    """Return efforts with straight lines over what is not known, 0 where nothing is, (N, n)."""
    found = np.zeros(motion.effort.shape)
    for joint, effort in enumerate(motion.effort.T):
        known = np.isfinite(effort)
        if known.any():
            found[:, joint] = np.interp(motion.time, motion.time[known], effort[known])
    return found


def _tapered_spectrum(values: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies in Hz, shape (F,), and squared transforms under a Hann window, (F, n).

    What begins slowly and ends fast is not fast for that, and what is slow stays where it is.
    """
    tapered = values * np.hanning(len(values))[:, None]
    power = np.asarray(np.abs(np.fft.rfft(tapered, axis=0)) ** 2)
    return np.asarray(np.fft.rfftfreq(len(values), step)), power


def _power(motion: Motion) -> float:
    """Return the mean squares of all efforts, summed."""
    known = np.isfinite(motion.effort)
    squares = np.where(known, motion.effort, 0.0) ** 2
    return float((squares.sum(axis=0) / np.maximum(known.sum(axis=0), 1)).sum())


def fastest_motion(motions: Sequence[Motion]) -> float:
    """Return the frequency in Hz below which 95 % of the power of each joint's velocity is.

    Args:
        motions: recorded motion.
    """
    longest = max(len(motion.time) for motion in motions)
    frequencies, powers = [], []
    for motion in motions:
        # Short stretches tell fast from slow no more.
        if len(motion.time) >= LONG_SHARE * longest:
            found = _tapered_spectrum(motion.qd - motion.qd.mean(axis=0), motion.step)
            frequencies.append(found[0])
            powers.append(found[1])
    frequency, power = np.concatenate(frequencies), np.concatenate(powers)
    order = np.argsort(frequency, kind='stable')
    share = np.cumsum(power[order], axis=0) / np.maximum(power.sum(axis=0), 1e-300)
    used = power.sum(axis=0) > 1e-6 * power.sum()
    places = np.argmax(share >= MOTION_POWER, axis=0)[used]
    highest = float(frequency[order][places].max(initial=0.0))
    return max(highest, 1e-3)
