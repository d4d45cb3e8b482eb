# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Smoothness of a recorded motion: jerk of joints and tip, rates and steps of the efforts.

Accelerations and efforts are averages over a window. Their rates are differences over another
window's length, so that both ends have independent noise; peaks shorter than a window are
attenuated. Steps of recorded efforts are taken from the samples without smoothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.external_effort import recorded_effort_noise
from kron_dynamics.bag.reading.spool import release
from kron_dynamics.bag.replaying.rate_sums import RateMoments
from kron_dynamics.bag.replaying.recorded_efforts import recorded_efforts
from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.bag.replaying.row_signals import alike, stamps_key
from kron_dynamics.bag.results import pooled_noise
from kron_dynamics.bag.series.joint_log import GAP_PERIODS
from kron_dynamics.model.joint_kinds import joint_kind

# Recorded efforts that are processed together.
_SAMPLES = 16_384
# Parts after which the memory of file-backed tables is released.
_HELD = 16


@dataclass(frozen=True)
class RateResult:
    """RMS and peak of one rate.

    Attributes:
        rms: root mean square; NaN where unknown.
        peak: largest magnitude.
        noise: standard deviation due to the noise of the joints' samples; NaN where unknown.
    """

    rms: float
    peak: float
    noise: float

    @property
    def noise_dominates(self) -> bool:
        """Whether noise is more than half of the RMS."""
        return 2.0 * self.noise > self.rms


@dataclass(frozen=True)
class JointSmoothness:
    """Rates of one joint.

    Attributes:
        name: the joint.
        jerk_unit: 'rad/s^3' or 'm/s^3'.
        effort_unit: 'N m' or 'N'; rates are per second.
        jerk: jerk of the motion.
        effort_rate: rate of the recorded effort.
        recomputed_effort_rate: rate of the recomputed effort: over the rows with recorded efforts,
            or over all rows where none are recorded.
        largest_step: largest step of the recorded effort between two samples, N m or N.
    """

    name: str
    jerk_unit: str
    effort_unit: str
    jerk: RateResult
    effort_rate: RateResult
    recomputed_effort_rate: RateResult
    largest_step: float


@dataclass(frozen=True)
class Smoothness:
    """Rates of a run.

    Attributes:
        joints: in coordinate order.
        tip_linear: magnitude of the tip's jerk, m/s^3.
        tip_angular: magnitude of the second derivative of its angular velocity, rad/s^3.
    """

    joints: tuple[JointSmoothness, ...]
    tip_linear: RateResult
    tip_angular: RateResult


def smoothness(replay: Replay) -> Smoothness:
    """Return the rates of a run.

    Args:
        replay: the recomputed run.
    """
    model, rates = replay.robot.model, replay.sums.rates
    sums = [replay.sums.segment(number) for number in range(len(replay.plans))]
    step = replay.plans[0].step
    steps, recorded_noise = _largest_steps(replay), recorded_effort_noise(replay)
    joints = []
    for k, (name, item) in enumerate(zip(model.joint_names, replay.filters, strict=True)):
        kind, gain = joint_kind(model.joint_types[k]), np.sqrt(2.0) / (rates.apart[k] * step)
        recomputed = rates.compared if rates.is_recorded[k] else rates.recomputed
        effort_noise = pooled_noise([float(part.effort_noise[k]) for part in sums], sums)
        joints.append(
            JointSmoothness(
                name,
                f'{kind.unit("position")}/s^3',
                kind.unit('effort'),
                _result(rates.jerk, k, gain * item.acceleration_noise()),
                _result(rates.recorded, k, gain * recorded_noise[k]),
                _result(recomputed, k, gain * effort_noise),
                steps[k],
            )
        )
    gain = np.sqrt(2.0) / (max(rates.apart) * step)
    linear, angular = (
        _result(
            rates.tip,
            place,
            gain
            * pooled_noise([float(np.linalg.norm(part.tip_noise[rows])) for part in sums], sums),
        )
        for place, rows in enumerate((slice(0, 3), slice(3, 6)))
    )
    return Smoothness(tuple(joints), linear, angular)


def _result(moments: RateMoments, column: int, noise: float) -> RateResult:
    return RateResult(moments.rms(column), moments.largest(column), float(noise))


def _largest_steps(replay: Replay) -> list[float]:
    """Return the largest step of each joint's recorded effort, without steps over gaps.

    NaN where no two samples are neighbours.
    """
    largest = np.full(len(replay.filters), np.nan)
    for segment in replay.run.log.segments:
        efforts = recorded_efforts(replay.run, segment, replay.effort_sources)
        longest = max(len(samples.time) for samples in efforts)
        joints = alike(range(len(efforts)), [stamps_key(samples) for samples in efforts])
        for first in range(0, longest, _SAMPLES):
            # Parts overlap by one sample.
            part = slice(first, first + _SAMPLES + 1)
            if not first % (_HELD * _SAMPLES):
                release()
            for together in joints:
                samples = efforts[together[0]]
                time = samples.time[part]
                if len(time) > 1:
                    near = np.diff(time) <= GAP_PERIODS * samples.period
                    for k in together:
                        steps = np.abs(np.diff(efforts[k].value[part]))[near]
                        largest[k] = np.fmax(largest[k], steps.max(initial=-np.inf))
    largest[np.isinf(largest)] = np.nan
    return [float(step) for step in largest]
