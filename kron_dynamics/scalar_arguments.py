# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Validation of the matrix calculus' arguments: arrays of any number system.

Floats, SymPy expressions, traced scalars and dual numbers are accepted; errors name the argument.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from kron_dynamics.arguments import instance, whole_number
from kron_dynamics.exceptions import ArgumentTypeError, ParameterError, ShapeError
from kron_dynamics.messages import shown
from kron_dynamics.typing import ScalarArray

_OPERATIONS = ('__add__', '__sub__', '__mul__', '__neg__')
_WHOLE = np.dtype(np.int64)
_LARGEST = np.iinfo(np.int64).max
_NO_SCALARS = (bool, np.bool_, complex, np.complexfloating, np.ndarray)


@functools.cache
def _is_scalar(kind: type) -> bool:
    """Return whether a type has the arithmetic of numbers."""
    return all(hasattr(kind, name) for name in _OPERATIONS) and not issubclass(kind, _NO_SCALARS)


def scalars(values: object, name: str) -> ScalarArray:
    """Return numbers of any number system as an array of the same shape.

    Integers become int64 (floats if one does not fit): products of smaller ones wrap around, and
    so do products of these that `factors` did not see.

    Args:
        values: an array, lists, or a number.
        name: name of the argument, for messages.

    Raises:
        ArgumentTypeError: values are not numbers but None, strings, booleans or complex numbers.
        ShapeError: lists have different lengths.
    """
    if type(values) is not np.ndarray:
        if hasattr(values, 'span') and hasattr(values, 'shape'):
            return cast(ScalarArray, values)  # a symbolic array of a recorded loop
        values = _array(values, name)
    array = cast(ScalarArray, values)
    kind = array.dtype.kind
    if kind == 'O':
        for entry in set(map(type, array.flat)):
            if not _is_scalar(entry):
                wrong = next(x for x in array.flat if type(x) is entry)
                raise ArgumentTypeError(f'{name} is or holds {shown(wrong)}, expected numbers')
    elif kind not in 'fiu':
        raise ArgumentTypeError(f'{name} is or holds {shown(values)}, expected numbers')
    elif kind != 'f' and array.dtype != _WHOLE:
        fits = (array <= _LARGEST).all()
        return array.astype(np.int64 if fits else np.float64)
    return array


def factors(*arrays: ScalarArray, terms: int = 1) -> tuple[ScalarArray, ...]:
    """Return arrays of the same shape whose products do not wrap around: floats if they may.

    Args:
        arrays: the factors of each product, as `scalars` returns them.
        terms: number of products that are added up.
    """
    for array in arrays:
        if type(array) is not np.ndarray or array.dtype != _WHOLE:
            return arrays
    bound = terms
    for array in arrays:
        bound *= max(map(abs, array.ravel().tolist()), default=0)
    if bound > _LARGEST:
        return tuple(array.astype(np.float64) for array in arrays)
    return arrays


def _array(values: object, name: str) -> ScalarArray:
    if isinstance(values, (np.ma.MaskedArray, str, bytes)):
        raise ArgumentTypeError(f'{name} is {shown(values)}, expected numbers')
    try:
        return np.asarray(values)
    except ValueError:
        raise ShapeError(
            f'{name} is {shown(values)}, whose parts differ in shape, expected the same'
        ) from None
    except MemoryError:
        raise
    except Exception as error:  # raised by the library that defines the object
        raise ArgumentTypeError(f'{name} is {shown(values)}, expected numbers') from error


def scalar(value: Any, name: str) -> Any:
    """Return the argument itself if it is one number of any number system.

    Raises:
        ArgumentTypeError: it is not a number.
        ShapeError: it is an array or a list.
    """
    shape = scalars(value, name).shape
    if shape:
        raise ShapeError(f'{name} has shape {shape}, expected one number')
    return value


def vector(values: object, name: str, length: int | None = None) -> ScalarArray:
    """Return scalars of shape (length,), or of any shape (n,) with n >= 1 if length is None.

    Raises:
        ArgumentTypeError: values are not numbers.
        ShapeError: values have another shape.
    """
    array = scalars(values, name)
    if array.ndim != 1 or (not len(array) if length is None else len(array) != length):
        expected = '(n,) with n of 1 or more' if length is None else f'({length},)'
        raise ShapeError(f'{name} has shape {array.shape}, expected {expected}')
    return array


def matrix(
    values: object, name: str, rows: int | None = None, columns: int | None = None
) -> ScalarArray:
    """Return scalars of shape (rows, columns); None allows any number of them.

    Raises:
        ArgumentTypeError: values are not numbers.
        ShapeError: values have another shape.
    """
    array = scalars(values, name)
    if (
        array.ndim != 2
        or (rows is not None and array.shape[0] != rows)
        or (columns is not None and array.shape[1] != columns)
    ):
        expected = f'({"m" if rows is None else rows}, {"n" if columns is None else columns})'
        raise ShapeError(f'{name} has shape {array.shape}, expected {expected}')
    return array


def in_blocks(values: object, name: str, width: int) -> ScalarArray:
    """Return scalars of shape (r, s*width).

    Raises:
        ArgumentTypeError: values are not numbers.
        ShapeError: values have another shape.
    """
    array = scalars(values, name)
    if array.ndim != 2 or array.shape[1] % width:
        raise ShapeError(f'{name} has shape {array.shape}, expected (r, s*{width})')
    return array


def at_least(value: object, name: str, least: int) -> int:
    """Return a whole number that is at least `least`.

    Raises:
        ArgumentTypeError: value is not a whole number.
        ParameterError: value is smaller.
    """
    number = whole_number(value, name)
    if number < least:
        raise ParameterError(f'{name} is {number}, expected {least} or more')
    return number


def function_of_numbers(value: object, name: str) -> Callable[..., Any]:
    """Return the argument itself if it is callable.

    Raises:
        ArgumentTypeError: value is not callable.
    """
    if not callable(value):
        instance(value, (), name, 'a function')
    return cast(Callable[..., Any], value)
