# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How a node's process keeps its memory."""

from __future__ import annotations

import ctypes

# Parameters of glibc's mallopt, and up to which sizes memory is kept; it takes no larger block.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT, _KEPT_BLOCK = 64 << 20, 32 << 20


def keep_freed_memory() -> bool:
    """Have arrays of services use memory again that earlier ones have left; whether that is so.

    glibc otherwise gives it back, and getting it anew, page by page, takes longer than to compute
    what is written there: in the thread that sends the commands, too, where answers are written.
    With another C library nothing changes.
    """
    mallopt = getattr(ctypes.CDLL(None), 'mallopt', None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_TRIM_THRESHOLD, _KEPT) and mallopt(_M_MMAP_THRESHOLD, _KEPT_BLOCK))
