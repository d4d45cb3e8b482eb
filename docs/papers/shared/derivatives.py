# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Exact derivatives of functions of exact numbers, by automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

from kron_dynamics.dual import jacobian_of

ORIGIN = np.array([sympy.S.Zero], dtype=object)


def rate(function: Callable[[Any], Any]) -> Any:
    """Return the derivative of a function of time at time 0."""
    return with_rate(function)[1]


def with_rate(function: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Return a function of time and its derivative at time 0."""
    value, by_time = jacobian_of(lambda t: function(t[0]), ORIGIN)
    return value, by_time[..., 0]


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    """Return the derivative of a function with respect to x, whose index is the last."""
    return jacobian_of(function, x)[1]


def axial(S: Any) -> Any:
    """Return the vector of a cross-product matrix, read from its lower triangle."""
    return np.array([S[2, 1], -S[2, 0], S[1, 0]], dtype=object)
