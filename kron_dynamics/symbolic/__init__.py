# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Closed forms: the equations on SymPy symbols, with exact numbers or symbolic parameters."""

from kron_dynamics.symbolic.frame import SymbolicFrame, SymbolicRelativeFrame
from kron_dynamics.symbolic.matrix import SymbolicMatrix, plain
from kron_dynamics.symbolic.robot import SymbolicRobot
from kron_dynamics.symbolic.simplification import simplified

__all__ = [
    'SymbolicFrame',
    'SymbolicMatrix',
    'SymbolicRelativeFrame',
    'SymbolicRobot',
    'plain',
    'simplified',
]
