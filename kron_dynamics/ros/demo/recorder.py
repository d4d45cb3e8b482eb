# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Records topics into an MCAP bag, without rosbag2."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosbags.rosbag2 import StoragePlugin, Writer, WriterError
from rosbags.typesys import Stores, get_typestore

from kron_dynamics.exceptions import BagError

# Time without a message after which no more pending ones are expected, s.
_SILENCE = 0.3
# Longest time to wait for pending messages, s.
_LONGEST = 10.0


class _Recorded(NamedTuple):
    subscription: Any
    connection: Any
    counts: bool


class BagRecorder:
    """Polls topics and writes the serialized messages that have arrived since the last poll.

    An executor would wake up and check all topics for nearly every message.
    """

    def __init__(self, node: Node, path: Path) -> None:
        """Open a new bag.

        Args:
            node: node that subscribes; it must not be spun.
            path: folder of the bag; must not exist yet.

        Raises:
            BagError: the folder exists.
        """
        self._node = node
        self._store = get_typestore(Stores.LATEST)
        try:
            self._writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
        except WriterError as error:
            raise BagError(f"'{path}' cannot be recorded: {error}") from error
        self._writer.open()
        self._connections: dict[str, Any] = {}
        self._topics: list[_Recorded] = []
        self._latest: dict[int, int] = {}

    def record(self, message_type: Any, topic: str, recorded: str, qos: QoSProfile | int) -> None:
        """Record a topic from now on, under the name `recorded` in the bag."""
        connection = self._connections.get(recorded)
        if connection is None:
            package, name = message_type.__module__.split('.')[0], message_type.__name__
            connection = self._connections[recorded] = self._writer.add_connection(
                recorded, f'{package}/msg/{name}', typestore=self._store
            )
        callback: Callable[[Any], None] = _never
        subscription = self._node.create_subscription(
            message_type,
            topic,
            callback,
            qos,
            raw=True,
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )
        # Diagnostics of other nodes never cease, so they do not count in `take`.
        self._topics.append(_Recorded(subscription, connection, recorded != '/diagnostics'))

    def take(self) -> int:
        """Write the pending messages; return their number without diagnostics."""
        count = 0
        for subscription, connection, counts in self._topics:
            handle = subscription.handle
            while (message := handle.take_message(subscription.msg_type, True)) is not None:
                data, about = message
                # Bags are read in the order of time, but a message that was lost and sent again
                # is delivered before those that arrived in the meantime.
                received = max(about['received_timestamp'], self._latest.get(connection.id, 0) + 1)
                self._latest[connection.id] = received
                self._writer.write(connection, received, data)
                count += counts
        return count

    def catch_up(self, wait: Callable[[], None]) -> None:
        """Record messages that are still pending; on a busy computer that may take seconds.

        Args:
            wait: called between polls; returns after a short time.
        """
        end = time.monotonic() + _LONGEST
        until = time.monotonic() + _SILENCE
        while time.monotonic() < min(until, end):
            if self.take():
                until = time.monotonic() + _SILENCE
            wait()

    def stop(self) -> None:
        """Destroy the subscriptions; the bag stays open for further topics."""
        for topic in self._topics:
            self._node.destroy_subscription(topic.subscription)
        self._topics.clear()

    def close(self) -> None:
        """Finish the bag."""
        self.stop()
        self._writer.close()


def _never(_: Any) -> None:
    """Do nothing: mandatory callback of a subscription that is never spun."""
