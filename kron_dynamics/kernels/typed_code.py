# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Text of functions and classes in no file, such as those typed into a Python shell."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cached_property
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from kron_dynamics.kernels.model_text import model_text
from kron_dynamics.kernels.named_imports import file_of, is_library, top_level
from kron_dynamics.model.robot_model import RobotModel

_SCALARS = {bool, int, float, complex, str, bytes, type(None)}


def functions_in(origin: FunctionType | type) -> list[FunctionType]:
    """Return a function itself, or the functions that a class defines."""
    if isinstance(origin, FunctionType):
        return [origin]
    return [f for member in vars(origin).values() for f in functions_of(member)]


def functions_of(member: Any) -> list[FunctionType]:
    """Return the functions of a member of a class: a method, a property or one decorated."""
    if isinstance(member, property):
        return [f for f in (member.fget, member.fset) if isinstance(f, FunctionType)]
    if isinstance(member, cached_property):
        return functions_of(member.func)
    part = getattr(member, '__func__', member)
    found = [part] if isinstance(part, FunctionType) else []
    return found + (functions_of(part.__wrapped__) if hasattr(part, '__wrapped__') else [])


def named_globals(function: FunctionType) -> dict[str, Any]:
    """Return the globals that a function, or one inside it, names."""
    known = function.__globals__
    return {name: known[name] for name in sorted({*names_in(function.__code__)}) if name in known}


def text_of(origin: FunctionType | type) -> str:
    """Return a text of the byte code, and of the values that it uses by name or by default.

    It is the same in every process of one Python version, unless a value is of a type whose
    content cannot be seen: then it is the same in this process only.
    """
    texts = []
    for function in functions_in(origin):
        values = [
            (name, value.__name__ if isinstance(value, ModuleType) else _value(value))
            for name, value in named_globals(function).items()
            if not isinstance(value, FunctionType | type)
        ]
        defaults = _value(function.__defaults__), _value(function.__kwdefaults__)
        texts.append(repr((code_text(function.__code__), values, defaults)))
    if isinstance(origin, type):
        members = [
            (name, _value(value))
            for name, value in vars(origin).items()
            if not name.startswith(('__', '_abc_')) and not hasattr(value, '__get__')
        ]
        texts.append(repr(members))
    return '\n'.join(texts)


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in some code, and texts, which may be some."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from names_in(constant)
        elif isinstance(constant, str):
            yield constant


def code_text(code: CodeType) -> str:
    """Return a text of byte code that is the same in every process of one Python version."""
    constants = []
    for value in code.co_consts:
        if isinstance(value, frozenset):  # whose order differs from process to process
            value = sorted(map(repr, value))
        constants.append(code_text(value) if isinstance(value, CodeType) else repr(value))
    return repr((sys.version, code.co_code, code.co_names, code.co_varnames, constants))


def _is_found_at(value: Any, module: Any, name: Any) -> bool:
    """Whether a value is the one of a name in a module, such as a function written in C."""
    known = sys.modules.get(module) if isinstance(module, str) else None
    in_file = getattr(known, '__file__', None) is not None or module in sys.builtin_module_names
    return in_file and isinstance(name, str) and getattr(known, name, None) is value


def _value(value: Any) -> str:
    """Return an exact text of a value, or one that stands for it in this process."""
    text = value_text(value)
    return f'{type(value)} {id(value)} of process {os.getpid()}' if text is None else text


def value_text(value: Any, around: frozenset[int] = frozenset()) -> str | None:
    """Return an exact text of a value; None if it has none, as objects of unknown classes.

    Also a subclass of a known class is unknown, as `numpy.matrix`: it may compute otherwise.

    Args:
        value: the value.
        around: identities of the containers that it is in.
    """
    cls = type(value)
    if cls in _SCALARS:
        return repr(value)
    if isinstance(value, RobotModel):
        return model_text(value)
    place = getattr(value, '__module__', None), getattr(value, '__name__', None)
    if isinstance(value, np.ufunc) or _is_found_at(value, *place):
        return None if _is_users(value) else repr(place)
    if cls is np.ndarray or (isinstance(value, np.generic) and cls is value.dtype.type):
        if value.dtype.kind in 'biufc':
            return repr((cls.__name__, value.shape, value.dtype.str, value.tobytes()))
    if cls in (tuple, list, dict) and id(value) not in around:
        parts = value if cls is not dict else [part for item in value.items() for part in item]
        texts = [value_text(part, around | {id(value)}) for part in parts]
        return None if None in texts else repr((cls.__name__, texts))
    return None


def _is_users(value: Any) -> bool:
    """Return whether a function or class is in a file that is no library's and may change."""
    module = value.__module__ or ''
    is_python = top_level(module) in sys.stdlib_module_names
    return not (is_python or file_of(module) is None or is_library(file_of(module)))
