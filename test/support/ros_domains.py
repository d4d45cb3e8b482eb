# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS domains for tests: parallel test processes and computers do not receive each other."""

from __future__ import annotations

import os
from pathlib import Path

_PROFILE = Path(__file__).with_name('loopback_only.xml')


def domain_number(other: int = 0) -> int:
    """Return the number of this process's domain, or of one of its 3 others, 1 to 3."""
    worker = os.environ.get('PYTEST_XDIST_WORKER')
    session = os.getpid() if worker is None else os.getppid()
    place = 0 if worker is None else int(worker.removeprefix('gw'))
    return 2 + (16 * session + 4 * place + other) % 96


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
