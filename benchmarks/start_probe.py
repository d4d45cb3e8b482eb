# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Time of a fresh process from a URDF file to compiled kernels; run by `starts`.

Usage: python -m benchmarks.start_probe FILE LINK
"""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from kron_dynamics import load
from kron_dynamics.kernels import check


def spent() -> float:
    """Return the processor time of this process and its finished children, s."""
    return sum(os.times()[:4])


def main() -> None:
    """Print wall-clock time, processor time of checking kernels, and all processor time, s.

    The imports above are not included.
    """
    file, link = sys.argv[1:]
    checking: list[float] = []
    compare = check.check_kernel

    def timed(*arguments: Any) -> None:
        began = time.thread_time()
        compare(*arguments)
        checking.append(time.thread_time() - began)

    check.check_kernel = timed
    started, processor = time.perf_counter(), spent()
    robot = load(file)
    robot.prepare(link)
    print(time.perf_counter() - started, sum(checking), spent() - processor)


if __name__ == '__main__':
    main()
