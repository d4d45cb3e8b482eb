# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Deserialization of messages that are received as bytes."""

from __future__ import annotations

from typing import Any

from rclpy.serialization import deserialize_message

from kron_dynamics.exceptions import MessageError


def deserialized(data: bytes, kind: type) -> Any:
    """Return the message of some bytes.

    Args:
        data: serialized message.
        kind: type of the message.

    Raises:
        MessageError: the bytes are damaged, or of another type.
    """
    try:
        return deserialize_message(data, kind)
    except Exception as error:  # the middleware's own is not a public name of rclpy
        reason = ' '.join(str(error).split())
        raise MessageError(f'{kind.__name__} of {len(data)} bytes: {reason}') from None
