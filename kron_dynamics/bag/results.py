# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Summary figures of a replay, per joint and for the tip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from kron_dynamics.bag.replaying.replay import Replay
from kron_dynamics.bag.replaying.run_sums import Moments, SegmentSums
from kron_dynamics.bag.replaying.segment_replay import TERMS
from kron_dynamics.model.joint_kinds import joint_kind

DEFAULT_MAX_NOISE = 0.5
_EFFORTS = ('recomputed', *TERMS)
# A residual RMS above this multiple of the effort's RMS is no plausible error of the model.
_NOT_THE_ROBOT = 1.5
# Efforts are in another unit if recomputed / recorded is the unit's factor within this share.
UNIT_SHARE = 0.2


@dataclass(frozen=True)
class JointResult:
    """How well one joint's recomputed effort agrees with the recorded one.

    All efforts are in the joint's unit, averaged over the window. NaN where nothing was recorded.

    Attributes:
        name: the joint.
        unit: 'N' or 'N m'.
        source: source of the recorded effort: 'measured', 'commanded' or 'none'.
        sample_count: samples compared.
        effort_rms: RMS of the recorded effort.
        effort_peak: largest magnitude of the recorded effort.
        recomputed_rms: RMS of the recomputed effort.
        noise: standard deviation of the recomputed effort due to the noise of the samples.
        noise_dominates: whether the noise is too large for a meaningful residual.
        residual_rms: RMS of recorded minus recomputed.
        residual_peak: largest magnitude of the residual.
        residual_mean: mean of the residual, as a wrong mass or an unmodelled load causes it.
        term_rms: RMS of the inertia, Coriolis, gravity and friction terms by name.
    """

    name: str
    unit: str
    source: str
    sample_count: int
    effort_rms: float
    effort_peak: float
    recomputed_rms: float
    noise: float
    noise_dominates: bool
    residual_rms: float
    residual_peak: float
    residual_mean: float
    term_rms: dict[str, float]

    @property
    def ratio(self) -> float:
        """RMS of the residual over RMS of the recorded effort; NaN without effort."""
        return self.residual_rms / self.effort_rms if self.effort_rms > 0.0 else float('nan')


@dataclass(frozen=True)
class TipResult:
    """How well the tip's recomputed acceleration agrees with the recorded one.

    RMS of magnitudes, linear in m/s^2 or angular in rad/s^2.

    Attributes:
        kind: 'linear' or 'angular'.
        sample_count: samples compared.
        recorded_rms: RMS of the recorded acceleration.
        recomputed_rms: RMS of the recomputed acceleration.
        difference_rms: RMS of their difference.
        noise: standard deviation of the recomputed acceleration due to the noise of the samples.
        noise_dominates: whether the noise is too large for a meaningful difference.
    """

    kind: str
    sample_count: int
    recorded_rms: float
    recomputed_rms: float
    difference_rms: float
    noise: float
    noise_dominates: bool


def contradicting_efforts(joints: Sequence[JointResult]) -> str | None:
    """Return a sentence about efforts that contradict the model; None if there are none.

    Args:
        joints: results of a run.
    """
    factors = [
        joint.recomputed_rms / joint.effort_rms
        for joint in joints
        if not joint.noise_dominates and joint.effort_rms > 0.0
    ]
    for unit, factor in (('kN', 1e3), ('mN', 1e-3)):
        if factors and all(abs(each / factor - 1.0) < UNIT_SHARE for each in factors):
            return (
                f'efforts of all joints are {1.0 / factor:g} of the recomputed ones: they are in '
                f'{unit} or {unit} m (--scale *:effort={unit})'
            )
    found = [
        f'{joint.name} ({joint.ratio:.3g} times)'
        for joint in joints
        if not joint.noise_dominates and joint.ratio > _NOT_THE_ROBOT
    ]
    if not found:
        return None
    return (
        f'the residual is larger than the effort itself: {", ".join(found)}. Efforts in another '
        'unit (currents? their gains: identify --estimate-gains) or of the other sign '
        '(--scale JOINT:effort=FACTOR), positions in another unit, joints interchanged, another '
        'load or another robot?'
    )


def joint_results(
    replay: Replay, max_noise: float, segments: Sequence[int] | None = None
) -> tuple[JointResult, ...]:
    """Return the result of each joint, in coordinate order.

    Args:
        replay: the recomputed run.
        max_noise: noise above this share of a joint's effort is reported as dominating.
        segments: indices of the run's segments to sum up; None takes all.
    """
    sums = _sums(replay, segments)
    model = replay.robot.model
    recorded = _joined([part.recorded for part in sums])
    residual = _joined([part.residual for part in sums])
    efforts, others = (
        {name: _joined([getattr(part, which)[name] for part in sums]) for name in _EFFORTS}
        for which in ('efforts', 'other_efforts')
    )
    results = []
    for k, name in enumerate(model.joint_names):
        has_effort = bool(recorded.count[k])
        found = efforts if has_effort else others
        noise = pooled_noise([float(part.effort_noise[k]) for part in sums], sums)
        scale = (recorded if has_effort else found['recomputed']).rms(k)
        results.append(
            JointResult(
                name=name,
                unit=joint_kind(model.joint_types[k]).unit('effort'),
                source=replay.effort_sources[k],
                sample_count=int(found['recomputed'].count[k]),
                effort_rms=recorded.rms(k),
                effort_peak=recorded.largest(k),
                recomputed_rms=found['recomputed'].rms(k),
                noise=noise,
                noise_dominates=noise > max_noise * scale,
                residual_rms=residual.rms(k),
                residual_peak=residual.largest(k),
                residual_mean=residual.mean(k),
                term_rms={term: found[term].rms(k) for term in TERMS},
            )
        )
    return tuple(results)


def tip_results(replay: Replay, max_noise: float) -> tuple[TipResult, ...]:
    """Return the linear and the angular result of the tip; empty if nothing was recorded.

    Args:
        replay: the recomputed run.
        max_noise: noise above this share of the acceleration is reported as dominating.
    """
    sums = _sums(replay)
    found = _joined([part.tip for part in sums])
    if not found.count.any():
        return ()
    results = []
    for place, kind in enumerate(('linear', 'angular')):
        rows = slice(3 * place, 3 * place + 3)
        noise = pooled_noise([float(np.linalg.norm(part.tip_noise[rows])) for part in sums], sums)
        recorded_rms = found.rms(place)
        results.append(
            TipResult(
                kind=kind,
                sample_count=int(found.count[place]),
                recorded_rms=recorded_rms,
                recomputed_rms=found.rms(2 + place),
                difference_rms=found.rms(4 + place),
                noise=noise,
                noise_dominates=noise > max_noise * recorded_rms,
            )
        )
    return tuple(results)


def pooled_noise(noise: Sequence[float], sums: Sequence[SegmentSums]) -> float:
    """Return the RMS of the segments' noise, weighted by their samples.

    Args:
        noise: standard deviation in each segment.
        sums: sums of each segment.
    """
    counts = [part.compared for part in sums]
    return float(np.sqrt(np.average(np.square(noise), weights=counts)))


def _sums(replay: Replay, segments: Sequence[int] | None = None) -> list[SegmentSums]:
    numbers = range(len(replay.plans)) if segments is None else segments
    return [replay.sums.segment(number) for number in numbers]


def _joined(moments: Sequence[Moments]) -> Moments:
    return reduce(Moments.joined, moments)
