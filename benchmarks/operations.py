# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Number of arithmetic operations of every kernel; for information, without a target."""

from __future__ import annotations

from benchmarks import ours
from benchmarks.robots import CHAIN, ROBOTS, description


def operation_counts() -> dict[str, dict[str, int]]:
    """Return operations per state by robot and kernel.

    For the chain, only kernels that other measurements have compiled are included.
    """
    counts = {}
    for name in (*ROBOTS, CHAIN):
        robot, tip = ours.robot(name), description(name).tip
        if name != CHAIN:
            robot.prepare(tip)
        counts[name] = {
            report.name.replace(f'{tip}.', 'frame.'): report.operations
            for report in robot.kernel_report()
        }
    return counts
