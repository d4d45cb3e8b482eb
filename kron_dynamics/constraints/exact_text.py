# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The data of a constraint as text, from which kernels get their names."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass
from functools import cached_property
from inspect import getattr_static
from types import MappingProxyType
from typing import Any

import numpy as np

from kron_dynamics.constraints.constraint import Constraint

_PACKAGE = __name__.partition('.')[0]
# Kinds of NumPy numbers and texts whose bytes are their values.
_PLAIN = 'biufcSU'


def python_number(value: Any) -> Any:
    """Return a NumPy number as one of Python, and any other number as it is, such as 1/3."""
    return value.item() if isinstance(value, (np.ndarray, np.generic)) else value


def python_numbers(values: Any) -> Any:
    """Return numbers as a tuple: an array may be altered later, and has no equality.

    Args:
        values: a list, tuple or array of numbers.
    """
    return tuple(python_number(value) for value in values)


class _NoText(Exception):  # noqa: N818
    """Some data have no exact text."""


def exact_text(constraint: Constraint) -> str | None:
    """Return all data of a constraint but its signal as text; None if they have no exact text.

    Constraints of equal text are of the same class and have the same numbers, to the last bit:
    their geometry is the same function. Only dataclasses have a text; they may hold numbers,
    text, arrays, lists, tuples, sets, mappings and other dataclasses. There is none if a class is
    made inside a function, whose variables may belong to its data; or if it is of another module
    than the constraint's classes, since that module's file is not among a kernel's sources.
    """
    try:
        modules = {base.__module__ for base in type(constraint).__mro__}
        return _of_object(constraint, modules, 'signal')
    except _NoText:
        return None


def _of_object(value: Any, modules: Collection[str], left_out: str = '') -> str:
    cls = type(value)
    if not is_dataclass(cls) or not all(_is_plain(base, modules) for base in cls.__mro__):
        raise _NoText
    # All attributes: those of a subclass that is no dataclass itself are not fields.
    names = dict.fromkeys([*(f.name for f in fields(cls)), *getattr(value, '__dict__', ())])
    data = [
        f'{name}={_of(getattr(value, name), modules)}'
        for name in names
        if name != left_out
        and not isinstance(getattr_static(cls, name, None), cached_property)
        and hasattr(value, name)
    ]
    return f'{cls.__module__}.{cls.__qualname__}({", ".join(data)})'


def _is_plain(base: type, modules: Collection[str]) -> bool:
    """Return whether a class has its data in attributes, and its methods in known sources."""
    if base is object:
        return True
    hides = vars(base).get('__slots__') and '__dataclass_fields__' not in vars(base)
    # Classes written in C, such as list, keep their data elsewhere, and have no __module__.
    in_python = '__module__' in vars(base)
    is_known = base.__module__ in modules or base.__module__.partition('.')[0] == _PACKAGE
    return bool(in_python and is_known and not hides and '<locals>' not in base.__qualname__)


def _of(value: Any, modules: Collection[str]) -> str:
    # The very types: a class derived from one of them may have more data.
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        return repr(value)
    if kind in (list, tuple):
        return f'{kind.__name__}({", ".join(_of(each, modules) for each in value)})'
    if kind in (set, frozenset):
        return f'{kind.__name__}({", ".join(sorted(_of(each, modules) for each in value))})'
    if kind in (dict, MappingProxyType):
        return f'{{{", ".join(_items(value, modules))}}}'
    if (kind is np.ndarray or isinstance(value, np.generic)) and value.dtype.kind in _PLAIN:
        return f'{value.dtype.str}{value.shape}{value.tobytes().hex()}'
    return _of_object(value, modules)


def _items(value: Any, modules: Collection[str]) -> Iterator[str]:
    for key, each in value.items():
        yield f'{_of(key, modules)}: {_of(each, modules)}'
