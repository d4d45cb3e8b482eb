# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Globals that a user's function names, whose values are constants of its kernel.

A file's text does not tell them: they may come from the environment, from another file or from an
assignment after the import. Names of attributes count, too, as those of a module's variables.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterator
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, get_origin

from kron_dynamics.kernels.named_imports import file_of, is_library, top_level
from kron_dynamics.kernels.origins import is_of_package
from kron_dynamics.kernels.typed_code import code_text, functions_in, functions_of, names_in


def read_globals(function: FunctionType, user: str) -> Iterator[tuple[str, Any]]:
    """Yield name and value of what a function names, and itself: functions, numbers, texts.

    Instead of functions and classes of libraries there are their names, and of modules.

    Args:
        function: a function of the user.
        user: outermost package of the user, which may be installed like a library.
    """
    yield 'code', (*_place(function), code_text(function.__code__))
    spaces = [(function.__globals__, {*names_in(function.__code__)})]
    seen: list[type | ModuleType] = []
    for space, names in spaces:  # which grows
        for name in sorted(names & space.keys()):
            value = space[name]
            if not isinstance(value, type | ModuleType):
                yield name, value
                continue
            yield name, tuple(map(_place, value.__mro__ if isinstance(value, type) else [value]))
            module = value.__name__ if isinstance(value, ModuleType) else value.__module__
            if is_users(module, user) and not any(value is other for other in seen):
                seen.append(value)
                if isinstance(value, ModuleType):
                    spaces.append((vars(value), names))
                    continue
                for base in value.__mro__:
                    if is_users(base.__module__, user):
                        methods = functions_in(base)
                        yield from ((name, method) for method in methods)
                        used = names.union(*(names_in(f.__code__) for f in methods))
                        spaces.append((_data(base), used))


def is_users(module: str, user: str) -> bool:
    """Return whether a module is the user's: neither this package's nor of a library."""
    top = top_level(module)
    return not is_of_package(module) and (top == user or not is_library(file_of(module)))


def home_of(function: Any) -> str:
    """Return the name of the module whose globals a function sees, also if it is decorated."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, '__func__', function)
    name: str = getattr(function, '__globals__', {}).get('__name__') or ''
    return name


def _data(cls: type) -> dict[str, Any]:
    return {name: value for name, value in vars(cls).items() if not hasattr(value, '__get__')}


def _place(value: Any) -> tuple[str, ...]:
    words = (getattr(value, key, '') for key in ('__module__', '__qualname__', '__name__'))
    return (type(value).__name__, *map(str, words))


def without_functions(
    value: Any, user: str, found: list[Any], around: tuple[int, ...] = ()
) -> Any:
    """Return a value with names instead of functions; those of the user are added to `found`."""
    if isinstance(value, FunctionType | MethodType):
        if is_users(home_of(value), user):
            found.append(value)
        elif isinstance(value, MethodType):  # of an object whose content cannot be seen
            return value
        return _place(value)
    if wrapped := functions_of(value):  # as in a cache of results
        found += wrapped
        return _place(value)
    if isinstance(value, logging.Logger) or get_origin(value) is not None:  # types in annotations
        return repr(value)
    if isinstance(value, BuiltinFunctionType) and isinstance(value.__self__, type | ModuleType):
        return (*_place(value), *_place(value.__self__))  # as in every named tuple
    if type(value).__module__ == 'dataclasses':  # marks of fields, in the methods made of these
        return _place(type(value))
    if isinstance(value, Enum):
        return (*_place(type(value)), value.name, value.value)
    parts, kind = value, type(value)
    if kind is functools.partial:
        parts = (value.func, value.args, value.keywords)
    elif kind is SimpleNamespace:
        parts = vars(value)
    if type(parts) not in (list, tuple, dict) or id(value) in around:
        return value
    inside = (*around, id(value))
    if isinstance(parts, dict):
        items = [(k, without_functions(part, user, found, inside)) for k, part in parts.items()]
        return (kind.__name__, items)
    return (kind.__name__, [without_functions(part, user, found, inside) for part in parts])
