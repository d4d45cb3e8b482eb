# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers that sum a replay up, per joint and for the tip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.replay import Replay
from kron_dynamics.bag.samples import BoolArray
from kron_dynamics.bag.segment_replay import TERMS, SegmentReplay
from kron_dynamics.model.joint_kinds import joint_kind
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True)
class JointResult:
    """How well one joint's recomputed effort agrees with the recorded one.

    All efforts are in the joint's unit, averaged over the window. NaN where nothing was recorded.

    Attributes:
        name: the joint.
        unit: 'N' or 'N m'.
        source: where the recorded effort is from: 'measured', 'commanded' or 'none'.
        sample_count: samples compared.
        effort_rms: RMS of the recorded effort.
        effort_peak: largest magnitude of it.
        recomputed_rms: RMS of the recomputed effort.
        noise: standard deviation the recomputed effort has from the noise of the samples.
        noise_dominates: whether that is too much for a residual to mean anything.
        residual_rms: RMS of recorded minus recomputed.
        residual_peak: largest magnitude of it.
        residual_mean: its mean: what a wrong mass or an unmodelled load causes.
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
        noise: standard deviation of the recomputed acceleration by the samples' noise.
        noise_dominates: whether that is too much for the difference to mean anything.
    """

    kind: str
    sample_count: int
    recorded_rms: float
    recomputed_rms: float
    difference_rms: float
    noise: float
    noise_dominates: bool


def joint_results(
    replay: Replay, max_noise: float, segments: Sequence[SegmentReplay] | None = None
) -> tuple[JointResult, ...]:
    """Return the result of each joint, in coordinate order.

    Args:
        replay: the recomputed run.
        max_noise: share of a joint's effort above which its noise is said to dominate.
        segments: which of the run's segments to sum up; None takes all.
    """
    segments = replay.segments if segments is None else segments
    model = replay.robot.model
    results = []
    for k, name in enumerate(model.joint_names):
        valid = [part.valid & np.isfinite(part.recorded[:, k]) for part in segments]
        recorded = _column([part.recorded for part in segments], k, valid)
        has_effort = bool(len(recorded))
        if not has_effort:
            valid = [part.valid for part in segments]
        recomputed = _column([part.recomputed for part in segments], k, valid)
        residual = _column([part.residual for part in segments], k, valid)
        noise = pooled_noise(np.array([part.effort_noise[k] for part in segments]), segments)
        effort_rms = rms(recorded)
        scale = effort_rms if has_effort else rms(recomputed)
        results.append(
            JointResult(
                name=name,
                unit=joint_kind(model.joint_types[k]).unit('effort'),
                source=replay.effort_sources[k],
                sample_count=len(recomputed),
                effort_rms=effort_rms,
                effort_peak=peak(recorded),
                recomputed_rms=rms(recomputed),
                noise=noise,
                noise_dominates=noise > max_noise * scale,
                residual_rms=rms(residual) if has_effort else float('nan'),
                residual_peak=peak(residual) if has_effort else float('nan'),
                residual_mean=float(np.mean(residual)) if has_effort else float('nan'),
                term_rms={
                    term: rms(_column([part.terms[term] for part in segments], k, valid))
                    for term in TERMS
                },
            )
        )
    return tuple(results)


def tip_results(replay: Replay, max_noise: float) -> tuple[TipResult, ...]:
    """Return the linear and the angular result of the tip; empty if nothing was recorded.

    Args:
        replay: the recomputed run.
        max_noise: share of the acceleration above which its noise is said to dominate.
    """
    segments = replay.segments
    valid = [part.valid & np.isfinite(part.tip_recorded).all(axis=1) for part in segments]
    if not any(mask.any() for mask in valid):
        return ()
    recorded = np.concatenate(
        [part.tip_recorded[mask] for part, mask in zip(segments, valid, strict=True)]
    )
    recomputed = np.concatenate(
        [part.tip_recomputed[mask] for part, mask in zip(segments, valid, strict=True)]
    )
    results = []
    for kind, rows in (('linear', slice(0, 3)), ('angular', slice(3, 6))):
        noise = pooled_noise(
            np.array([np.linalg.norm(part.tip_noise[rows]) for part in segments]), segments
        )
        recorded_rms = rms(np.linalg.norm(recorded[:, rows], axis=1))
        results.append(
            TipResult(
                kind=kind,
                sample_count=len(recorded),
                recorded_rms=recorded_rms,
                recomputed_rms=rms(np.linalg.norm(recomputed[:, rows], axis=1)),
                difference_rms=rms(np.linalg.norm((recorded - recomputed)[:, rows], axis=1)),
                noise=noise,
                noise_dominates=noise > max_noise * recorded_rms,
            )
        )
    return tuple(results)


def rms(values: FloatArray) -> float:
    """Return the root mean square of values, NaN if there are none."""
    return float(np.sqrt(np.mean(values * values))) if values.size else float('nan')


def peak(values: FloatArray) -> float:
    """Return the largest magnitude of values, NaN if there are none."""
    return float(np.max(np.abs(values))) if values.size else float('nan')


def pooled_noise(noise: FloatArray, segments: Sequence[SegmentReplay]) -> float:
    """Return the RMS of the segments' noise, weighted by their samples."""
    counts = [int(part.valid.sum()) for part in segments]
    return float(np.sqrt(np.average(noise * noise, weights=counts)))


def _column(tables: Sequence[FloatArray], column: int, masks: Sequence[BoolArray]) -> FloatArray:
    return np.concatenate([table[mask, column] for table, mask in zip(tables, masks, strict=True)])
