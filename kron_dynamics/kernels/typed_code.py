# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Text of functions and classes in no file, such as those typed into a Python shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

_SCALARS = (bool, int, float, complex, str, bytes, type(None))


def functions_in(origin: FunctionType | type) -> list[FunctionType]:
    """Return a function itself, or the functions that a class defines."""
    if isinstance(origin, FunctionType):
        return [origin]
    found = []
    for part in vars(origin).values():
        if isinstance(part, property):
            found += [f for f in (part.fget, part.fset) if isinstance(f, FunctionType)]
        part = getattr(part, '__func__', part)
        found += [part] if isinstance(part, FunctionType) else []
    return found


def named_globals(function: FunctionType) -> dict[str, Any]:
    """Return the globals that a function, or one inside it, names."""
    known = function.__globals__
    return {name: known[name] for name in sorted({*_names(function.__code__)}) if name in known}


def text_of(origin: FunctionType | type) -> str:
    """Return a text of the byte code, and of the values that it uses by name or by default.

    It is the same in every process of one Python version, unless a value is of a type whose
    content cannot be seen: then it is the same in this process only.
    """
    texts = []
    for function in functions_in(origin):
        values = [
            (name, _value(value))
            for name, value in named_globals(function).items()
            if not isinstance(value, FunctionType | type)
        ]
        defaults = _value(function.__defaults__), _value(function.__kwdefaults__)
        texts.append(repr((_code(function.__code__), values, defaults)))
    if isinstance(origin, type):
        members = [
            (name, _value(value))
            for name, value in vars(origin).items()
            if not name.startswith(('__', '_abc_')) and not hasattr(value, '__get__')
        ]
        texts.append(repr(members))
    return '\n'.join(texts)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _code(code: CodeType) -> str:
    constants = [
        _code(value) if isinstance(value, CodeType) else repr(value) for value in code.co_consts
    ]
    return repr((sys.version, code.co_code, code.co_names, code.co_varnames, constants))


def _is_found_at(value: Any, module: Any, name: Any) -> bool:
    """Whether a value is the one of a name in a module, such as a function written in C."""
    known = sys.modules.get(module) if isinstance(module, str) else None
    in_file = getattr(known, '__file__', None) is not None or module in sys.builtin_module_names
    return in_file and isinstance(name, str) and getattr(known, name, None) is value


def _value(value: Any) -> str:
    """Return an exact text of a value."""
    if isinstance(value, _SCALARS):
        return repr(value)
    if isinstance(value, ModuleType):
        return value.__name__
    place = getattr(value, '__module__', None), getattr(value, '__name__', None)
    if isinstance(value, np.ufunc) or _is_found_at(value, *place):
        return repr(place)
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in 'biufc':
        return repr((value.shape, value.dtype.str, value.tobytes()))
    if isinstance(value, tuple | list):
        return repr((type(value).__name__, [_value(each) for each in value]))
    if isinstance(value, dict):
        return repr([(_value(key), _value(each)) for key, each in value.items()])
    return f'{type(value)} {id(value)} of process {os.getpid()}'
