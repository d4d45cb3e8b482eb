# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robots with closed loops in actuated coordinates, with all quantities that trees have."""

from kron_dynamics.closed_loops import closed_loop_dynamics  # noqa: F401, registers the model
from kron_dynamics.closed_loops.closed_loop_model import ClosedLoopModel
from kron_dynamics.closed_loops.load import close_loops

__all__ = ['ClosedLoopModel', 'close_loops']
