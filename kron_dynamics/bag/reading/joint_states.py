# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The joint states of a topic as tables: one for all messages with the same joints."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from kron_dynamics.exceptions import BagError
from kron_dynamics.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class JointTable:
    """Messages with the same names and array lengths.

    Attributes:
        names: joint names, as sent.
        index: indices of the messages in the topic, increasing, shape (N,).
        position: positions in rad or m, shape (N, k); k is the array's length as sent, which may
            differ from the number of names.
        velocity: velocities, likewise, in rad/s or m/s.
        effort: efforts, likewise, in N m or N.
    """

    names: tuple[str, ...]
    index: IntArray
    position: FloatArray
    velocity: FloatArray
    effort: FloatArray

    def taken(self, rows: BoolArray | IntArray, index: IntArray) -> JointTable:
        """Return some of the messages, with new indices.

        Args:
            rows: rows to take: a mask, shape (N,), or row numbers.
            index: new index of each row taken.
        """
        return JointTable(
            self.names, index, self.position[rows], self.velocity[rows], self.effort[rows]
        )

    def without(self, joints: Collection[str]) -> JointTable:
        """Return the messages without some joints.

        Args:
            joints: their names.
        """
        kept = [k for k, name in enumerate(self.names) if name not in joints]
        arrays = (
            table[:, kept] if table.shape[1] else table
            for table in (self.position, self.velocity, self.effort)
        )
        return JointTable(tuple(self.names[k] for k in kept), self.index, *arrays)

    @property
    def is_consistent(self) -> bool:
        """Whether joint names are unique and each array is empty or as long as the names."""
        count = len(self.names)
        widths = {table.shape[1] for table in (self.position, self.velocity, self.effort)}
        return len(set(self.names)) == count and widths <= {0, count}

    def joints_with(self, quantity: str) -> set[str]:
        """Return the joints with values of a quantity: 'position', 'velocity' or 'effort'."""
        width = getattr(self, quantity).shape[1]
        return set(self.names) if width == len(self.names) else set()


@dataclass(frozen=True, eq=False)
class JointStates:
    """The messages of a sensor_msgs/JointState topic, in the order of recording.

    Attributes:
        log_time: times of recording, in ns, shape (M,).
        stamp: times in the headers, in ns, shape (M,).
        tables: contents, in the order of their first messages; each message is in one table.
    """

    log_time: IntArray
    stamp: IntArray
    tables: tuple[JointTable, ...]

    def __len__(self) -> int:
        """Return the number of messages."""
        return len(self.stamp)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all joints, in the order of their first messages."""
        return tuple(dict.fromkeys(name for table in self.tables for name in table.names))

    def joints_with(self, quantity: str) -> set[str]:
        """Return the joints with 'position', 'velocity' or 'effort' in any message."""
        return set().union(*(table.joints_with(quantity) for table in self.tables))

    def taken(self, wanted: BoolArray) -> JointStates:
        """Return some of the messages.

        Args:
            wanted: mask of the messages to take, shape (M,).
        """
        if wanted.all():
            return self
        places = np.cumsum(wanted) - 1
        tables = []
        for table in self.tables:
            rows = wanted[table.index]
            if rows.any():
                tables.append(table.taken(rows, places[table.index[rows]]))
        return JointStates(self.log_time[wanted], self.stamp[wanted], tuple(tables))

    def without(self, joints: Collection[str]) -> JointStates:
        """Return the same messages without some joints, except those that contradict themselves.

        Args:
            joints: their names.
        """
        tables = [
            table.without(joints)
            if table.is_consistent and set(table.names) & set(joints)
            else table
            for table in self.tables
        ]
        return JointStates(self.log_time, self.stamp, tuple(tables))

    def sorted_by(self, order: IntArray) -> JointStates:
        """Return the messages in another order.

        Args:
            order: index of the message at each place, shape (M,).
        """
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        tables = []
        for table in self.tables:
            index = place[table.index]
            rows = np.argsort(index)
            tables.append(table.taken(rows, index[rows]))
        tables.sort(key=lambda table: int(table.index[0]))
        return JointStates(self.log_time[order], self.stamp[order], tuple(tables))

    def values(self, joint_names: Sequence[str], quantity: str) -> FloatArray:
        """Return a quantity of some joints in all messages, NaN where missing, shape (M, k).

        Args:
            joint_names: the k joints.
            quantity: 'position', 'velocity' or 'effort'.

        Raises:
            BagError: no message has the quantity of a joint.
        """
        recorded = self.joints_with(quantity)
        for joint in joint_names:
            if joint not in recorded:
                named = ', '.join(sorted(recorded)) or 'no joint'
                raise BagError(f"no {quantity} of joint '{joint}': recorded for {named}")
        found = np.full((len(self), len(joint_names)), np.nan)
        for table in self.tables:
            known = table.joints_with(quantity)
            for column, joint in enumerate(joint_names):
                if joint in known:
                    place = table.names.index(joint)
                    found[table.index, column] = getattr(table, quantity)[:, place]
        return found
