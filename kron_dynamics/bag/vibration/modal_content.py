# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Identification of the predicted modes of flexible links in a run: frequencies and damping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.bag.replaying.recorded_efforts import recorded_efforts
from kron_dynamics.bag.samples import Samples, sample_period
from kron_dynamics.bag.series.runs import Run
from kron_dynamics.bag.vibration.modal_results import ModalContent, ModeContent
from kron_dynamics.bag.vibration.predicted_modes import PredictedModes, groups_of, predicted_modes
from kron_dynamics.bag.vibration.record_windows import record_windows
from kron_dynamics.bag.vibration.vibration_records import VibrationRecord, vibration_record
from kron_dynamics.identification.modal_fit import FittedMode, fit_modes
from kron_dynamics.robot import Robot
from kron_dynamics.typing import FloatArray

# Highest identifiable frequency as a share of the sampling rate, because of aliasing.
_HIGHEST_SHARE = 0.4
# Segments are used together if their sampling periods differ by less than this share.
_SAME_PERIOD = 1e-3
# Evidence, in standard deviations, above which a channel is reported to show a mode.
_SHOWS = 3.0


def modal_content(robot: Robot, run: Run, frame: str, sources: Sequence[str]) -> ModalContent:
    """Return the vibrations of flexible links identified from a run.

    Efforts of a joint are used while it slides, or always if its model has no Coulomb friction:
    the drive of a joint that sticks does not show vibrations. The acceleration of the tip is used
    where it was recorded.

    Args:
        robot: robot with flexible links.
        run: the recorded run.
        frame: link whose acceleration was recorded.
        sources: source of each joint's effort, as in `Replay`.

    Raises:
        ModelError: the links buckle under their weight in a recorded pose.
    """
    names = robot.joint_names[robot.model.joint_count :]
    segment = max(run.log.segments, key=lambda part: part.end - part.start)
    middle = np.array([s.value[len(s.value) // 2] for s in segment.position])
    rate = 1.0 / max(sample_period(samples.time) for samples in segment.position)
    predicted = predicted_modes(robot, middle, frame)
    hertz = predicted.omega / (2.0 * np.pi)
    modes: dict[int, ModeContent] = {}
    looked = list[tuple[float, int, int]]()
    for group in groups_of(predicted.omega):
        within = [k for k in group if 0.0 < hertz[k] <= _HIGHEST_SHARE * rate]
        for k in group:
            if k not in within:
                modes[k] = _unseen(
                    names[k], hertz[k], predicted.ratios[k], _too_fast(hertz[k], rate)
                )
        if not within:
            continue
        records = _records(robot, run, frame, sources, float(hertz[within].max()))
        for k in within:
            verdict = 'not seen: no stretch is long enough, or no suitable channel was recorded'
            modes[k] = _unseen(names[k], hertz[k], predicted.ratios[k], verdict)
        for channels, labels in _channel_groups(robot):
            found = record_windows(robot, frame, records, within, channels) if records else None
            if found is None:
                continue
            fit = fit_modes(found[0])
            for place, k in enumerate(within):
                other = _content(names[k], k, fit.modes[place], found[1], labels)
                modes[k] = _better(modes[k], other)
            looked.append((2.0 * np.pi / found[0].spacing, found[0].count, fit.disturbed))
    length, windows, disturbed = max(looked, default=(0.0, 0, 0))  # of the slowest modes
    return ModalContent(
        tuple(modes[k] for k in sorted(modes)),
        windows,
        length,
        disturbed,
        tuple(float(x) for x in middle),
        frame,
    )


def _channel_groups(robot: Robot) -> list[tuple[slice, tuple[str, ...]]]:
    """Return groups of channels that are used separately, so that errors do not spread."""
    count = robot.model.joint_count
    joints = robot.joint_names[:count]
    return [(slice(count), joints), (slice(count, count + 3), ('tip acceleration',) * 3)]


def _better(one: ModeContent, other: ModeContent) -> ModeContent:
    """Return the detected mode, of two the one with the shorter interval."""
    if one.seen and other.seen:
        return min(one, other, key=lambda mode: mode.frequency_interval)
    return other if other.seen or not one.seen and other.evidence == other.evidence else one


def _records(
    robot: Robot, run: Run, frame: str, sources: Sequence[str], frequency: float
) -> list[VibrationRecord]:
    """Return segments with equal periods prepared for vibrations up to a frequency, Hz.

    Channels with too few samples for this frequency are left out.
    """
    records: list[VibrationRecord] = []
    for segment in run.log.segments:
        tip = run.acceleration.epochs[segment.epoch][0] if run.acceleration else None
        efforts = [
            each if _fast_enough(each, frequency) else each.between(np.inf, np.inf)
            for each in recorded_efforts(run, segment, sources)
        ]
        if tip is not None and not _fast_enough(tip, frequency):
            tip = None
        record = vibration_record(robot.rigid, frame, segment, efforts, tip, frequency)
        if record is not None:
            usual = records[0].period if records else record.period
            if abs(record.period - usual) < _SAME_PERIOD * usual:
                records.append(record)
    return records


def _fast_enough(samples: Samples, frequency: float) -> bool:
    return len(samples.time) < 2 or frequency <= _HIGHEST_SHARE / samples.period


def _content(
    name: str,
    place: int,
    mode: FittedMode,
    there: Sequence[PredictedModes],
    channels: Sequence[str],
) -> ModeContent:
    predicted = float(np.mean([found.omega[place] for found in there]) / (2.0 * np.pi))
    ratio = float(np.mean([found.ratios[place] for found in there]))
    if not mode.seen:
        return _unseen(name, predicted, ratio, 'not seen', mode.evidence)
    spread = float(np.exp(mode.ratio_interval))
    return ModeContent(
        name,
        predicted,
        ratio,
        mode.scale * predicted,
        mode.scale_interval * predicted,
        mode.ratio,
        (mode.ratio / spread, mode.ratio * spread),
        mode.evidence,
        _showing(mode.channel_evidence, channels),
        'seen',
    )


def _showing(evidence: FloatArray, channels: Sequence[str]) -> tuple[str, ...]:
    total: dict[str, float] = {}
    for name, value in zip(channels, evidence, strict=True):
        total[name] = total.get(name, 0.0) + float(value)
    return tuple(name for name, value in total.items() if value > _SHOWS)


def _unseen(
    name: str, frequency: float, ratio: float, verdict: str, evidence: float = float('nan')
) -> ModeContent:
    nan = float('nan')
    return ModeContent(
        name, float(frequency), float(ratio), nan, nan, nan, (nan, nan), evidence, (), verdict
    )


def _too_fast(frequency: float, rate: float) -> str:
    if frequency <= 0.0:
        return 'not seen: without stiffness it has no frequency'
    side = 'above' if frequency > 0.5 * rate else 'too near to'
    return f'not seen: {side} half the sampling rate of {rate:.4g} Hz'
