# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""ROS domains of tests: no two processes that share the tests hear one another."""

from __future__ import annotations

import os


def domain_number(second: bool = False) -> int:
    """Return the number of this process's domain, or of a second one."""
    worker = os.environ.get('PYTEST_XDIST_WORKER')
    session = os.getpid() if worker is None else os.getppid()
    place = 0 if worker is None else int(worker.removeprefix('gw'))
    return 2 + (4 * session + 2 * place + second) % 98
