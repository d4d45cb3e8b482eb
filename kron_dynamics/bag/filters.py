# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How each joint's acceleration is obtained, and over how long a window.

A measured velocity is differentiated once, else the position twice; both by local quadratics.
The window is one for all joints. Unless given, it is the shortest for which the noise on each
joint's recomputed effort stays below NOISE_TARGET of its effort, and never so long that the
smoothed curve leaves the samples by more than their noise: what remains above it may have
REMAINDER_GROWTH times the spread it has over the shortest windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.bag.joint_log import JointSegment
from kron_dynamics.bag.samples import Samples, sample_period
from kron_dynamics.bag.smoothing import (
    MIN_HALF_COUNT,
    NOISE_HALF_COUNT,
    averaging_weights,
    noise_level,
    remainders,
    resampled_weights,
)
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

NOISE_TARGET = 0.01
REMAINDER_GROWTH = 1.5
# Each window tried is longer than the one before by this factor.
WINDOW_GROWTH = 1.25
# A window may take at most this share of the longest segment.
LONGEST_SHARE = 1 / 8
# A joint that uses less than this share of its effort limit asks for no longer a window.
IDLE_SHARE = 1e-3
# A velocity is used when it has at least this share of the position's samples.
VELOCITY_SHARE = 0.9
MASS_SAMPLES = 500
SPREAD_SAMPLES = 2000


@dataclass(frozen=True)
class JointFilter:
    """How one joint's acceleration is obtained.

    Attributes:
        from_velocity: whether the velocity is differentiated, else the position, twice.
        period: usual distance of its samples in s.
        noise: standard deviation of the noise on a sample, in rad/s or m/s, else rad or m.
        half_count: samples on each side of the middle one.
    """

    from_velocity: bool
    period: float
    noise: float
    half_count: int = MIN_HALF_COUNT

    @property
    def derivative(self) -> int:
        """How often the signal is differentiated."""
        return 1 if self.from_velocity else 2

    @property
    def half_width(self) -> float:
        """Half the window in s; reaches half a sample further so that jitter changes nothing."""
        return (self.half_count + 0.5) * self.period

    def weights(self, step: float) -> FloatArray:
        """Return the average that the acceleration is of the true one, shape (2 m + 1,).

        Args:
            step: distance of the samples to average, in s.
        """
        weights = averaging_weights(self.half_count, self.derivative)
        return resampled_weights(weights, max(1.0, self.period / step))

    def acceleration_noise(self) -> float:
        """Return the standard deviation of the acceleration, in rad/s^2 or m/s^2."""
        j = np.arange(-self.half_count, self.half_count + 1, dtype=float)
        if self.from_velocity:
            gain = 1.0 / np.sqrt(np.sum(j * j)) / self.period
        else:
            centred = j * j - np.mean(j * j)
            gain = 2.0 / np.sqrt(np.sum(centred * centred)) / self.period**2
        return float(self.noise * gain)

    def signal(self, segment: JointSegment, joint: int) -> Samples:
        """Return the samples of a segment that are differentiated."""
        return (segment.velocity if self.from_velocity else segment.position)[joint]

    def fitted_to(self, window: float) -> JointFilter:
        """Return this filter with a window of the given length in s."""
        half_count = int(np.floor((window / self.period - 1.0) / 2.0 + 1e-6))
        return replace(self, half_count=max(MIN_HALF_COUNT, half_count))


def choose_filters(
    robot: Robot,
    segments: Sequence[JointSegment],
    effort_scale: FloatArray,
    window: float | None = None,
) -> tuple[JointFilter, ...]:
    """Return the filter of each joint.

    Args:
        robot: the robot.
        segments: its recorded motion.
        effort_scale: RMS of each joint's effort, NaN if unknown, shape (n,), in N m or N.
        window: length of the window in s; None chooses it from the data.

    Raises:
        ParameterError: the given window holds fewer than five samples.
    """
    filters = tuple(_minimal_filter(segments, joint) for joint in range(robot.n))
    slowest = max(item.period for item in filters)
    shortest = (2 * MIN_HALF_COUNT + 1) * slowest
    if window is not None:
        if not window >= shortest * (1.0 - 1e-6):
            raise ParameterError(
                f'window of {window:g} s is too short: five samples take {shortest:.3g} s here'
            )
        return tuple(item.fitted_to(window) for item in filters)
    longest = LONGEST_SHARE * max(segment.end - segment.start for segment in segments)
    lengths = _window_lengths(shortest, longest)
    limit = robot.model.effort_limit
    scale = np.maximum(effort_scale, np.where(np.isfinite(limit), IDLE_SHARE * limit, 0.0))
    quiet = _quiet_window(filters, _mean_mass_squares(robot, segments), scale, lengths)
    first, last = 0, lengths.index(quiet)
    # The longest of these windows that the samples allow; the first is always allowed.
    while first < last:
        middle = (first + last + 1) // 2
        candidate = [item.fitted_to(lengths[middle]) for item in filters]
        first, last = (middle, last) if _follows(candidate, segments) else (first, middle - 1)
    return tuple(item.fitted_to(lengths[first]) for item in filters)


def _window_lengths(shortest: float, longest: float) -> list[float]:
    lengths = [shortest]
    while lengths[-1] * WINDOW_GROWTH <= longest:
        lengths.append(lengths[-1] * WINDOW_GROWTH)
    return lengths


def _quiet_window(
    filters: Sequence[JointFilter],
    mass_squares: FloatArray,
    effort_scale: FloatArray,
    lengths: Sequence[float],
) -> float:
    """Return the shortest window with little noise on all efforts, else the longest."""
    for length in lengths:
        noise = [item.fitted_to(length).acceleration_noise() for item in filters]
        effort_noise = np.sqrt(mass_squares @ np.square(noise))
        # A joint whose effort is unknown compares false and so asks for no longer window.
        if not np.any(effort_noise > NOISE_TARGET * effort_scale):
            return length
    return lengths[-1]


def _minimal_filter(segments: Sequence[JointSegment], joint: int) -> JointFilter:
    from_velocity = all(
        len(segment.velocity[joint].time) >= VELOCITY_SHARE * len(segment.position[joint].time)
        for segment in segments
    )
    signals = [
        (segment.velocity if from_velocity else segment.position)[joint] for segment in segments
    ]
    signals = [samples for samples in signals if len(samples.time) >= 2]
    counts = [len(samples.time) for samples in signals]
    periods = [sample_period(samples.time) for samples in signals]
    period = float(np.average(periods, weights=counts))
    levels = [noise_level(samples.time, samples.value, period) for samples in signals]
    noise = float(np.sqrt(np.average(np.square(levels), weights=counts)))
    return JointFilter(from_velocity, period, noise)


def _follows(filters: Sequence[JointFilter], segments: Sequence[JointSegment]) -> bool:
    """Return whether smoothing removes no more than noise."""
    for joint, item in enumerate(filters):
        reference = replace(item, half_count=NOISE_HALF_COUNT)
        signals = [item.signal(segment, joint) for segment in segments]
        if _spread(signals, item) > REMAINDER_GROWTH * _spread(signals, reference):
            return False
    return True


def _spread(signals: Sequence[Samples], item: JointFilter) -> float:
    stride = max(1, sum(len(samples.time) for samples in signals) // SPREAD_SAMPLES)
    rest = np.concatenate([remainders(s.time, s.value, item.half_width, stride) for s in signals])
    return max(float(np.sqrt(np.mean(rest * rest))), item.noise) if len(rest) else item.noise


def _mean_mass_squares(robot: Robot, segments: Sequence[JointSegment]) -> FloatArray:
    """Return the mean of M[i, j]^2 over the recorded positions, shape (n, n)."""
    share = max(2, MASS_SAMPLES // len(segments))
    positions = np.concatenate(
        [
            np.column_stack(
                [
                    np.interp(np.linspace(segment.start, segment.end, share), s.time, s.value)
                    for s in segment.position
                ]
            )
            for segment in segments
        ]
    )
    mass = robot.mass_matrix(positions)
    return np.asarray(np.mean(mass * mass, axis=0))
