# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""How much arithmetic every kernel does: target 9, which requires nothing."""

from __future__ import annotations

from benchmarks import ours
from benchmarks.robots import CHAIN, ROBOTS, description


def operation_counts() -> dict[str, dict[str, int]]:
    """Return operations a state by robot and kernel.

    Of the chain, those kernels that other measurements have needed.
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
