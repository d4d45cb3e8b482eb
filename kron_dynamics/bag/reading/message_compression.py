# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Decompression of messages compressed one by one, without relying on metadata.yaml."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

# Magic number of zstd; the first byte of a serialized message is 0.
_MAGIC = bytes.fromhex('28b52ffd')


def zstd_library() -> Any:
    """Return the zstd module: from the standard library or the backport that rosbags requires."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def is_compressed(data: bytes | npt.NDArray[np.uint8]) -> bool:
    """Return whether a message is compressed.

    Args:
        data: bytes of the message.
    """
    return bytes(data[: len(_MAGIC)]) == _MAGIC


def decompressed(data: bytes) -> bytes:
    """Return a message decompressed; uncompressed and damaged messages are returned unchanged.

    Args:
        data: bytes of the message.
    """
    if not is_compressed(data):
        return data
    zstd = zstd_library()
    try:
        return bytes(zstd.decompress(data))
    except zstd.ZstdError:
        return data
