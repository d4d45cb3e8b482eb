# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Clean time series per joint from recorded joint states, with counts of all lost data.

Joints are matched by name and kept separate until the model is evaluated, so messages may be
partial, unordered or from several publishers. Missing samples and NaN are never filled in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kron_dynamics.bag.reading.joint_states import JointStates
from kron_dynamics.bag.reading.recording_order import clock_epochs, recorder_epochs
from kron_dynamics.bag.reading.spool import release
from kron_dynamics.bag.samples import (
    DroppedSamples,
    Piece,
    Samples,
    merge_samples,
    sample_period,
    slower_time,
)
from kron_dynamics.exceptions import BagError
from kron_dynamics.typing import BoolArray, FloatArray, IntArray

# Larger stamps, in ns, are wall-clock times (since 1970), not simulated time.
WALL_CLOCK = 10**17
# A gap of more than this many sample periods ends a segment.
GAP_PERIODS = 5.0
# Larger values are no motion and no effort of a machine: bits were flipped.
LARGEST = 1e12
# Positions are modulo one turn if all but a share OUTLIERS at either end are within ONE_TURN, rad.
ONE_TURN, OUTLIERS = 2.0 * np.pi * 1.02, 1e-3
_ROWS = 16_384  # rows of a table that are processed together
_HELD = 16  # such parts after which the memory of file-backed tables is released
QUANTITIES = ('position', 'velocity', 'effort')


@dataclass(frozen=True)
class JointSegment:
    """A stretch of recording without gaps in the positions of any joint, two of each or more.

    Attributes:
        epoch: number of clock restarts before it.
        start: first time at which the positions of all joints are known, in s.
        end: last time at which they are known, in s.
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
    """The time series of the model's joints from one source of joint states.

    Attributes:
        segments: stretches without gaps, in the order of recording.
        dropped: counts of data that were not used.
        message_count: number of decoded messages.
        origin: stamp that is time 0, in ns.
        epoch_starts: time of recording of the first message in each clock epoch, in ns.
        epoch_recorders: how often the recorder's clock was set back before that message.
        epoch_delays: usual time from stamp to recording in each clock epoch, in ns.
        stamped: whether times are header stamps, not times of recording.
    """

    segments: tuple[JointSegment, ...]
    dropped: DroppedSamples
    message_count: int
    origin: int
    epoch_starts: IntArray
    epoch_recorders: IntArray
    epoch_delays: IntArray
    stamped: bool

    def without_velocities(self, joints: Collection[int]) -> JointLog:
        """Return the log without the velocities of some joints, given by their indices."""
        nothing = Samples(np.empty(0), np.empty(0))
        segments = [
            replace(
                part,
                velocity=tuple(
                    nothing if k in joints else rate for k, rate in enumerate(part.velocity)
                ),
            )
            for part in self.segments
        ]
        return replace(self, segments=tuple(segments))


def build_joint_log(
    topic: str,
    states: JointStates,
    joint_names: Sequence[str],
    unlimited: Collection[str] = (),
    held: Mapping[str, float] | None = None,
) -> JointLog:
    """Return the time series of the given joints.

    Args:
        topic: name used in errors.
        states: the messages of the topic.
        joint_names: the model's joints, in coordinate order.
        unlimited: continuous joints, which drivers may report modulo one turn.
        held: positions of joints that are not recorded and stand still, rad or m.

    Raises:
        BagError: a joint has no position in any message.
    """
    dropped = DroppedSamples()
    stamped, message_count = bool(states.stamp.any()), len(states)
    if len(states) and states.stamp.max() > WALL_CLOCK:
        # A wall clock is never at 0: such messages have no stamp.
        states = states.taken(states.stamp != 0)
        dropped.unstamped = message_count - len(states)
    stamps = states.stamp if stamped else states.log_time
    epochs = clock_epochs(stamps, states.log_time)
    dropped.restarts = int(epochs[-1]) if len(epochs) else 0
    dropped.out_of_order = sum(
        int(np.count_nonzero(part < np.maximum.accumulate(part)))
        for part in (stamps[epochs == epoch] for epoch in range(dropped.restarts + 1))
    )
    origin = int(stamps.min()) if len(stamps) else 0
    times: FloatArray = (stamps - origin) * np.float64(1e-9)
    columns = _with_held(columns_by_joint(states, joint_names, dropped), held or {})
    for joint in joint_names:
        if not columns.get((joint, 'position')):
            raise BagError(_no_position(topic, states, joint, dropped))
    segments: list[JointSegment] = []
    for epoch in range(dropped.restarts + 1):
        series = {
            key: merge_samples(columns.get(key, []), times, epochs == epoch, dropped)
            for key in ((joint, quantity) for joint in joint_names for quantity in QUANTITIES)
        }
        for joint in unlimited:
            series[joint, 'position'] = _unwrapped(series[joint, 'position'])
        segments += _split_into_segments(series, joint_names, epoch, dropped)
    firsts = np.searchsorted(epochs, np.arange(dropped.restarts + 1))
    delays = np.split(states.log_time - stamps, firsts[1:])
    return JointLog(
        tuple(segments),
        dropped,
        message_count,
        origin,
        states.log_time[firsts],
        recorder_epochs(states.log_time, states.stamp)[firsts],
        np.array([np.median(delay) for delay in delays], dtype=np.int64),
        stamped,
    )


def _unwrapped(samples: Samples) -> Samples:
    """Return positions that are reported modulo one turn as those of a continuous motion.

    Positions over several turns are returned as they are: a fast joint may turn by more than half
    a turn from sample to sample.
    """
    if not np.any(np.abs(np.diff(samples.value)) > np.pi):
        return samples
    least, largest = np.quantile(samples.value, (OUTLIERS, 1.0 - OUTLIERS))
    if largest - least > ONE_TURN:
        return samples
    return Samples(samples.time, np.unwrap(samples.value))


def _no_position(topic: str, states: JointStates, joint: str, dropped: DroppedSamples) -> str:
    """Return an error message: why there is no position of a joint."""
    useless = dropped.non_finite.get(f'{joint} position', 0)
    if useless:
        return f"topic '{topic}': all {useless} positions of joint '{joint}' are NaN or above 1e12"
    if dropped.malformed and joint in states.names:
        return (
            f"topic '{topic}' has no usable position of joint '{joint}': in {dropped.malformed} "
            f'of {len(states)} messages arrays are not as long as the names, or a joint is named '
            'twice'
        )
    if not states.names:
        return f"topic '{topic}' names no joints"
    return (
        f"topic '{topic}' has no position of joint '{joint}'; it has "
        f'{", ".join(sorted(states.names))}; if names differ: --rename RECORDED=MODEL'
    )


def _with_held(
    columns: dict[tuple[str, str], list[Piece]], held: Mapping[str, float]
) -> dict[tuple[str, str], list[Piece]]:
    """Return columns with held joints added, in the messages of the most frequent joint."""
    known = [pieces for (_, quantity), pieces in columns.items() if quantity == 'position']
    most = max(known, key=lambda pieces: sum(len(index) for index, _ in pieces), default=[])
    for joint, value in held.items():
        for quantity, number in (('position', value), ('velocity', 0.0)):
            columns[joint, quantity] = [(index, np.full(len(index), number)) for index, _ in most]
    return columns


def columns_by_joint(
    states: JointStates, joint_names: Sequence[str], dropped: DroppedSamples
) -> dict[tuple[str, str], list[Piece]]:
    """Return the values by joint and quantity, with the indices of their messages.

    Args:
        states: the messages of a topic.
        joint_names: joints wanted.
        dropped: counts of unusable messages and samples, which are increased.
    """
    consistent = [table for table in states.tables if table.is_consistent]
    dropped.malformed += len(states) - sum(len(table.index) for table in consistent)
    named = {name for table in consistent for name in table.names}
    dropped.unused_joints = tuple(sorted(named - set(joint_names)))
    columns: dict[tuple[str, str], list[Piece]] = {}
    for table in consistent:
        for quantity in QUANTITIES:
            wanted = table.joints_with(quantity) & set(joint_names)
            whole = _finite_columns(getattr(table, quantity))
            for column, joint in enumerate(table.names):
                if joint not in wanted:
                    continue
                values = getattr(table, quantity)[:, column]
                if whole[column]:
                    columns.setdefault((joint, quantity), []).append((table.index, values))
                    continue
                finite = np.abs(values) <= LARGEST
                if not finite.all():
                    key = f'{joint} {quantity}'
                    count = dropped.non_finite.get(key, 0) + int(np.sum(~finite))
                    dropped.non_finite[key] = count
                if finite.any():
                    piece = (table.index[finite], values[finite])
                    columns.setdefault((joint, quantity), []).append(piece)
    return columns


def _finite_columns(table: FloatArray) -> BoolArray:
    """Return which columns have only usable values; a long table is checked in parts."""
    whole = np.ones(table.shape[1], dtype=bool)
    for first in range(0, len(table), _ROWS):
        part = np.abs(table[first : first + _ROWS]) <= LARGEST
        if not part.all():
            whole &= part.all(axis=0)
        if not first % (_HELD * _ROWS):
            release()
    release()
    return whole


def _split_into_segments(
    series: dict[tuple[str, str], Samples],
    joint_names: Sequence[str],
    epoch: int,
    dropped: DroppedSamples,
) -> list[JointSegment]:
    positions = [series[joint, 'position'] for joint in joint_names]
    intervals = [(-np.inf, np.inf)]
    for time in {id(samples.time): samples.time for samples in positions}.values():
        intervals = _intersect(intervals, _unbroken_intervals(time))
        if len(time) > 1:
            slower = slower_time(time, GAP_PERIODS * sample_period(time))
            dropped.slower = max(dropped.slower, slower)
    segments = []
    used = 0
    for start, end in intervals:
        cut = {
            quantity: tuple(series[joint, quantity].between(start, end) for joint in joint_names)
            for quantity in QUANTITIES
        }
        counts = [len(samples.time) for samples in cut['position']]
        if min(counts) < 2:  # shorter than the time between two samples of a slow joint
            continue
        used += sum(counts)
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
    """Return the intersections of positive length of two ordered lists of intervals."""
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
