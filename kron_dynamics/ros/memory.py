# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Memory allocator settings of a node's process."""

from __future__ import annotations

import ctypes

# Parameters of glibc's mallopt, and their values in bytes: kept free memory in total, and largest
# block that is kept (the largest that mallopt accepts).
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT, _KEPT_BLOCK = 64 << 20, 32 << 20


def keep_freed_memory() -> bool:
    """Make the allocator keep freed memory; return whether that succeeded.

    By default glibc returns large freed blocks to the system. The page faults of new blocks take
    longer than computing the arrays of a service, and delay also the thread that sends the
    commands, which serializes answers. With another C library nothing changes.
    """
    mallopt = getattr(ctypes.CDLL(None), 'mallopt', None)
    if mallopt is None:
        return False
    return bool(mallopt(_M_TRIM_THRESHOLD, _KEPT) and mallopt(_M_MMAP_THRESHOLD, _KEPT_BLOCK))
