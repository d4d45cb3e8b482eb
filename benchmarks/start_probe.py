# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How long a fresh process takes from a URDF file to compiled kernels; `starts` runs it.

Usage: python -m benchmarks.start_probe FILE LINK
"""

from __future__ import annotations

import sys
import time

import kron_dynamics as kd


def main() -> None:
    """Print the seconds; the imports above do not count."""
    file, link = sys.argv[1:]
    started = time.perf_counter()
    robot = kd.load(file)
    robot.prepare(link)
    print(time.perf_counter() - started)


if __name__ == '__main__':
    main()
