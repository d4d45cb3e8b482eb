# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers to a serialized message: only they change from one command to the next."""

from __future__ import annotations

import numpy as np
from rclpy.serialization import deserialize_message, serialize_message
from std_msgs.msg import Float64MultiArray

from kron_dynamics.ros.batch import flat
from kron_dynamics.typing import FloatArray


class SerializedNumbers:
    """Float64MultiArray messages of as many numbers each, as bytes that publishers take.

    What stands before the numbers is what the middleware has written once. Where it does not write
    them at the end, 8 bytes each, messages are made as usual.
    """

    def __init__(self) -> None:
        """Know no number of numbers yet."""
        self._count, self._before = 0, b''

    def message(self, numbers: FloatArray) -> bytes | Float64MultiArray:
        """Return a message of numbers, shape (n,), for `Publisher.publish`."""
        if len(numbers) != self._count:
            self._count, self._before = len(numbers), _before(len(numbers))
        if not self._before:
            return Float64MultiArray(data=flat(numbers))
        return self._before + numbers.astype('<f8').tobytes()


def _before(count: int) -> bytes:
    """What stands before numbers in a serialized message; empty where they do not end it.

    Some of it may be padding, in which a middleware leaves whatever was there.
    """
    numbers = np.arange(1.5, 1.5 + count)
    data = bytes(serialize_message(Float64MultiArray(data=numbers.tolist())))
    if not data.endswith(numbers.astype('<f8').tobytes()):
        return b''
    before = data[: len(data) - 8 * count]
    read = deserialize_message(before + (-numbers).astype('<f8').tobytes(), Float64MultiArray)
    return before if np.array_equal(read.data, -numbers) else b''
