# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recording topics into an MCAP bag, without rosbag2."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

# s without a message after which none is waiting any more.
_SILENCE = 0.3
# s after which it is enough, whoever goes on sending.
_LONGEST = 10.0


class _Recorded(NamedTuple):
    subscription: Any
    connection: Any
    counts: bool


class BagRecorder:
    """Writes the serialized messages of topics that have come since it last looked.

    An executor would wake up and look through all topics for nearly every message.
    """

    def __init__(self, node: Node, path: Path) -> None:
        """Open a new bag.

        Args:
            node: subscribes, and is not spun.
            path: folder of the bag; must not exist yet.
        """
        self._node = node
        self._store = get_typestore(Stores.LATEST)
        self._writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
        self._writer.open()
        self._connections: dict[str, Any] = {}
        self._topics: list[_Recorded] = []

    def record(self, message_type: Any, topic: str, recorded: str, qos: QoSProfile | int) -> None:
        """Record a topic from now on, in the bag under another name."""
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
        # Other nodes tell their diagnostics all the time.
        self._topics.append(_Recorded(subscription, connection, recorded != '/diagnostics'))

    def take(self) -> int:
        """Write what has come; return how many messages of the run these were."""
        count = 0
        for subscription, connection, counts in self._topics:
            handle = subscription.handle
            while (message := handle.take_message(subscription.msg_type, True)) is not None:
                data, about = message
                self._writer.write(connection, about['received_timestamp'], data)
                count += counts
        return count

    def catch_up(self, wait: Callable[[], None]) -> None:
        """Record what has been sent and still waits, on a busy computer seconds of it.

        Args:
            wait: returns soon.
        """
        end = time.monotonic() + _LONGEST
        until = time.monotonic() + _SILENCE
        while time.monotonic() < min(until, end):
            if self.take():
                until = time.monotonic() + _SILENCE
            wait()

    def stop(self) -> None:
        """Stop listening; the bag stays open for further topics."""
        for topic in self._topics:
            self._node.destroy_subscription(topic.subscription)
        self._topics.clear()

    def close(self) -> None:
        """Finish the bag."""
        self.stop()
        self._writer.close()


def _never(_: Any) -> None:
    """What a subscription needs that no executor asks."""
