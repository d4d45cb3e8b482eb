# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Preparation of recorded motion for the identification of vibrations.

The samples are evenly spaced and the rigid-body bias is subtracted. All signals are smoothed by
one kernel, whose gain is divided out of the spectra later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.reading.spool import release
from kron_dynamics.bag.samples import Samples
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.bag.vibration.smoothing_kernels import (
    WhiteNoise,
    gaussian_kernels,
    smoothed,
    smoothing_kernels,
)
from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, FloatArray

# A joint slower than this multiple of the transition velocity of its Coulomb friction may stick.
_SLIDING = 4.0
# Samples whose noise is estimated together, and number of such parts after which the memory of
# file-backed tables is released.
_ROWS, _PARTS_HELD = 16_384, 16


class VibrationRows(NamedTuple):
    """Consecutive evenly spaced samples, smoothed by the record's kernel.

    Attributes:
        position: positions of the joints, shape (N, n_j).
        velocity: their velocities, shape (N, n_j).
        acceleration: their accelerations, shape (N, n_j).
        efforts: recorded efforts minus bias forces and friction of the rigid-body model, shape
            (N, n_j); NaN where not recorded, or where the joint may stick.
        tip: linear acceleration of the tip minus that of the rigid-body model with zero joint
            acceleration, shape (N, 3); NaN where not recorded.
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    efforts: FloatArray
    tip: FloatArray


class VibrationRecord:
    """A segment whose samples are prepared on demand, block by block.

    Attributes:
        period: period of the samples, s.
        count: number of samples.
        kernel: the smoothing kernel, shape (2 k + 1,).
        slope: its derivative, which makes accelerations from velocities, shape (2 k + 1,).
        curvature: its second derivative, which makes them from positions, shape (2 k + 1,).
        from_rates: weight of the velocities in the accelerations, shape (n_j,).
        position_noise: standard deviation of the noise of samples, shape (n_j,).
        rate_noise: the same for velocities.
        effort_noise: the same for efforts.
        tip_noise: the same for the tip's acceleration, shape (3,).
        recorded: usual periods of recorded efforts and the tip's acceleration, shape (n_j + 3,),
            s; the record's for those without samples.
    """

    def __init__(
        self,
        rigid: Robot,
        frame: str,
        segment: JointSegment,
        efforts: Sequence[Samples],
        tip: Samples | None,
        frequency: float,
    ) -> None:
        """Estimate the noise of a segment; see `vibration_record`."""
        self._rigid, self._frame, self._segment, self._efforts = rigid, frame, segment, efforts
        self._tip: list[Samples] = []
        if tip is not None and len(tip.time) > 1:
            self._tip = [Samples(tip.time, column) for column in tip.value[:, :3].T]
        self.period = max(samples.period for samples in segment.position)
        channels = [*efforts, *(self._tip or [Samples(np.empty(0), np.empty(0))] * 3)]
        self.recorded: FloatArray = np.array(
            [each.period if len(each.time) > 1 else self.period for each in channels]
        )
        self.count = int((segment.end - segment.start) / self.period + 1e-6) + 1
        # At least 0.8 samples: a narrower kernel cannot differentiate.
        width = max(0.06 / frequency / self.period, 0.8)
        self.kernel, self.slope, self.curvature = smoothing_kernels(width, self.period)
        # Wider kernels for velocities with less noise, to decide whether a joint slides.
        self._calm = gaussian_kernels(max(0.1 / frequency / self.period, 0.8), self.period)
        if not self.long_enough:
            return
        noises, rates_known = self._noises()
        self.position_noise, self.rate_noise, self.effort_noise, self.tip_noise = noises
        about = 2.0 * np.pi * frequency
        place = (about * self.position_noise) ** 2
        self.from_rates = np.where(rates_known, place / (place + self.rate_noise**2), 0.0)

    @property
    def long_enough(self) -> bool:
        """Whether the segment is much longer than the kernel."""
        return self.count >= 8 * self.reach

    @property
    def reach(self) -> int:
        """Half-length of the kernel in samples."""
        return len(self.kernel) // 2

    def _noises(self) -> tuple[list[FloatArray], BoolArray]:
        """Return noise of positions, rates, efforts and tip, and which joints have all rates."""
        sums = [WhiteNoise() for _ in range(4)]
        known = np.ones(len(self._segment.position), dtype=bool)
        for number, first in enumerate(range(0, self.count, _ROWS)):
            recorded = self._recorded(first, min(first + _ROWS, self.count))
            known &= np.isfinite(recorded[1]).all(axis=0)
            for noise, values in zip(sums, recorded, strict=True):
                noise.add(values)
            if not number % _PARTS_HELD:
                release()
        return [noise.deviations() for noise in sums], known

    def _recorded(self, first: int, last: int) -> tuple[FloatArray, ...]:
        """Return positions, rates, efforts and tip acceleration, resampled to even times."""
        time = self._segment.start + self.period * np.arange(first, last, dtype=float)
        shaken = _evenly(self._tip, time) if self._tip else np.full((last - first, 3), np.nan)
        segment = self._segment
        series = (segment.position, segment.velocity, self._efforts)
        return (*(_evenly(samples, time) for samples in series), shaken)

    def rows(self, first: int, last: int) -> VibrationRows:
        """Return the samples [first, last); NaN where the kernel reaches past an end.

        Args:
            first: index of the first sample.
            last: index after the last sample, at most `count`.
        """
        # Rigid-body terms are computed from smoothed motion and smoothed again: twice the reach.
        begin, end = max(0, first - 2 * self.reach), min(self.count, last + 2 * self.reach)
        q, qd, tau, shaken = self._recorded(begin, end)
        share, rigid = self.from_rates, self._rigid
        q_smooth = smoothed(q, self.kernel)
        rates, turns = (np.nan_to_num(qd), q)
        qd_smooth = share * smoothed(rates, self.kernel)
        qd_smooth += (1 - share) * smoothed(turns, self.slope)
        qdd = share * smoothed(rates, self.slope) + (1 - share) * smoothed(turns, self.curvature)
        inner = slice(self.reach, len(q) - self.reach)
        q_in, qd_in = q_smooth[inner], qd_smooth[inner]
        own = np.full(q.shape, np.nan)
        own[inner] = rigid.bias_forces(q_in, qd_in) + rigid.joint_friction(qd_in)
        coasting = np.full((len(q), 3), np.nan)
        tip = rigid.frame(self._frame).acceleration(q_in, qd_in, np.zeros_like(q_in))
        coasting[inner] = tip[:, :3]
        left = smoothed(tau - own, self.kernel)
        _, coulomb, passage = friction_coefficients(rigid.model).T
        bell, slope, _ = self._calm
        calm = share * smoothed(rates, bell) + (1 - share) * smoothed(turns, slope)
        held = (np.abs(calm) < _SLIDING * passage) & (coulomb > 0.0)
        left[held] = np.nan
        wanted = slice(first - begin, last - begin)
        shown = smoothed(shaken - coasting, self.kernel)
        return VibrationRows(
            q_smooth[wanted], qd_smooth[wanted], qdd[wanted], left[wanted], shown[wanted]
        )


def vibration_record(
    rigid: Robot,
    frame: str,
    segment: JointSegment,
    efforts: Sequence[Samples],
    tip: Samples | None,
    frequency: float,
) -> VibrationRecord | None:
    """Return a segment prepared for vibrations up to a frequency; None if it is too short.

    Args:
        rigid: the robot with rigid links.
        frame: link whose acceleration was recorded.
        segment: the recorded motion.
        efforts: recorded efforts of each joint.
        tip: recorded accelerations, or None.
        frequency: the highest frequency of interest, Hz.
    """
    record = VibrationRecord(rigid, frame, segment, efforts, tip, frequency)
    return record if record.long_enough else None


def _evenly(samples: Sequence[Samples], time: FloatArray) -> FloatArray:
    """Return signals interpolated at the given times as columns, NaN where there are none.

    Samples further apart than two of their periods are not connected.
    """
    columns = []
    for item in samples:
        if len(item.time) < 2:
            columns.append(np.full(len(time), np.nan))
            continue
        # Only the samples around the given times: series may be long.
        near = slice(
            max(0, int(np.searchsorted(item.time, time[0])) - 1),
            int(np.searchsorted(item.time, time[-1])) + 1,
        )
        column = np.interp(time, item.time[near], item.value[near])
        beyond = 2.0 * item.period
        unknown = (time < item.time[0] - beyond) | (time > item.time[-1] + beyond)
        for gap in near.start + np.flatnonzero(np.diff(item.time[near]) > beyond):
            unknown |= (time > item.time[gap]) & (time < item.time[gap + 1])
        columns.append(np.where(unknown, np.nan, column))
    return np.column_stack(columns)
