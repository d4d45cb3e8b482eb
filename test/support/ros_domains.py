# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS domains of tests: no two processes that share the tests, or computers, hear one another."""

from __future__ import annotations

import os
from pathlib import Path

_PROFILE = Path(__file__).with_name('loopback_only.xml')


def domain_number(second: bool = False) -> int:
    """Return the number of this process's domain, or of a second one."""
    worker = os.environ.get('PYTEST_XDIST_WORKER')
    session = os.getpid() if worker is None else os.getppid()
    place = 0 if worker is None else int(worker.removeprefix('gw'))
    return 2 + (4 * session + 2 * place + second) % 98


def this_computer_only(domain: int) -> dict[str, str]:
    """Return the environment of nodes that talk through the loopback interface, in a domain.

    The range LOCALHOST of rmw_fastrtps brings shared memory along, whatever
    FASTDDS_BUILTIN_TRANSPORTS says. A process killed while it holds a lock there leaves others
    deaf, and tests kill many.
    """
    return {
        'ROS_DOMAIN_ID': str(domain),
        'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET',
        'ROS_STATIC_PEERS': '127.0.0.1',
        'FASTDDS_DEFAULT_PROFILES_FILE': str(_PROFILE),
    }
