# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Values that a user's equation reads beside its arguments, which are constants of its kernel.

These are attributes of the instance whose method it is, variables around a function, and bound and
default arguments. Those of the package's own equations are told by the names of kernels.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

from kron_dynamics.kernels.late_imports import IMPORTING
from kron_dynamics.kernels.origins import filled_cells, is_ours

_FUNCTIONS = (FunctionType, MethodType, functools.partial)
# What is captured by a function and is among its origins is no value.
_ORIGINS = (*_FUNCTIONS, type, ModuleType)


def captured_text(function: object) -> str:
    """Return a text that only functions with the same values share; '' for the package's.

    If a value has no exact text, as an object of a user's class, the text is a new one in every
    call: the kernel is compiled anew for every robot.
    """
    values: list[tuple[str, Any]] = []
    seen: list[Any] = []
    waiting: list[Any] = [function]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, _FUNCTIONS) or any(item is other for other in seen):
            continue
        if isinstance(item, MethodType) and is_ours(item):
            continue
        seen.append(item)
        captured = list(_captured_by(item))
        waiting += [value for _, value in captured]
        if not is_ours(item):
            values += [each for each in captured if not isinstance(each[1], _ORIGINS)]
            if isinstance(item, MethodType):
                with IMPORTING:
                    from kron_dynamics.kernels.read_attributes import read_attributes
                values += read_attributes(item)
    if not values:
        return ''
    with IMPORTING:
        from kron_dynamics.kernels.typed_code import value_text  # for equations of users only
    text = value_text(values)
    return os.urandom(16).hex() if text is None else text


def _captured_by(item: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a function holds, with a name each; but for the instance of a method."""
    if isinstance(item, functools.partial):
        yield from (('function', item.func), *_numbered(item.args), *item.keywords.items())
    elif isinstance(item, MethodType):
        yield 'function', item.__func__
    else:
        yield from _numbered(filled_cells(item))
        yield from _numbered(item.__defaults__ or ())
        yield from (item.__kwdefaults__ or {}).items()
        if hasattr(item, '__wrapped__'):
            yield 'wrapped', item.__wrapped__


def _numbered(values: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    return ((str(k), value) for k, value in enumerate(values))
