# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Selection of windows of recorded motion for the identification of vibrations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.reading.spool import release
from kron_dynamics.bag.vibration.predicted_modes import PredictedModes, predicted_modes
from kron_dynamics.bag.vibration.smoothing_kernels import kernel_gain
from kron_dynamics.bag.vibration.vibration_records import VibrationRecord
from kron_dynamics.bag.vibration.window_spectra import acceleration_gain, window_spectra
from kron_dynamics.identification.modal_windows import ModalWindows
from kron_dynamics.robot import Robot
from kron_dynamics.typing import BoolArray, FloatArray

# Length of a window in periods of the slowest mode.
_PERIODS = 8.0
# Lines from this multiple of the slowest mode's frequency to this multiple of the fastest one's.
_BAND = (0.5, 2.0)
# Highest frequency of a line as a share of the sampling rate.
_HIGHEST = 0.45
# Largest number of windows: those with most vibration are used.
_MOST = 60
# Samples that are prepared together, and number of such parts after which the memory of
# file-backed tables is released.
_ROWS, _PARTS_HELD = 32_768, 8


class _Place(NamedTuple):
    score: float
    record: VibrationRecord
    first: int


def record_windows(
    robot: Robot,
    frame: str,
    records: Sequence[VibrationRecord],
    group: Sequence[int],
    channels: slice,
) -> tuple[ModalWindows, list[PredictedModes]] | None:
    """Return the windows with most vibration, and the modes predicted at their poses.

    Args:
        robot: robot with flexible links.
        frame: link whose acceleration is used.
        records: records prepared for these modes, with equal periods.
        group: indices of the modes to identify.
        channels: channels to use, out of the joints' efforts and the tip's three accelerations.

    Returns:
        None if no segment is long enough for a window, or none of the channels was recorded.
    """
    half = records[0].count // 2
    middle = records[0].rows(half, half + 1).position[0]
    omega = predicted_modes(robot, middle, frame).omega[group]
    period = records[0].period
    length = int(_PERIODS * 2.0 * np.pi / omega.min() / period)
    lines = 2.0 * np.pi * np.fft.rfftfreq(length, period)
    kept = (lines > _BAND[0] * omega.min()) & (lines < _BAND[1] * omega.max())
    kept &= lines < 2.0 * np.pi * _HIGHEST / period
    chosen = _chosen(records, length, kept, channels)
    if not chosen:
        return None
    parts, modes = [], []
    for place in chosen:
        rows = place.record.rows(place.first, place.first + length)
        pose = rows.position.mean(axis=0)
        found = predicted_modes(robot, pose, frame)
        modes.append(found)
        parts.append(window_spectra(robot, frame, place.record, rows, kept, found, channels))
    pushes, seen, rigid, nuisances = (np.array(each) for each in zip(*parts, strict=True))
    known = np.isfinite(seen).all(axis=1)
    seen, nuisances = (np.where(np.isfinite(x), x, 0.0) for x in (seen, nuisances))
    drive = np.array([found.drive[group] for found in modes])
    tips = np.array([found.tip[group] for found in modes])
    return ModalWindows(
        lines=lines[kept],
        pushes=pushes[:, :, group],
        joint_noise=_joint_noise(chosen[0].record, lines[kept], length),
        channels=seen,
        channel_noise=np.sqrt(length) * _channel_noise(chosen)[channels],
        rigid=rigid,
        known=known,
        nuisances=nuisances * known[:, None, :, None],
        drive=drive,
        shapes=np.concatenate([drive, tips], axis=2)[:, :, channels],
        omega=np.array([found.omega[group] for found in modes]),
    ), modes


def _chosen(
    records: Sequence[VibrationRecord], length: int, kept: BoolArray, used: slice
) -> list[_Place]:
    """Return windows that do not overlap, those with most vibration first."""
    places = [place for record in records for place in _scored(record, length, kept, used)]
    places.sort(key=lambda place: -place.score)
    chosen: list[_Place] = []
    for place in places:
        apart = (
            place.record is not other.record or abs(place.first - other.first) >= length
            for other in chosen
        )
        if all(apart):
            chosen.append(place)
        if len(chosen) == _MOST:
            break
    return chosen


def _scored(
    record: VibrationRecord, length: int, kept: BoolArray, used: slice
) -> Iterator[_Place]:
    """Yield the windows of a record, which may overlap, with their vibration as a score."""
    noise = np.concatenate([record.effort_noise, record.tip_noise])[used]
    ends = 2 * record.reach
    firsts = range(ends, record.count - ends - length + 1, max(1, length // 4))
    together = max(1, _ROWS // firsts.step)
    for number in range(0, len(firsts), together):
        some = firsts[number : number + together]
        part = record.rows(some[0], some[-1] + length)
        channels = np.hstack([part.efforts, part.tip])[:, used]
        for first in some:
            rows = slice(first - some[0], first - some[0] + length)
            if not np.isfinite(part.acceleration[rows]).all():
                continue
            seen = np.isfinite(channels[rows]).all(axis=0)
            if seen.any():
                spectra = np.fft.rfft(channels[rows][:, seen], axis=0)[kept]
                score = float(np.sum(np.abs(spectra / noise[seen]) ** 2))
                yield _Place(score, record, first)
        if not number // together % _PARTS_HELD:
            release()


def _joint_noise(record: VibrationRecord, lines: FloatArray, length: int) -> FloatArray:
    """Return standard deviations of the joints' accelerations in spectra, shape (L, n_j)."""
    slope, curvature = (
        np.abs(kernel_gain(kernel, lines, record.period))[:, None]
        for kernel in (record.slope, record.curvature)
    )
    rates = np.where(record.from_rates > 0.0, record.rate_noise, 0.0)
    share = record.from_rates
    parts = (share * rates * slope) ** 2 + ((1.0 - share) * record.position_noise * curvature) ** 2
    return np.asarray(np.sqrt(length * parts) / np.abs(acceleration_gain(record, lines)))


def _channel_noise(places: Sequence[_Place]) -> FloatArray:
    """Return the mean noise of samples where it is known, shape (C,); 1 where it never is."""
    known = [
        np.concatenate([place.record.effort_noise, place.record.tip_noise]) for place in places
    ]
    table = np.array(known)
    there = np.isfinite(table)
    total = np.where(there, table, 0.0).sum(axis=0)
    return np.asarray(np.where(there.any(axis=0), total / np.maximum(there.sum(axis=0), 1), 1.0))
