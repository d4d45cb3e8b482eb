# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Structure of the regression model: friction terms, averages, effort delay, form of the rows."""

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

# Noise of the averaged efforts that the average aims at, relative to their norm.
NOISE_TARGET = 0.01
# Least width of the average, in samples of the recording with the lowest rate.
LEAST_SAMPLES = 1.5
# Factor between the widths that are tried.
WIDTH_GROWTH = 1.2
# Largest width of the average, as a share of the period of the fastest motion; that is the
# frequency below which `MOTION_POWER` of the power of the velocities is.
MOTION_SHARE = 0.05
MOTION_POWER = 0.95
# Stretches shorter than this share of the longest do not resolve the spectrum of the motion.
LONG_SHARE = 0.25
# Effort components above this multiple of the frequency of the fastest motion are not caused by
# the motion: they are structural vibrations or coloured noise.
ABOVE_MOTION = 10.0


@dataclass(frozen=True)
class Structure:
    """Hyperparameters of the regression model.

    Attributes:
        width: standard deviation of the Gaussian average of regressor and efforts, s.
        form: form of the rows: 'momentum' or 'acceleration'.
        effort_width: standard deviation of an average that the recorder applied to efforts, s.
        presliding: time of `friction.presliding_state`, s; 0 for friction by velocity alone.
        delay: time by which the stamps of the efforts are late, s.
        terms: friction terms.
        passage: transition velocity of regularised Coulomb friction, as a multiple of v_s of
            `joint_friction`.
        tilt: whether the direction of gravity is estimated.
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
        self,
        robot: Robot,
        motions: Sequence[Motion],
        parameters: FloatArray | None = None,
        known: tuple[Structure, Rows] | None = None,
    ) -> Rows:
        """Return the regressor rows of motions; see `regressor_rows`.

        Args:
            robot: the robot.
            motions: the motions.
            parameters: see `regressor_rows`.
            known: another structure with its rows of these motions, whose columns of inertial
                parameters are taken if they are the same.

        Raises:
            ParameterError: no motion is longer than the average.
        """
        inertial: list[FloatArray | None] = [None] * len(motions)
        if known is not None and known[0]._averages == self._averages:
            rows, count = known[1], len(robot.inertial_parameters())
            inertial = [rows.matrix[rows.group == k, :, :count] for k in range(len(motions))]
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
                inertial=columns,
            )
            for motion, columns in zip(motions, inertial, strict=True)
        ]
        rows = joined(parts)
        if not np.isfinite(rows.effort).any():
            longest = max(float(motion.time[-1] - motion.time[0]) for motion in motions)
            raise ParameterError(
                f'no stretch of motion with efforts is longer than the average of '
                f'{8 * np.hypot(self.width, self.effort_width):.3g} s that the noise requires; '
                f'the longest is {longest:.3g} s'
            )
        return rows

    @property
    def _averages(self) -> tuple[float, float, str]:
        """What the columns of inertial parameters depend on."""
        return self.width, self.effort_width, self.form


def average_width(motions: Sequence[Motion]) -> float:
    """Return the width of the average that reduces the noise of efforts enough: its deviation, s.

    The least width for which the noise is at most `NOISE_TARGET`, within the bounds of the
    constants above.

    Args:
        motions: recorded motion.
    """
    # Recordings may have different rates: the one with the lowest decides the least width.
    step = max(motion.step for motion in motions)
    densities = [motion.step * np.nansum(motion.effort_noise() ** 2) for motion in motions]
    noise = np.mean(densities)
    power = np.mean([_power(motion) for motion in motions])
    fastest = fastest_motion(motions)
    frequency, fast = _spectrum_above(motions, ABOVE_MOTION * fastest)
    longest = max(LEAST_SAMPLES * step, MOTION_SHARE / fastest)
    width = LEAST_SAMPLES * step
    while width * WIDTH_GROWTH <= longest:
        # The average multiplies the variance of white noise by the sum of its squared weights,
        # step / (2 sqrt(pi) width), and the spectrum above the motion by its squared response.
        white = noise / (2.0 * np.sqrt(np.pi) * width)
        seen = float(np.sum(fast * np.exp(-((2.0 * np.pi * frequency * width) ** 2))))
        if max(white, seen) <= NOISE_TARGET**2 * power:
            break
        width *= WIDTH_GROWTH
    return float(width)


def _spectrum_above(motions: Sequence[Motion], least: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies of at least `least`, Hz, and the efforts' mean squares, (F,) each."""
    frequencies, powers = [], []
    total = sum(len(motion.time) for motion in motions)
    for motion in motions:
        moving = _filled(motion)
        moving -= moving.mean(axis=0)
        frequency, power = _tapered_spectrum(moving, motion.step)
        above = frequency >= least
        frequencies.append(frequency[above])
        # The mean square of the Hann window is 3 / 8.
        powers.append(power[above].sum(axis=1) * 2.0 / (0.375 * len(moving) * total))
    return np.concatenate(frequencies), np.concatenate(powers)


def _filled(motion: Motion) -> FloatArray:
    """Return efforts, gaps interpolated linearly, 0 for joints without any, shape (N, n)."""
    found = np.zeros(motion.effort.shape)
    for joint, effort in enumerate(motion.effort.T):
        known = np.isfinite(effort)
        if known.any():
            found[:, joint] = np.interp(motion.time, motion.time[known], effort[known])
    return found


def _tapered_spectrum(values: FloatArray, step: float) -> tuple[FloatArray, FloatArray]:
    """Return frequencies in Hz, shape (F,), and squared transforms under a Hann window, (F, n).

    The window suppresses leakage of slow components, and of different values at both ends.
    """
    tapered = values * np.hanning(len(values))[:, None]
    power = np.asarray(np.abs(np.fft.rfft(tapered, axis=0)) ** 2)
    return np.asarray(np.fft.rfftfreq(len(values), step)), power


def _power(motion: Motion) -> float:
    """Return the sum over joints of the mean squared efforts."""
    known = np.isfinite(motion.effort)
    squares = np.where(known, motion.effort, 0.0) ** 2
    return float((squares.sum(axis=0) / np.maximum(known.sum(axis=0), 1)).sum())


def fastest_motion(motions: Sequence[Motion]) -> float:
    """Return the frequency in Hz below which each joint has 95 % of its velocity's power.

    Args:
        motions: recorded motion.
    """
    longest = max(len(motion.time) for motion in motions)
    frequencies, powers = [], []
    for motion in motions:
        # Short stretches do not resolve slow motion.
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
