# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Turns recorded joint states into clean time series per joint, counting whatever is lost.

Joints are matched by name and kept apart until the model is evaluated, so messages may be
partial, unordered or come from several publishers. Nothing is ever filled in: a sample that is
missing or not a number is missing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.reader import JointStateMessage
from kron_dynamics.bag.samples import (
    DroppedSamples,
    IntArray,
    Piece,
    Samples,
    merge_samples,
    sample_period,
)
from kron_dynamics.exceptions import BagError
from kron_dynamics.typing import FloatArray

# A stamp this far behind the newest one is a restarted clock, not a late message.
RESTART_STEP_NS = 500_000_000
# Silence of more than this many sample periods ends a segment.
GAP_PERIODS = 5.0
QUANTITIES = ('position', 'velocity', 'effort')


@dataclass(frozen=True)
class JointSegment:
    """A stretch of recording without gaps in the positions of any joint.

    Attributes:
        epoch: how often the clock had been restarted before.
        start: first time at which every joint is known, in s.
        end: last such time, in s.
        position: positions of each model joint, in rad or m.
        velocity: velocities of each model joint, in rad/s or m/s; may hold no samples.
        effort: efforts of each model joint, in N m or N; may hold no samples.
    """

    epoch: int
    start: float
    end: float
    position: tuple[Samples, ...]
    velocity: tuple[Samples, ...]
    effort: tuple[Samples, ...]


@dataclass(frozen=True)
class JointLog:
    """Everything one JointState topic says about the model's joints.

    Attributes:
        segments: stretches without gaps, in the order of recording.
        dropped: what was not used.
        message_count: decoded messages.
        origin: stamp that is time 0, in ns.
        epoch_starts: recording times at which each clock epoch begins, in ns.
        stamped: whether times come from the headers (else from the recorder).
    """

    segments: tuple[JointSegment, ...]
    dropped: DroppedSamples
    message_count: int
    origin: int
    epoch_starts: IntArray
    stamped: bool


def build_joint_log(
    topic: str,
    messages: Sequence[JointStateMessage],
    joint_names: Sequence[str],
    unlimited: Collection[str] = (),
) -> JointLog:
    """Return the time series of the given joints.

    Args:
        topic: name used in errors.
        messages: messages in the order of recording.
        joint_names: the model's joints, in coordinate order.
        unlimited: those that turn without end; drivers may report them modulo one turn.

    Raises:
        BagError: a joint has no position in any message.
    """
    dropped = DroppedSamples()
    stamped = any(message.stamp != 0 for message in messages)
    stamps = np.array([m.stamp if stamped else m.log_time for m in messages], dtype=np.int64)
    epochs = clock_epochs(stamps)
    dropped.restarts = int(epochs[-1]) if len(epochs) else 0
    dropped.out_of_order = sum(
        int(np.count_nonzero(part < np.maximum.accumulate(part)))
        for part in (stamps[epochs == epoch] for epoch in range(dropped.restarts + 1))
    )
    origin = int(stamps.min()) if len(stamps) else 0
    times: FloatArray = (stamps - origin) * np.float64(1e-9)
    columns = columns_by_joint(messages, joint_names, dropped)
    for joint in joint_names:
        if not columns.get((joint, 'position')):
            seen = sorted({name for message in messages for name in message.names})
            raise BagError(
                f"topic '{topic}' has no position of joint '{joint}'; it has {', '.join(seen)}"
                if seen
                else f"topic '{topic}' names no joints"
            )
    segments: list[JointSegment] = []
    for epoch in range(dropped.restarts + 1):
        series = {
            key: merge_samples(columns.get(key, []), times, epochs == epoch, dropped)
            for key in ((joint, quantity) for joint in joint_names for quantity in QUANTITIES)
        }
        for joint in unlimited:
            samples = series[joint, 'position']
            series[joint, 'position'] = Samples(samples.time, np.unwrap(samples.value))
        segments += _split_into_segments(series, joint_names, epoch, dropped)
    starts = np.array([m.log_time for m in messages], dtype=np.int64)[
        np.searchsorted(epochs, np.arange(dropped.restarts + 1))
    ]
    return JointLog(tuple(segments), dropped, len(messages), origin, starts, stamped)


def clock_epochs(stamps: IntArray) -> IntArray:
    """Return how often the clock had restarted before each message, shape (N,).

    A stamp far behind the newest one is a restart unless the next stamp is back at the front:
    then it is one late message.

    Args:
        stamps: stamps in ns, in the order of recording, shape (N,).
    """
    epochs = np.zeros(len(stamps), dtype=np.int64)
    if not np.any(np.diff(stamps) < -RESTART_STEP_NS):
        return epochs
    epoch, front = 0, int(stamps[0])
    for index, stamp in enumerate(stamps.tolist()):
        oldest_late = front - RESTART_STEP_NS
        if stamp < oldest_late:
            returns = index + 1 < len(stamps) and int(stamps[index + 1]) >= oldest_late
            if not returns:
                epoch, front = epoch + 1, stamp
        front = max(front, stamp)
        epochs[index] = epoch
    return epochs


def columns_by_joint(
    messages: Sequence[JointStateMessage], joint_names: Sequence[str], dropped: DroppedSamples
) -> dict[tuple[str, str], list[Piece]]:
    """Return, by joint and quantity, the values in messages and the indices of those messages.

    Args:
        messages: messages in the order of recording.
        joint_names: joints wanted.
        dropped: where messages and samples that cannot be used are counted.
    """
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[int]] = {}
    for index, message in enumerate(messages):
        present = _present_quantities(message)
        if present is None:
            dropped.malformed += 1
        else:
            groups.setdefault((message.names, present), []).append(index)
    wanted = set(joint_names)
    dropped.unused_joints = tuple(sorted({n for names, _ in groups for n in names} - wanted))
    columns: dict[tuple[str, str], list[Piece]] = {}
    for (names, present), indices in groups.items():
        where = np.array(indices, dtype=np.int64)
        for quantity in present:
            table = np.stack([getattr(messages[index], quantity) for index in indices])
            for column, joint in enumerate(names):
                if joint not in wanted:
                    continue
                finite = np.isfinite(table[:, column])
                if not finite.all():
                    key = f'{joint} {quantity}'
                    count = dropped.non_finite.get(key, 0) + int(np.sum(~finite))
                    dropped.non_finite[key] = count
                if finite.any():
                    piece = (where[finite], table[finite, column])
                    columns.setdefault((joint, quantity), []).append(piece)
    return columns


def _present_quantities(message: JointStateMessage) -> tuple[str, ...] | None:
    """Return which arrays a message fills, or None if it contradicts itself."""
    if len(set(message.names)) != len(message.names):
        return None
    sizes = {quantity: len(getattr(message, quantity)) for quantity in QUANTITIES}
    if any(size not in (0, len(message.names)) for size in sizes.values()):
        return None
    return tuple(quantity for quantity, size in sizes.items() if size)


def _split_into_segments(
    series: dict[tuple[str, str], Samples],
    joint_names: Sequence[str],
    epoch: int,
    dropped: DroppedSamples,
) -> list[JointSegment]:
    positions = [series[joint, 'position'] for joint in joint_names]
    intervals = [(-np.inf, np.inf)]
    for samples in positions:
        intervals = _intersect(intervals, _unbroken_intervals(samples.time))
    segments = []
    used = 0
    for start, end in intervals:
        cut = {
            quantity: tuple(series[joint, quantity].between(start, end) for joint in joint_names)
            for quantity in QUANTITIES
        }
        used += sum(len(samples.time) for samples in cut['position'])
        segments.append(
            JointSegment(epoch, start, end, cut['position'], cut['velocity'], cut['effort'])
        )
    dropped.outside_segments += sum(len(samples.time) for samples in positions) - used
    return segments


def _unbroken_intervals(time: FloatArray) -> list[tuple[float, float]]:
    if len(time) < 2:
        return []
    breaks = np.flatnonzero(np.diff(time) > GAP_PERIODS * sample_period(time))
    firsts = np.concatenate(([0], breaks + 1))
    lasts = np.concatenate((breaks, [len(time) - 1]))
    return [(float(time[a]), float(time[b])) for a, b in zip(firsts, lasts, strict=True)]


def _intersect(
    left: list[tuple[float, float]], right: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """Return the common parts, of more than no length, of two ordered lists of intervals."""
    common = []
    i = j = 0
    while i < len(left) and j < len(right):
        start, end = max(left[i][0], right[j][0]), min(left[i][1], right[j][1])
        if end > start:
            common.append((start, end))
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1
    return common
