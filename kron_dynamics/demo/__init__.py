# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The demonstration's motions and their evaluation; independent of ROS."""

from kron_dynamics.demo.bench_reclaiming import bench_reclaiming
from kron_dynamics.demo.evaluation import LawResult, evaluate
from kron_dynamics.demo.motion import Motion, Stop
from kron_dynamics.demo.residual import (
    VibrationResult,
    Window,
    evaluate_vibration,
    held_periods,
)
from kron_dynamics.demo.slew_and_luff import slew_and_luff

__all__ = [
    'LawResult',
    'Motion',
    'Stop',
    'VibrationResult',
    'Window',
    'bench_reclaiming',
    'evaluate',
    'evaluate_vibration',
    'held_periods',
    'slew_and_luff',
]
