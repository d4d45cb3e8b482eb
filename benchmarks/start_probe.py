# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How long a fresh process takes from a URDF file to compiled kernels; `starts` runs it.

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
    """Return the processor time of this process and of those that it has waited for, s."""
    return sum(os.times()[:4])


def main() -> None:
    """Print the seconds, those of the processor for checking kernels, and for everything.

    The imports above do not count.
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
