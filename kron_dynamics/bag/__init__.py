# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of recorded motion with the model: effort and acceleration residuals of bags.

Recorded efforts with another sign or unit: noticed in `results.py`, and by `identify` in
`identification/effort_units.py`.
"""

from kron_dynamics.bag.analysis import BagAnalysis, RunAnalysis, analyze_bag
from kron_dynamics.bag.payload import BagPayload, bag_payload
from kron_dynamics.bag.reading.reader import BagContents, read_bag
from kron_dynamics.bag.results import JointResult, TipResult

__all__ = [
    'BagAnalysis',
    'BagContents',
    'BagPayload',
    'JointResult',
    'RunAnalysis',
    'TipResult',
    'analyze_bag',
    'bag_payload',
    'read_bag',
]
