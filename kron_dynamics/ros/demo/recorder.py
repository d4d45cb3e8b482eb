# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recording topics into an MCAP bag, without rosbag2."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

# s without a message after which none is waiting any more.
_SILENCE = 0.3
# s after which it is enough, whoever goes on sending.
_LONGEST = 10.0


class BagRecorder:
    """Writes the serialized messages of topics as they come."""

    def __init__(self, node: Node, path: Path) -> None:
        """Open a new bag.

        Args:
            node: subscribes.
            path: folder of the bag; must not exist yet.
        """
        self._node = node
        self._store = get_typestore(Stores.LATEST)
        self._writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
        self._writer.open()
        self._connections: dict[str, Any] = {}
        self._subscriptions: list[Any] = []
        self._count = 0

    def record(self, message_type: Any, topic: str, recorded: str, qos: QoSProfile | int) -> None:
        """Record a topic from now on, in the bag under another name."""
        connection = self._connections.get(recorded)
        if connection is None:
            package, name = message_type.__module__.split('.')[0], message_type.__name__
            connection = self._connections[recorded] = self._writer.add_connection(
                recorded, f'{package}/msg/{name}', typestore=self._store
            )

        def write(data: bytes) -> None:
            self._writer.write(connection, time.time_ns(), data)
            # Other nodes tell theirs all the time.
            self._count += recorded != '/diagnostics'

        callback: Callable[[Any], None] = write
        self._subscriptions.append(
            self._node.create_subscription(message_type, topic, callback, qos, raw=True)
        )

    def catch_up(self, spin: Callable[[], None]) -> None:
        """Record what has been sent and still waits, on a busy computer seconds of it.

        Args:
            spin: has the node hear a message, or returns soon.
        """
        heard, end = -1, time.monotonic() + _LONGEST
        while self._count != heard and time.monotonic() < end:
            heard, until = self._count, time.monotonic() + _SILENCE
            while time.monotonic() < until and self._count == heard:
                spin()

    def stop(self) -> None:
        """Stop listening; the bag stays open for further topics."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)
        self._subscriptions.clear()

    def close(self) -> None:
        """Finish the bag."""
        self.stop()
        self._writer.close()
