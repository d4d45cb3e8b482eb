# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Wrap-around of position errors of continuous joints."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, remainder

import numpy as np

from kron_dynamics.typing import FloatArray

_TURN = 2.0 * np.pi


def whole_turns(continuous: Sequence[bool] | FloatArray) -> FloatArray:
    """Return a whole turn, rad, for continuous joints and 0 for others, shape (n,)."""
    return np.where(continuous, _TURN, 0.0)


def shorter_way(error: FloatArray, turns: FloatArray) -> FloatArray:
    """Return errors, shape (n,), wrapped to [-pi, pi] for continuous joints."""
    shorter: FloatArray = error - turns * np.rint(error / _TURN)
    return shorter


def shorter_error(error: float, turn: float) -> float:
    """Return the error of a continuous joint, wrapped to half a turn; NaN and inf are kept.

    As `shorter_way`, for plain floats, which are faster for few joints.
    """
    return remainder(error, turn) if abs(error) < inf else error
