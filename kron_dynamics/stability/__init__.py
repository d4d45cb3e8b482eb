# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stability of periodic motions of linear systems and robots, by Floquet multipliers."""

from kron_dynamics.stability.floquet import (
    FloquetAnalysis,
    floquet_analysis,
    monodromy_matrix,
    stability_map,
)
from kron_dynamics.stability.motion import motion_stability
from kron_dynamics.stability.plot import plot_stability_map

__all__ = [
    'FloquetAnalysis',
    'floquet_analysis',
    'monodromy_matrix',
    'motion_stability',
    'plot_stability_map',
    'stability_map',
]
