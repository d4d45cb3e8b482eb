# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The demonstration's motion and its evaluation; knows no ROS."""

from kron_dynamics.demo.bench_reclaiming import Motion, bench_reclaiming
from kron_dynamics.demo.evaluation import LawResult, evaluate

__all__ = ['LawResult', 'Motion', 'bench_reclaiming', 'evaluate']
