# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Validation of arguments: conversion to plain numbers, or an error that names the argument."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from itertools import chain
from numbers import Complex, Number, Real
from typing import Any

import numpy as np

from kron_dynamics.exceptions import (
    ArgumentTypeError,
    KronDynamicsError,
    NonFiniteError,
    ParameterError,
    ShapeError,
)
from kron_dynamics.messages import shown
from kron_dynamics.typing import FloatArray

# Lists of these types are converted in one call of NumPy.
_NUMBERS = frozenset((float, int, np.float64, np.float32, np.int64, np.int32))
_FLOAT = np.dtype(np.float64)
_LISTS = frozenset((list, tuple))
# Up to so many numbers are checked one by one.
_FEW = 32


def real_array(values: object, name: str) -> FloatArray:
    """Return real numbers as a float64 array of the same shape; no copy if it is one already.

    Args:
        values: a number, lists of numbers, or anything NumPy converts to an array of real
            numbers.
        name: name of the argument, for messages.

    Raises:
        ArgumentTypeError: values are not real numbers but None, strings, booleans, complex
            numbers, dates, or an array with masked entries, fields or objects.
        ShapeError: lists have different lengths.
        ParameterError: a number is beyond the range of float64.
    """
    if type(values) is np.ndarray and values.dtype is _FLOAT:
        return values
    try:
        if type(values) in _LISTS:
            return _of_list(values, name)  # type: ignore[arg-type]
        return _of_object(values, name)
    except (OverflowError, FloatingPointError):
        raise ParameterError(
            f'{name} is {shown(values)}, expected numbers within the range of float64'
        ) from None
    except RecursionError:
        raise ArgumentTypeError(f'{name} is nested too deeply, expected real numbers') from None


def _of_list(values: Sequence[Any], name: str) -> FloatArray:
    """Convert numbers, or lists of equal length, in one call; anything else item by item."""
    if _NUMBERS.issuperset(map(type, values)):
        return np.array(values, dtype=_FLOAT)
    if _LISTS.issuperset(map(type, values)):
        flat = list(chain.from_iterable(values))
        if _NUMBERS.issuperset(map(type, flat)) and len(set(map(len, values))) == 1:
            return np.array(flat, dtype=_FLOAT).reshape(len(values), len(values[0]))
    try:
        return np.array([real_array(item, name) for item in values], dtype=_FLOAT)
    except ValueError as error:
        if isinstance(error, KronDynamicsError):
            raise
        raise ShapeError(
            f'{name} is {shown(values)}, whose parts differ in shape, expected the same'
        ) from None


def _of_object(values: Any, name: str) -> FloatArray:
    """Convert a number, or an object that NumPy converts to an array of numbers."""
    if _is_real(values) and not isinstance(values, bool):
        try:
            return np.array(float(values))
        except (TypeError, ValueError):  # a signaling NaN of Decimal, a symbolic expression
            raise _no_numbers(values, name) from None
    try:
        array = np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:  # raised by the library that defines the object
        raise _no_numbers(values, name) from error
    if array.dtype.kind not in 'fiu' or isinstance(values, np.ma.MaskedArray):
        raise _no_numbers(values, name)
    if array.dtype.itemsize > _FLOAT.itemsize:
        with np.errstate(over='raise'):
            return array.astype(_FLOAT)
    return np.asarray(array, dtype=_FLOAT)


def _is_real(value: Any) -> bool:
    is_decimal = isinstance(value, Number) and not isinstance(value, Complex)
    return isinstance(value, Real) or is_decimal


def _no_numbers(values: object, name: str) -> ArgumentTypeError:
    return ArgumentTypeError(f'{name} is or holds {shown(values)}, expected real numbers')


def finite_array(values: object, name: str) -> FloatArray:
    """Return finite real numbers as a float64 array of the same shape; see `real_array`.

    Raises:
        NonFiniteError: a number is NaN or infinite.
    """
    array = real_array(values, name)
    # NumPy takes several times as long for a few numbers.
    few = array.ndim == 1 and array.size <= _FEW
    if not (all(map(math.isfinite, array.tolist())) if few else np.isfinite(array).all()):
        raise NonFiniteError(f'{name} holds a NaN or an infinity, expected finite numbers')
    return array


def real_number(value: object, name: str) -> float:
    """Return one real number; see `real_array`."""
    if type(value) is float:
        return value
    number = real_array(value, name)
    if number.ndim:
        raise ShapeError(f'{name} has shape {number.shape}, expected one number')
    return float(number)


def whole_number(value: object, name: str) -> int:
    """Return an integer.

    Raises:
        ArgumentTypeError: value is not an integer, or is a boolean.
    """
    if not isinstance(value, (bool, np.bool_)):
        try:
            return operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    raise ArgumentTypeError(f'{name} is {shown(value)}, expected a whole number')


def instance(value: object, kind: type | tuple[type, ...], name: str, expected: str) -> None:
    """Raise unless a value is an instance of a type.

    Args:
        value: the value of an argument.
        kind: the type, or several of them.
        name: name of the argument, for messages.
        expected: what the argument should be, for messages.

    Raises:
        ArgumentTypeError: value is of another type.
    """
    if not isinstance(value, kind):
        raise ArgumentTypeError(f'{name} is {shown(value)}, expected {expected}')
