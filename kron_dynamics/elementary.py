# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sine, cosine and hyperbolic tangent of any number: floats, SymPy expressions, traced scalars."""

from __future__ import annotations

import math
from typing import Any


def sin(x: Any) -> Any:
    """Return the sine of x in the number system of x."""
    return _apply('sin', x)


def cos(x: Any) -> Any:
    """Return the cosine of x in the number system of x."""
    return _apply('cos', x)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent of x in the number system of x."""
    return _apply('tanh', x)


def _apply(name: str, x: Any) -> Any:
    if isinstance(x, (float, int)):
        return getattr(math, name)(x)
    if hasattr(x, name):
        return getattr(x, name)()
    # Half a second to import, and most programs never compute with symbols.
    import sympy

    return getattr(sympy, name)(x)
