# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Array helpers for equations in any number type: floats, SymPy expressions, traced scalars."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from kron_dynamics.model.robot_model import Frame
from kron_dynamics.scalar_arguments import scalars, vector
from kron_dynamics.typing import ArrayLike, ScalarArray


def as_scalars(values: ArrayLike, name: str = 'an argument') -> ScalarArray:
    """Return values, same shape, as floats, or as objects where they are not plain numbers.

    Args:
        values: numbers of any number system.
        name: name of the argument, for messages.

    Raises:
        ArgumentTypeError: values are not numbers.
    """
    array = scalars(values, name)
    if not isinstance(array, np.ndarray) or array.dtype == object:
        return array
    return array.astype(np.float64)


def number_vector(values: ArrayLike, name: str, length: int | None) -> ScalarArray:
    """Return values, shape (length,), as `as_scalars` does; None allows any length.

    Raises:
        ArgumentTypeError: values are not numbers.
        ShapeError: values have another shape.
    """
    return as_scalars(vector(values, name, length), name)


def zeros_like(values: ArrayLike, shape: tuple[int, ...]) -> ScalarArray:
    """Return zeros of a shape in the number type of values."""
    array = as_scalars(values)
    if isinstance(array, np.ndarray):
        return np.zeros(shape, dtype=array.dtype)
    return cast(ScalarArray, array.zeros(shape))


def widest(*values: ArrayLike | None) -> ScalarArray:
    """Return the first of several arrays whose number type holds those of all, same shape.

    Such an array gives results their type: any of the arguments may hold expressions or dual
    numbers, and the others floats. None is left out.
    """
    arrays = [as_scalars(x) for x in values if x is not None]
    floats = (isinstance(x, np.ndarray) and x.dtype == np.float64 for x in arrays)
    return next((x for x, is_plain in zip(arrays, floats, strict=True) if not is_plain), arrays[0])


def on_link(frame: Frame, point: ArrayLike | None) -> ScalarArray:
    """Return a point given in a link's frame, in the frame of its body, shape (3,), m.

    Args:
        frame: the link's frame.
        point: in the link's frame, shape (3,), m; None for its origin.

    Raises:
        ArgumentTypeError: the point holds no numbers.
        ShapeError: the point has another shape.
    """
    return frame.locate(None if point is None else number_vector(point, 'point', 3))


def span(values: ScalarArray, first: int, stop: int, step: int = 1) -> Any:
    """Return an index range for a loop over elements of values, which traces can record."""
    return (
        range(first, stop, step)
        if isinstance(values, np.ndarray)
        else values.span(first, stop, step)
    )
