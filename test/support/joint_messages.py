# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion between single joint states and the tables of a bag."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kron_dynamics.bag.reading.joint_states import JointStates, JointTable
from kron_dynamics.typing import FloatArray

ARRAYS = ('position', 'velocity', 'effort')


class Message(NamedTuple):
    """One sensor_msgs/JointState; times in ns."""

    log_time: int
    stamp: int
    names: tuple[str, ...]
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray


def tables_of(messages: Sequence[Message]) -> JointStates:
    alike: dict[tuple, list[int]] = {}
    for index, message in enumerate(messages):
        sizes = (len(getattr(message, name)) for name in ARRAYS)
        alike.setdefault((message.names, *sizes), []).append(index)
    return JointStates(
        np.array([message.log_time for message in messages], dtype=np.int64),
        np.array([message.stamp for message in messages], dtype=np.int64),
        tuple(
            JointTable(
                names,
                np.array(index),
                *(np.array([getattr(messages[k], name) for k in index]) for name in ARRAYS),
            )
            for (names, *_), index in alike.items()
        ),
    )


def messages_of(states: JointStates) -> list[Message]:
    found: dict[int, Message] = {}
    for table in states.tables:
        for row, index in enumerate(table.index.tolist()):
            assert index not in found
            arrays = (getattr(table, name)[row] for name in ARRAYS)
            times = int(states.log_time[index]), int(states.stamp[index])
            found[index] = Message(*times, table.names, *arrays)
    assert sorted(found) == list(range(len(states)))
    return [found[index] for index in range(len(states))]
