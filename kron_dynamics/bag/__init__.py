# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recorded motion against the model: bags in, residual efforts and accelerations out."""

from kron_dynamics.bag.analysis import BagAnalysis, RunAnalysis, analyze_bag
from kron_dynamics.bag.reader import BagContents, read_bag
from kron_dynamics.bag.results import JointResult, TipResult

__all__ = [
    'BagAnalysis',
    'BagContents',
    'JointResult',
    'RunAnalysis',
    'TipResult',
    'analyze_bag',
    'read_bag',
]
