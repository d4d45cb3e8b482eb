# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Fast serialization of Float64MultiArray commands, which differ only in their numbers."""

from __future__ import annotations

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Float64MultiArray

from kron_dynamics.ros.batch import flat
from kron_dynamics.typing import FloatArray

_LITTLE_ENDIAN = np.dtype('<f8')


class SerializedNumbers:
    """Serializes Float64MultiArray messages of equal length.

    The bytes before the numbers are taken from one message that the middleware serialized. If
    the numbers are not the last bytes, 8 each, messages are made as usual.
    """

    def __init__(self) -> None:
        """Start without cached bytes."""
        self._count, self._before = 0, b''

    def message(self, numbers: FloatArray) -> bytes | Float64MultiArray:
        """Return a message of numbers, shape (n,), for `Publisher.publish`."""
        if len(numbers) != self._count:
            self._count, self._before = len(numbers), _before(len(numbers))
        if not self._before:
            return Float64MultiArray(data=flat(numbers))
        return self._before + numbers.astype(_LITTLE_ENDIAN).tobytes()


def _before(count: int) -> bytes:
    """Return the bytes before `count` numbers in a serialized message.

    They may contain padding with arbitrary content. Empty if the numbers are not the last bytes
    of the message, or such a message is not deserialized to the same numbers.
    """
    numbers = np.arange(1.5, 1.5 + count)
    data = bytes(serialize_message(Float64MultiArray(data=numbers.tolist())))
    if not data.endswith(numbers.astype(_LITTLE_ENDIAN).tobytes()):
        return b''
    before = data[: len(data) - 8 * count]
    read = deserialize_message(
        before + (-numbers).astype(_LITTLE_ENDIAN).tobytes(), Float64MultiArray
    )
    return before if np.array_equal(read.data, -numbers) else b''
