# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded motion made ready for the search of vibrations.

It is evenly spaced, without what stiff links explain, and all of it went through one smoothing
kernel, whose gain is divided out of the spectra later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.samples import Samples, sample_period
from kron_dynamics.bag.series.joint_log import JointSegment
from kron_dynamics.bag.vibration.smoothing_kernels import (
    smoothed,
    smoothing_kernels,
    white_noise,
)
from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# A joint below so many times the passage speed of its Coulomb friction may be held by it.
_SLIDING = 4.0


@dataclass(frozen=True, eq=False)
class VibrationRecord:
    """A segment of N evenly spaced samples; all series are smoothed by `kernel`.

    Attributes:
        period: of the samples, s.
        kernel: the smoothing kernel, shape (2 k + 1,).
        slope: its derivative, which gave accelerations from rates, shape (2 k + 1,).
        curvature: its second derivative, likewise from positions.
        from_rates: share of accelerations that is from rates, shape (n_j,).
        position: of the joints, shape (N, n_j).
        acceleration: shape (N, n_j).
        efforts: recorded efforts without what stiff links take apart from inertia, (N, n_j); NaN
            where not recorded, or where friction may hold the joint.
        tip: linear acceleration of the tip without that of stiff links apart from the joints'
            acceleration, shape (N, 3); NaN where not recorded.
        position_noise: standard deviation of samples, shape (n_j,).
        rate_noise: likewise.
        effort_noise: likewise.
        tip_noise: likewise, shape (3,).
    """

    period: float
    kernel: FloatArray
    slope: FloatArray
    curvature: FloatArray
    from_rates: FloatArray
    position: FloatArray
    acceleration: FloatArray
    efforts: FloatArray
    tip: FloatArray
    position_noise: FloatArray
    rate_noise: FloatArray
    effort_noise: FloatArray
    tip_noise: FloatArray


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
    period = max(sample_period(samples.time) for samples in segment.position)
    count = int((segment.end - segment.start) / period + 1e-6) + 1
    # Half a sample at least: the derivatives of a narrower kernel are none.
    kernels = smoothing_kernels(max(0.1 / frequency / period, 0.8), period)
    reach = len(kernels[0]) // 2
    if count < 8 * reach:
        return None
    time: FloatArray = segment.start + period * np.arange(count, dtype=float)
    q = _evenly(segment.position, time)
    qd = _evenly(segment.velocity, time)
    tau = _evenly(efforts, time)
    shaken = np.full((count, 3), np.nan)
    if tip is not None and len(tip.time) > 1:
        shaken = _evenly([Samples(tip.time, column) for column in tip.value[:, :3].T], time)
    noises = [white_noise(values) for values in (q, qd, tau, shaken)]
    about = 2.0 * np.pi * frequency
    share = (about * noises[0]) ** 2 / ((about * noises[0]) ** 2 + noises[1] ** 2)
    share = np.where(np.isfinite(qd).all(axis=0), share, 0.0)
    q_smooth = smoothed(q, kernels[0])
    rates, turns = (np.nan_to_num(qd), q)
    qd_smooth = share * smoothed(rates, kernels[0]) + (1 - share) * smoothed(turns, kernels[1])
    qdd = share * smoothed(rates, kernels[1]) + (1 - share) * smoothed(turns, kernels[2])
    inner = slice(reach, count - reach)
    q_in, qd_in = q_smooth[inner], qd_smooth[inner]
    own = np.full(q.shape, np.nan)
    own[inner] = rigid.bias_forces(q_in, qd_in) + rigid.joint_friction(qd_in)
    coasting = np.full((count, 3), np.nan)
    coasting[inner] = rigid.frame(frame).acceleration(q_in, qd_in, np.zeros_like(q_in))[:, :3]
    left = smoothed(tau - own, kernels[0])
    _, coulomb, passage = friction_coefficients(rigid.model).T
    held = (np.abs(qd_smooth) < _SLIDING * passage) & (coulomb > 0.0)
    left[held] = np.nan
    return VibrationRecord(
        period,
        *kernels,
        share,
        q_smooth,
        qdd,
        left,
        smoothed(shaken - coasting, kernels[0]),
        *noises,
    )


def _evenly(samples: Sequence[Samples], time: FloatArray) -> FloatArray:
    """Columns at even times, NaN where a joint has none."""
    columns = []
    for item in samples:
        if len(item.time) < 2:
            columns.append(np.full(len(time), np.nan))
            continue
        column = np.interp(time, item.time, item.value)
        beyond = 2.0 * sample_period(item.time)
        outside = (time < item.time[0] - beyond) | (time > item.time[-1] + beyond)
        columns.append(np.where(outside, np.nan, column))
    return np.column_stack(columns)
