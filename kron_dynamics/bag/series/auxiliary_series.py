# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time series recorded along with the joint states, on the same clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.bag.reading.acceleration_decoding import Accelerations
from kron_dynamics.bag.reading.joint_states import JointStates
from kron_dynamics.bag.reading.recording_order import recorder_epochs
from kron_dynamics.bag.samples import DroppedSamples, Samples, merge_samples
from kron_dynamics.bag.series.joint_log import WALL_CLOCK, JointLog, columns_by_joint
from kron_dynamics.typing import FloatArray, IntArray


@dataclass(frozen=True)
class Companion:
    """A topic recorded along with the joint states.

    Attributes:
        topic: its name.
        epochs: its series in each clock epoch of the joint states: one per joint for commanded
            efforts (N m or N); a single one of six columns for accelerations (linear m/s^2,
            then angular rad/s^2, base axes).
        dropped: counts of data that were not used.
    """

    topic: str
    epochs: tuple[tuple[Samples, ...], ...]
    dropped: DroppedSamples


def collect_commands(
    topic: str,
    states: JointStates,
    log: JointLog,
    joint_names: Sequence[str],
) -> Companion:
    """Return the commanded efforts recorded along with a joint log.

    Args:
        topic: name of their topic.
        states: the messages of the topic.
        log: the joint states whose clock they follow.
        joint_names: the model's joints, in coordinate order.
    """
    dropped = DroppedSamples()
    columns = columns_by_joint(states, joint_names, dropped)
    times, epochs = _clock(states.stamp, states.log_time, log, dropped)
    return Companion(
        topic,
        tuple(
            tuple(
                merge_samples(columns.get((joint, 'effort'), []), times, epochs == epoch, dropped)
                for joint in joint_names
            )
            for epoch in range(len(log.epoch_starts))
        ),
        dropped,
    )


def collect_accelerations(topic: str, messages: Accelerations, log: JointLog) -> Companion:
    """Return the accelerations recorded along with a joint log.

    Args:
        topic: name of their topic.
        messages: messages in the order of recording.
        log: the joint states whose clock they follow.
    """
    dropped = DroppedSamples()
    table = messages.acceleration
    finite = np.isfinite(table).all(axis=1)
    if not finite.all():
        dropped.non_finite['acceleration'] = int(np.sum(~finite))
    times, epochs = _clock(messages.stamp, messages.log_time, log, dropped)
    pieces = [(np.flatnonzero(finite), table[finite])]
    return Companion(
        topic,
        tuple(
            (merge_samples(pieces, times, epochs == epoch, dropped),)
            for epoch in range(len(log.epoch_starts))
        ),
        dropped,
    )


def _clock(
    stamp: IntArray, log_time: IntArray, log: JointLog, dropped: DroppedSamples
) -> tuple[FloatArray, IntArray]:
    """Return the time of each message in s on the joint states' clock, and its clock epoch.

    The epoch is that of the joint states in which the message was recorded; -1 for a message
    without a stamp among others with those of a wall clock.
    """
    epochs = np.zeros(len(log_time), dtype=np.int64)
    if len(log.epoch_starts) > 1:
        set_back = recorder_epochs(log_time, stamp)
        begun = zip(log.epoch_recorders[1:], log.epoch_starts[1:], strict=True)
        for recorder, start in begun:
            epochs += (set_back > recorder) | ((set_back == recorder) & (log_time >= start))
    if not log.stamped:
        chosen = log_time
    elif not stamp.any():
        # Without stamps, the messages were recorded as late as the joint states.
        chosen = log_time - log.epoch_delays[epochs]
    else:
        chosen = stamp
        if stamp.max() > WALL_CLOCK:
            epochs[stamp == 0] = -1
            dropped.unstamped = int(np.sum(stamp == 0))
    return np.asarray((chosen - log.origin) * 1e-9), epochs
