# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS domains for tests: parallel test processes and computers do not receive each other."""

from __future__ import annotations

import fcntl
import functools
import os
import tempfile
from pathlib import Path
from typing import IO

_PROFILE = Path(__file__).with_name('loopback_only.xml')
_FIRST, _TOGETHER, _GROUPS = 2, 4, 24  # domains above 101 use ports that others may be given


def domain_number(other: int = 0) -> int:
    """Return the number of this process's domain, or of one of its 3 others, 1 to 3."""
    group, _ = _claimed(Path(tempfile.gettempdir()))
    return _FIRST + _TOGETHER * group + other


@functools.cache
def _claimed(folder: Path) -> tuple[int, IO[str]]:
    """Return a group of domains that no other test process has, and its lock.

    The lock is held until this process and its forks have ended.

    Raises:
        RuntimeError: all groups are in use.
    """
    for k in range(_GROUPS):
        group = (os.getpid() + k) % _GROUPS
        try:
            lock = (folder / f'kron_dynamics_domains_{group}').open('a')
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # in use, perhaps by another user
            continue
        return group, lock
    raise RuntimeError(f'ROS domains: all {_GROUPS} groups are in use, locks in {folder}')


def this_computer_only(domain: int) -> dict[str, str]:
    """Return the environment of nodes that use the loopback interface only, in a domain.

    The discovery range LOCALHOST of rmw_fastrtps always enables shared memory, regardless of
    FASTDDS_BUILTIN_TRANSPORTS. A process killed while it holds a lock there blocks reception by
    the others, and tests kill many processes.
    """
    return {
        'ROS_DOMAIN_ID': str(domain),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
        'ROS_STATIC_PEERS': '127.0.0.1',
        'FASTDDS_DEFAULT_PROFILES_FILE': str(_PROFILE),
    }
