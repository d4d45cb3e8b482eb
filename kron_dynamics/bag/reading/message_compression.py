# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that a recorder has compressed one by one, wherever metadata.yaml does not say so."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

# No serialized message begins so: its first byte is 0.
_MAGIC = bytes.fromhex('28b52ffd')


def zstd_library() -> Any:
    """Return the module for zstd, which the library rosbags needs, too."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def is_compressed(data: bytes | npt.NDArray[np.uint8]) -> bool:
    """Return whether a message is compressed.

    Args:
        data: its bytes.
    """
    return bytes(data[: len(_MAGIC)]) == _MAGIC


def decompressed(data: bytes) -> bytes:
    """Return a message as it was before it was compressed; one that is damaged as it is.

    Args:
        data: its bytes.
    """
    if not is_compressed(data):
        return data
    zstd = zstd_library()
    try:
        return bytes(zstd.decompress(data))
    except zstd.ZstdError:
        return data
