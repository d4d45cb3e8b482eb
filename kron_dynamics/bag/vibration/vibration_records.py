# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded motion made ready for the search of vibrations.

It is evenly spaced, without what stiff links explain, and all of it went through one smoothing
kernel, whose gain is divided out of the spectra later.
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

# A joint below so many times the passage speed of its Coulomb friction may be held by it.
_SLIDING = 4.0
# Samples whose noise is measured together, and such parts after which memory of what was read is
# given back.
_ROWS, _PARTS_HELD = 16_384, 16


class VibrationRows(NamedTuple):
    """Evenly spaced samples that follow one another; all are smoothed by the record's kernel.

    Attributes:
        position: of the joints, shape (N, n_j).
        velocity: shape (N, n_j).
        acceleration: shape (N, n_j).
        efforts: recorded efforts without what stiff links take apart from inertia, (N, n_j); NaN
            where not recorded, or where friction may hold the joint.
        tip: linear acceleration of the tip without that of stiff links apart from the joints'
            acceleration, shape (N, 3); NaN where not recorded.
    """

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    efforts: FloatArray
    tip: FloatArray


class VibrationRecord:
    """A segment whose samples are made ready when they are wanted, some at a time.

    Attributes:
        period: of the samples, s.
        count: how many there are.
        kernel: the smoothing kernel, shape (2 k + 1,).
        slope: its derivative, which gave accelerations from rates, shape (2 k + 1,).
        curvature: its second derivative, likewise from positions.
        from_rates: share of accelerations that is from rates, shape (n_j,).
        position_noise: standard deviation of samples, shape (n_j,).
        rate_noise: likewise.
        effort_noise: likewise.
        tip_noise: likewise, shape (3,).
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
        """Measure the noise of a segment; see `vibration_record`."""
        self._rigid, self._frame, self._segment, self._efforts = rigid, frame, segment, efforts
        self._tip: list[Samples] = []
        if tip is not None and len(tip.time) > 1:
            self._tip = [Samples(tip.time, column) for column in tip.value[:, :3].T]
        self.period = max(samples.period for samples in segment.position)
        self.count = int((segment.end - segment.start) / self.period + 1e-6) + 1
        # Half a sample at least: the derivatives of a narrower kernel are none.
        width = max(0.06 / frequency / self.period, 0.8)
        self.kernel, self.slope, self.curvature = smoothing_kernels(width, self.period)
        # Whether a joint slides is told by rates of less noise; that slow is what drives do.
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
        """Whether there are samples beyond the reach of the kernel."""
        return self.count >= 8 * self.reach

    @property
    def reach(self) -> int:
        """How many samples the kernel reaches to each side."""
        return len(self.kernel) // 2

    def _noises(self) -> tuple[list[FloatArray], BoolArray]:
        """Noise of positions, rates, efforts and tip, and which joints have all their rates."""
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
        """Positions, rates, efforts and tip acceleration as recorded, at even times."""
        time = self._segment.start + self.period * np.arange(first, last, dtype=float)
        shaken = _evenly(self._tip, time) if self._tip else np.full((last - first, 3), np.nan)
        segment = self._segment
        series = (segment.position, segment.velocity, self._efforts)
        return (*(_evenly(samples, time) for samples in series), shaken)

    def rows(self, first: int, last: int) -> VibrationRows:
        """Return some samples; NaN where the kernel reaches past an end.

        Args:
            first: the first of them.
            last: the one behind them, at most `count`.
        """
        # What stiff links take is of smoothed motion, and is smoothed again.
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
    """Return a segment made ready for vibrations about a frequency; None if it is too short.

    Args:
        rigid: the robot with stiff links.
        frame: link whose acceleration was recorded.
        segment: the recorded motion.
        efforts: recorded efforts of each joint.
        tip: recorded accelerations, or None.
        frequency: the highest one that is looked for, Hz.
    """
    record = VibrationRecord(rigid, frame, segment, efforts, tip, frequency)
    return record if record.long_enough else None


def _evenly(samples: Sequence[Samples], time: FloatArray) -> FloatArray:
    """Columns at even times, NaN where a joint has none."""
    columns = []
    for item in samples:
        if len(item.time) < 2:
            columns.append(np.full(len(time), np.nan))
            continue
        # Those about the times, for long series.
        near = slice(
            max(0, int(np.searchsorted(item.time, time[0])) - 1),
            int(np.searchsorted(item.time, time[-1])) + 1,
        )
        column = np.interp(time, item.time[near], item.value[near])
        beyond = 2.0 * item.period
        outside = (time < item.time[0] - beyond) | (time > item.time[-1] + beyond)
        columns.append(np.where(outside, np.nan, column))
    return np.column_stack(columns)
