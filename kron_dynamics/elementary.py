# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Sine, cosine and hyperbolic tangent of floats, SymPy expressions and traced scalars."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kron_dynamics.exceptions import ArgumentTypeError
from kron_dynamics.messages import shown


def sin(x: Any) -> Any:
    """Return the sine of x, rad, in the number system of x.

    Raises:
        ArgumentTypeError: x is not one number.
    """
    return _apply('sin', x)


def cos(x: Any) -> Any:
    """Return the cosine of x, rad, in the number system of x.

    Raises:
        ArgumentTypeError: x is not one number.
    """
    return _apply('cos', x)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent of x in the number system of x.

    Raises:
        ArgumentTypeError: x is not one number.
    """
    return _apply('tanh', x)


def _apply(name: str, x: Any) -> Any:
    if hasattr(x, name):
        return getattr(x, name)()
    if isinstance(x, (float, int)) and not isinstance(x, bool):
        # As in the kernels, the sine of an infinite angle is NaN.
        return getattr(math, name)(x) if name == 'tanh' or math.isfinite(x) else math.nan
    if isinstance(x, np.generic) and x.dtype.kind in 'fiu':
        return _apply(name, float(x))
    if isinstance(x, (bool, complex, str, bytes, np.ndarray, np.generic, list, tuple, type(None))):
        raise ArgumentTypeError(f'the argument of {name} is {shown(x)}, expected one number')
    # Importing SymPy takes half a second, and most programs do not need it.
    import sympy

    try:
        return getattr(sympy, name)(sympy.sympify(x, strict=True))
    except sympy.SympifyError:
        raise ArgumentTypeError(
            f'the argument of {name} is {shown(x)}, expected one number'
        ) from None
