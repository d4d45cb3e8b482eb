# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Array helpers for equations in any number type: floats, SymPy expressions, traced scalars."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from kron_dynamics.typing import ArrayLike, ScalarArray


def as_scalars(values: ArrayLike) -> ScalarArray:
    """Return values, same shape, as floats, or as objects where they are not plain numbers."""
    if hasattr(values, 'zeros'):  # an array of traced scalars
        return cast(ScalarArray, values)
    array = np.asarray(values)
    return array if array.dtype == object else array.astype(np.float64)


def zeros_like(values: ArrayLike, shape: tuple[int, ...]) -> ScalarArray:
    """Return zeros of a shape in the number type of values."""
    scalars = as_scalars(values)
    if isinstance(scalars, np.ndarray):
        return np.zeros(shape, dtype=scalars.dtype)
    return cast(ScalarArray, scalars.zeros(shape))


def span(values: ScalarArray, first: int, stop: int, step: int = 1) -> Any:
    """Return an index range for a loop over elements of values, which traces can record."""
    return (
        range(first, stop, step)
        if isinstance(values, np.ndarray)
        else values.span(first, stop, step)
    )
