# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How smooth a recorded motion is: jerk of joints and tip, rates and steps of the efforts.

Accelerations and efforts are averages over a window. Their rates are differences over one window
more, so that both ends have noise of their own: peaks shorter than a window are lowered. Steps of
recorded efforts are of the samples as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.joint_log import GAP_PERIODS
from kron_dynamics.bag.replay import Replay, recorded_efforts
from kron_dynamics.bag.results import peak, pooled_noise, rms
from kron_dynamics.bag.samples import Samples, sample_period
from kron_dynamics.bag.segment_replay import SegmentReplay
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class RateResult:
    """RMS and peak of one rate.

    Attributes:
        rms: root mean square; NaN where it is not known.
        peak: largest magnitude.
        noise: standard deviation by the noise of the joints' samples; NaN where that is not known.
    """

    rms: float
    peak: float
    noise: float

    @property
    def noise_dominates(self) -> bool:
        """Whether half of the RMS and more may be noise."""
        return 2.0 * self.noise > self.rms


@dataclass(frozen=True)
class JointSmoothness:
    """Rates of one joint.

    Attributes:
        name: the joint.
        jerk_unit: 'rad/s^3' or 'm/s^3'.
        effort_unit: 'N m' or 'N'; rates are per second.
        jerk: of the motion.
        effort_rate: of the recorded effort.
        recomputed_effort_rate: of the effort that the motion takes, where one is recorded too;
            of all where none is.
        largest_step: of the recorded effort, from a sample to the next, N m or N.
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
        tip_linear: jerk of the tip, m/s^3, of magnitudes.
        tip_angular: second derivative of its angular velocity, rad/s^3, of magnitudes.
    """

    joints: tuple[JointSmoothness, ...]
    tip_linear: RateResult
    tip_angular: RateResult


def smoothness(replay: Replay) -> Smoothness:
    """Return the rates of a run.

    Args:
        replay: the recomputed run.
    """
    model, segments = replay.robot.model, replay.segments
    unknown = [float('nan')] * len(segments)
    recorded = [
        recorded_efforts(replay.run, segment, replay.effort_sources)
        for segment in replay.run.log.segments
    ]
    joints = []
    for k, (name, item) in enumerate(zip(model.joint_names, replay.filters, strict=True)):
        kind, one, width = joint_kind(model.joint_types[k]), slice(k, k + 1), 2.0 * item.half_width
        joints.append(
            JointSmoothness(
                name,
                f'{kind.unit("position")}/s^3',
                kind.unit('effort'),
                _rates(
                    segments,
                    [part.acceleration[:, one] for part in segments],
                    [item.acceleration_noise()] * len(segments),
                    width,
                ),
                _rates(segments, [part.recorded[:, one] for part in segments], unknown, width),
                _rates(
                    segments,
                    _where_recorded(segments, one),
                    [float(part.effort_noise[k]) for part in segments],
                    width,
                ),
                _largest_step([efforts[k] for efforts in recorded]),
            )
        )
    widest = 2.0 * max(item.half_width for item in replay.filters)
    linear, angular = (
        _rates(
            segments,
            [part.tip_recomputed[:, rows] for part in segments],
            [float(np.linalg.norm(part.tip_noise[rows])) for part in segments],
            widest,
        )
        for rows in (slice(0, 3), slice(3, 6))
    )
    return Smoothness(tuple(joints), linear, angular)


def _where_recorded(segments: Sequence[SegmentReplay], one: slice) -> list[FloatArray]:
    """Recomputed efforts of a joint, (N, 1) each: what recorded ones are compared with."""
    known = [np.isfinite(part.recorded[:, one]) for part in segments]
    if not any(each.any() for each in known):
        return [part.recomputed[:, one] for part in segments]
    return [
        np.where(each, part.recomputed[:, one], np.nan)
        for part, each in zip(segments, known, strict=True)
    ]


def _rates(
    segments: Sequence[SegmentReplay],
    signals: Sequence[FloatArray],
    noises: Sequence[float],
    width: float,
) -> RateResult:
    """Differences of signals, shape (N, k) each, over a time in s, by magnitude."""
    found = []
    scaled = []
    for part, signal, noise in zip(segments, signals, noises, strict=True):
        step = float(part.time[1] - part.time[0])
        apart = max(1, round(width / step))
        both = part.valid[apart:] & part.valid[:-apart]
        rates = (signal[apart:] - signal[:-apart]) / (apart * step)
        found.append(np.linalg.norm(rates[both], axis=1))
        scaled.append(np.sqrt(2.0) * noise / (apart * step))
    rates = np.concatenate(found)
    rates = rates[np.isfinite(rates)]
    return RateResult(rms(rates), peak(rates), pooled_noise(np.array(scaled), segments))


def _largest_step(pieces: Sequence[Samples]) -> float:
    """From a sample to the next, gaps left out; NaN where no two are neighbours."""
    steps = [np.zeros(0)]
    for samples in pieces:
        if len(samples.time) > 1:
            near = np.diff(samples.time) <= GAP_PERIODS * sample_period(samples.time)
            steps.append(np.diff(samples.value)[near])
    return peak(np.concatenate(steps))
