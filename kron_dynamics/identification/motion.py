# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A stretch of recorded motion, sampled uniformly in time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.exceptions import NonFiniteError, ParameterError, ShapeError
from kron_dynamics.identification.known_load import KnownLoad
from kron_dynamics.typing import FloatArray

# Savitzky-Golay filters of order two over five samples: the value at the central sample, and the
# slopes, per step, at each of the five (rows).
SMOOTHING = np.array([-3.0, 12.0, 17.0, 12.0, -3.0]) / 35.0
SLOPES = (
    np.array(
        [
            [-54.0, 13.0, 40.0, 27.0, -26.0],
            [-34.0, 3.0, 20.0, 17.0, -6.0],
            [-14.0, -7.0, 0.0, 7.0, 14.0],
            [6.0, -17.0, -20.0, -3.0, 34.0],
            [26.0, -27.0, -40.0, -13.0, 54.0],
        ]
    )
    / 70.0
)
# Samples that the filters need.
SAMPLES = 5
# Largest deviation of the time between samples from their mean, as a share of it.
UNEVEN = 0.01
# Standard deviation of a normal distribution over its median absolute deviation.
NORMAL_MAD = 1.4826


@dataclass(frozen=True, eq=False)
class Motion:
    """Joint states at evenly spaced times, without gaps.

    Attributes:
        time: s, shape (N,).
        q: positions, shape (N, n), rad or m.
        qd: velocities, shape (N, n), rad/s or m/s.
        effort: recorded efforts, shape (N, n), N m or N; NaN where unknown.
        label: name of the source, for messages and for the split into whole motions.
        loads: known loads that links carried meanwhile, not part of the robot.

    Raises:
        ShapeError: the shapes of the arrays do not match.
        NonFiniteError: a time, position or velocity is NaN or infinite.
        ParameterError: there are fewer than five samples, or times are not evenly spaced.
    """

    time: FloatArray
    q: FloatArray
    qd: FloatArray
    effort: FloatArray
    label: str = 'motion'
    loads: tuple[KnownLoad, ...] = ()

    def __post_init__(self) -> None:
        """Check the shapes, that the numbers are finite, and the times."""
        for name in ('q', 'qd', 'effort'):
            shape = getattr(self, name).shape
            if len(shape) != 2 or shape[0] != len(self.time) or shape != self.q.shape:
                raise ShapeError(
                    f'{name} of {self.label} has shape {shape}, expected ({len(self.time)}, n)'
                )
        for name in ('time', 'q', 'qd'):
            if not np.isfinite(getattr(self, name)).all():
                raise NonFiniteError(f'{name} of {self.label} is not finite everywhere')
        if len(self.time) < SAMPLES:
            raise ParameterError(
                f'{self.label} has {len(self.time)} samples, expected {SAMPLES} or more'
            )
        steps = np.diff(self.time)
        short, long = float(steps.min()), float(steps.max())
        if not self.step > 0.0 or max(self.step - short, long - self.step) > UNEVEN * self.step:
            raise ParameterError(
                f'times of {self.label} are {short:.4g} to {long:.4g} s apart, expected evenly '
                f'spaced ones: split it at gaps, or interpolate it'
            )

    @property
    def step(self) -> float:
        """Sampling period, s."""
        return float((self.time[-1] - self.time[0]) / (len(self.time) - 1))

    @property
    def qdd(self) -> FloatArray:
        """Accelerations, by local quadratics over five velocities, (N, n), rad/s^2 or m/s^2."""
        first, last = SLOPES[:2] @ self.qd[:5], SLOPES[3:] @ self.qd[-5:]
        return np.concatenate([first, _filtered(self.qd, SLOPES[2]), last]) / self.step

    def part(self, first: int, last: int) -> Motion:
        """Return the samples with indices in the half-open range [first, last)."""
        cut = slice(first, last)
        return replace(
            self, time=self.time[cut], q=self.q[cut], qd=self.qd[cut], effort=self.effort[cut]
        )

    def shifted(self, delay: float) -> Motion:
        """Return the motion with efforts stamped `delay` s late as they acted; NaN beyond it.

        Efforts between samples are on cubics through two samples on each side, because a line
        attenuates the motion, or on lines where one of these is unknown.
        """
        if delay == 0.0:
            return self
        whole = int(np.floor(delay / self.step))
        share = delay / self.step - whole
        rows = np.arange(len(self.time)) + whole
        known = (rows >= 0) & (rows + (share > 0.0) < len(self.time))
        near = [self.effort[(rows + k).clip(0, len(rows) - 1)] for k in (-1, 0, 1, 2)]
        effort = near[1] + share * (near[2] - near[1]) if share else near[1].copy()
        # The cubic's deviation from the line, by its second differences at both samples.
        bend = [near[k] - 2.0 * near[k + 1] + near[k + 2] for k in (0, 1)]
        within = (rows >= 1) & (rows + 2 < len(rows))
        change = share * (share - 1.0) / 6.0 * ((2.0 - share) * bend[0] + (1.0 + share) * bend[1])
        effort += np.where(within[:, None] & np.isfinite(change), change, 0.0)
        effort[~known] = np.nan
        return replace(self, effort=effort)

    def effort_noise(self) -> FloatArray:
        """Return the standard deviation of white noise on the efforts, (n,), N m or N; 0 if none.

        Estimated by the robust spread about local quadratics over five samples.
        """
        # The first and the last effort stand for those before and after them.
        smooth = _filtered(np.pad(self.effort, ((2, 2), (0, 0)), mode='edge'), SMOOTHING)
        rest = self.effort - smooth
        unknown = ~np.isfinite(rest).any(axis=0)
        spread = NORMAL_MAD * np.nanmedian(np.where(unknown, 0.0, np.abs(rest)), axis=0)
        return np.asarray(spread / np.sqrt(1.0 - SMOOTHING[2]))


def _filtered(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return weighted sums of five consecutive rows each, shape (N - 4, n)."""
    count = len(values) - 4
    return np.asarray(sum(weight * values[k:][:count] for k, weight in enumerate(weights)))
