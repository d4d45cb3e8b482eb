# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of joints that turn without end: the shorter way round."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.typing import FloatArray

_TURN = 2.0 * np.pi


def whole_turns(continuous: Sequence[bool] | FloatArray) -> FloatArray:
    """Return a whole turn, rad, for joints that turn without end and 0 for others, shape (n,)."""
    return np.where(continuous, _TURN, 0.0)


def shorter_way(error: FloatArray, turns: FloatArray) -> FloatArray:
    """Return errors, shape (n,), within [-pi, pi] where joints turn without end."""
    shorter: FloatArray = error - turns * np.rint(error / _TURN)
    return shorter
