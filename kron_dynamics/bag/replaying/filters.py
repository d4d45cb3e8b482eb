# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Choice of each joint's acceleration filter: signals and window length.

Positions and velocities are used together where both are recorded and agree, else the more
accurate one. All joints have the same window, so that all accelerations in an effort are averaged
equally. Unless given, the window minimises the expected error of the recomputed efforts: remaining
noise plus motion removed by the smoothing.

`identify` uses only the smoothed positions and velocities (`bag/motions.py`); its rows are made in
`identification/rows.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from kron_dynamics.bag.replaying.bandwidth import AccelerationSpectrum, acceleration_spectrum
from kron_dynamics.bag.replaying.kernels import (
    MIN_HALF_COUNT,
    DerivativeKernels,
    derivative_kernels,
)
from kron_dynamics.bag.replaying.resampling import convolve, noise_level, on_grid
from kron_dynamics.bag.replaying.velocity_noise import coloured_noise
from kron_dynamics.bag.samples import Samples, sample_period
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Each candidate window is longer than the one before by this factor.
WINDOW_GROWTH = 1.15
# Longest window as a share of the longest segment.
LONGEST_SHARE = 1 / 8
# Lower bound of a joint's effort scale as a share of its effort limit, so that idle joints do not
# lengthen the window.
IDLE_SHARE = 1e-3
# Velocities are used if there are at least this many per position sample.
VELOCITY_SHARE = 0.9
# Accelerations from positions and from velocities disagree if the RMS of their difference exceeds
# the one expected from noise and smoothing by this factor.
DISAGREEMENT = 1.5
# Differences below this share of the acceleration count as agreement.
AGREEING_SHARE = 1e-2
# Lower bound of the noise relative to the range of a signal: float rounding hides smaller noise.
LEAST_NOISE = 1e-12
MASS_SAMPLES = 500  # positions at which mass matrices are averaged
# Positions and, if there are any, velocities of a joint on the uniform grid of each segment.
Grids = tuple[list[FloatArray], list[FloatArray] | None]


@dataclass(frozen=True)
class JointFilter:
    """Filter that estimates one joint's acceleration.

    Attributes:
        signals: signals used: 'position', 'velocity' or 'both'.
        period: usual period of the position samples in s.
        step: time step of the uniform grid in s.
        position_noise: standard deviation of the noise on positions, in rad or m.
        velocity_noise: the same on velocities, in rad/s or m/s; NaN if they are not used.
        velocity_period: usual period of the velocity samples in s; NaN if they are not used.
        half_count: steps on each side of the middle one.
        taken: RMS of the acceleration that smoothing removes, in rad/s^2 or m/s^2.
    """

    signals: str
    period: float
    step: float
    position_noise: float
    velocity_noise: float
    velocity_period: float
    half_count: int = MIN_HALF_COUNT
    taken: float = 0.0

    @property
    def half_width(self) -> float:
        """Half the window in s."""
        return (self.half_count + 0.5) * self.step

    @cached_property
    def kernels(self) -> DerivativeKernels:
        """Weights of the samples; for the position, see `place_kernels`."""
        place, rate = self._noises
        return derivative_kernels(
            self.half_count,
            self.step,
            np.inf if self.signals == 'velocity' else place,
            np.inf if self.signals == 'position' else rate,
        )

    @cached_property
    def place_kernels(self) -> DerivativeKernels:
        """Weights of the smoothed position: of positions alone if only velocities are used."""
        if self.signals != 'velocity':
            return self.kernels
        return derivative_kernels(self.half_count, self.step, self._noises[0], np.inf)

    @property
    def weights(self) -> FloatArray:
        """Weights with which the acceleration averages the true one, shape (2 m + 1,)."""
        return self.kernels.average

    def velocity_deviation(self) -> float:
        """Return the standard deviation of the velocity due to noise, in rad/s or m/s."""
        return float(self._deviations[1])

    def acceleration_noise(self) -> float:
        """Return the standard deviation of the acceleration due to noise, in rad/s^2 or m/s^2."""
        return float(self._deviations[2])

    def acceleration_error(self) -> float:
        """Return the RMS error of the acceleration due to noise and smoothing."""
        return float(np.hypot(self.acceleration_noise(), self.taken))

    def fitted_to(self, window: float) -> JointFilter:
        """Return this filter with a window of the given length in s."""
        half_count = int(np.floor((window / self.step - 1.0) / 2.0 + 1e-6))
        return replace(self, half_count=max(MIN_HALF_COUNT, half_count))

    @property
    def _noises(self) -> tuple[float, float]:
        """Standard deviations of white noise on the grid with the samples' noise densities."""
        return (
            self.position_noise * np.sqrt(self.period / self.step),
            self.velocity_noise * np.sqrt(self.velocity_period / self.step),
        )

    @cached_property
    def _deviations(self) -> FloatArray:
        place, rate = self._noises
        return self.kernels.noise(place, 0.0 if self.signals == 'position' else rate)


def choose_filters(
    robot: Robot,
    segments: Sequence[JointSegment],
    effort_scale: FloatArray,
    window: float | None = None,
) -> tuple[JointFilter, ...]:
    """Return the filter of each joint.

    Args:
        robot: the robot.
        segments: the recorded motion.
        effort_scale: RMS of each joint's effort, NaN if unknown, shape (n,), in N m or N.
        window: length of the window in s; None chooses it from the data.

    Raises:
        ParameterError: the given window holds fewer than five samples.
    """
    filters = [_minimal_filter(segments, joint) for joint in range(robot.n)]
    step, slowest = min(item.period for item in filters), max(item.period for item in filters)
    filters = [replace(item, step=step) for item in filters]
    grids = [_grids(segments, joint, item) for joint, item in enumerate(filters)]
    filters = [_with_colour(item, grid) for item, grid in zip(filters, grids, strict=True)]
    shortest = (2 * MIN_HALF_COUNT + 1) * slowest
    if window is not None and not window >= shortest * (1.0 - 1e-6):
        raise ParameterError(
            f'window of {window:g} s is too short: five samples take {shortest:.3g} s here'
        )
    spectra = [
        acceleration_spectrum(*grid, step, *item._noises)
        for item, grid in zip(filters, grids, strict=True)
    ]
    if window is None:
        longest = LONGEST_SHARE * max(segment.end - segment.start for segment in segments)
        limit = robot.model.effort_limit
        scale = np.maximum(effort_scale, np.where(np.isfinite(limit), IDLE_SHARE * limit, 0.0))
        mass_squares = _mean_mass_squares(robot, segments)
        window = _best_window(filters, spectra, mass_squares, scale, shortest, longest)
    fitted = [item.fitted_to(window) for item in filters]
    fitted = [
        _agreeing(item, spectrum, grid)
        for item, spectrum, grid in zip(fitted, spectra, grids, strict=True)
    ]
    return tuple(
        replace(item, taken=float(np.sqrt(spectrum.taken(item.kernels))))
        for item, spectrum in zip(fitted, spectra, strict=True)
    )


def _best_window(
    filters: Sequence[JointFilter],
    spectra: Sequence[AccelerationSpectrum],
    mass_squares: FloatArray,
    effort_scale: FloatArray,
    shortest: float,
    longest: float,
) -> float:
    """Return the window with the least expected error of efforts, in s."""
    moved = mass_squares @ np.array([item.mean_square for item in spectra])
    # An unknown effort is replaced by the inertial effort.
    scale = np.where(np.isnan(effort_scale), np.sqrt(moved), effort_scale)
    known = scale > 0.0
    best, least, length, before = shortest, np.inf, shortest, 0
    while length <= max(longest, shortest):
        fitted = [item.fitted_to(length) for item in filters]
        if fitted[0].half_count == before:
            length *= WINDOW_GROWTH
            continue
        before = fitted[0].half_count
        errors = [
            item.acceleration_noise() ** 2 + spectrum.taken(item.kernels)
            for item, spectrum in zip(fitted, spectra, strict=True)
        ]
        error = float(np.sum((mass_squares @ errors)[known] / scale[known] ** 2))
        if error < least:
            best, least = length, error
        length *= WINDOW_GROWTH
    return best


def _minimal_filter(segments: Sequence[JointSegment], joint: int) -> JointFilter:
    positions = [segment.position[joint] for segment in segments]
    period, position_noise = _period_and_noise(positions)
    velocities = [segment.velocity[joint] for segment in segments]
    has_velocity = all(
        len(rate.time) >= VELOCITY_SHARE * len(place.time)
        for rate, place in zip(velocities, positions, strict=True)
    )
    if not has_velocity:
        return JointFilter('position', period, period, position_noise, np.nan, np.nan)
    rate_period, velocity_noise = _period_and_noise(velocities)
    return JointFilter('both', period, period, position_noise, velocity_noise, rate_period)


def _period_and_noise(pieces: Sequence[Samples]) -> tuple[float, float]:
    """Return the usual period of samples in s and the standard deviation of their noise."""
    pieces = [samples for samples in pieces if len(samples.time) >= 2]
    counts = [len(samples.time) for samples in pieces]
    period = float(np.average([sample_period(s.time) for s in pieces], weights=counts))
    levels = [noise_level(samples, period) for samples in pieces]
    least = LEAST_NOISE * max(float(np.ptp(s.value)) + abs(float(s.value[0])) for s in pieces)
    noise = float(np.sqrt(np.average(np.square(levels), weights=counts)))
    return period, max(noise, least, np.finfo(float).tiny ** 0.25)


def _grids(segments: Sequence[JointSegment], joint: int, item: JointFilter) -> Grids:
    """Return positions and velocities of a joint on the uniform grid of each segment."""
    positions, velocities = [], []
    for segment in segments:
        count = int((segment.end - segment.start) / item.step + 1e-6) + 1
        time = segment.start + item.step * np.arange(count, dtype=float)
        positions.append(on_grid(segment.position[joint], time, item.period)[0])
        if item.signals == 'both':
            velocities.append(on_grid(segment.velocity[joint], time, item.velocity_period)[0])
    return positions, velocities or None


def _with_colour(item: JointFilter, grids: Grids) -> JointFilter:
    """Return the filter with the velocity noise raised to its density at low frequencies."""
    positions, velocities = grids
    if velocities is None:
        return item
    denser = np.sqrt(item.velocity_period / item.step)
    noise = coloured_noise(positions, velocities, item.step, item.velocity_noise * denser)
    return replace(item, velocity_noise=noise / denser)


def _agreeing(item: JointFilter, spectrum: AccelerationSpectrum, grids: Grids) -> JointFilter:
    """Return the filter with only one signal if positions and velocities disagree.

    A driver may filter its velocities, or report zeros.
    """
    if item.signals != 'both':
        return item
    by_position = replace(item, signals='position', velocity_noise=np.nan, velocity_period=np.nan)
    by_velocity = replace(item, signals='velocity')
    squares, count = 0.0, 0
    for place, rate in zip(*grids, strict=True):  # type: ignore[arg-type]
        apart = convolve(place, by_position.kernels.position.curvature)
        apart -= convolve(rate, by_velocity.kernels.velocity.curvature)
        apart = apart[np.isfinite(apart)]
        squares, count = squares + float(apart @ apart), count + len(apart)
    if not count:
        return item
    noise = by_position.acceleration_noise() ** 2 + by_velocity.acceleration_noise() ** 2
    taken = spectrum.taken(by_position.kernels) + spectrum.taken(by_velocity.kernels)
    mean_square = squares / count
    if mean_square <= DISAGREEMENT**2 * (noise + taken) + AGREEING_SHARE**2 * spectrum.mean_square:
        return item
    # The excess over the expected noise is attributed to the velocity.
    wrong = mean_square - noise + by_velocity.acceleration_noise() ** 2
    return by_velocity if wrong < by_position.acceleration_noise() ** 2 else by_position


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
