# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Values that a user's equation reads beside its arguments, which are constants of its kernel.

These are attributes of the instance whose method it is, variables around a function, and bound and
default arguments. Those of the package's own equations are told by the names of kernels.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

from kron_dynamics.kernels.compiled import Compiled
from kron_dynamics.kernels.late_imports import IMPORTING
from kron_dynamics.kernels.named_imports import file_of, is_library, top_level
from kron_dynamics.kernels.origins import filled_cells

# Packages whose functions and classes are no user's.
_OURS = {top_level(__name__), 'numpy', *sys.stdlib_module_names}
_FUNCTIONS = (FunctionType, MethodType, functools.partial)
# What is captured by a function and is among its origins is no value.
_ORIGINS = (*_FUNCTIONS, type, ModuleType)
# Names by which code reads attributes whose names it computes.
_ANY = {'getattr', 'vars', '__dict__', '__getattribute__', 'attrgetter'}


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
        if isinstance(item, MethodType) and _is_ours(item):
            continue
        seen.append(item)
        captured = list(_captured_by(item))
        waiting += [value for _, value in captured]
        if not _is_ours(item):
            values += [each for each in captured if not isinstance(each[1], _ORIGINS)]
            if isinstance(item, MethodType):
                values += _attributes(item)
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


def _is_ours(function: Any) -> bool:
    """Return whether a function or class, or the function in a partial, is no user's."""
    while isinstance(function, functools.partial):
        function = function.func
    return top_level(getattr(function, '__module__', None) or '') in _OURS


def _attributes(method: MethodType) -> Iterator[tuple[str, Any]]:
    """Yield the attributes of an instance that its method and what it calls may read.

    The names in the code count, also those of attributes of other objects: a superfluous one
    costs a compilation, but a missing one would let another kernel be used. The model is left
    out, which has a fingerprint, and what the package's classes compute.
    """
    instance = method.__self__
    own = getattr(instance, '__dict__', {})
    for name in sorted(_names_read(method, own)):
        cls = next((cls for cls in type(instance).__mro__ if name in vars(cls)), None)
        member = None if cls is None else vars(cls)[name]
        if isinstance(member, MemberDescriptorType):  # of __slots__
            if hasattr(instance, name):
                yield name, getattr(instance, name)
        elif isinstance(member, Compiled | property) or (cls is not None and _is_ours(cls)):
            continue
        elif name in own or (cls is not None and not hasattr(member, '__get__')):
            yield name, own.get(name, member)


def _names_read(method: MethodType, own: dict[str, Any]) -> set[str]:
    """Return the names in the code of a method and of the user's functions that it calls."""
    with IMPORTING:
        from kron_dynamics.kernels.typed_code import functions_of, named_globals, names_in
    classes = [cls for cls in type(method.__self__).__mro__ if not _is_ours(cls)]
    packages = {top_level(method.__func__.__module__), *(top_level(c.__module__) for c in classes)}
    names: set[str] = set()
    functions: set[FunctionType] = set()
    waiting: list[Any] = [method.__func__]
    for name in ('__getattr__', '__getattribute__'):
        waiting += [f for cls in classes for f in functions_of(vars(cls).get(name))]
    while waiting:
        function = waiting.pop()
        if function in functions or not _is_followed(function, packages):
            continue
        functions.add(function)
        new = set(names_in(function.__code__)) - names
        names |= new
        waiting += [f for f in named_globals(function).values() if isinstance(f, FunctionType)]
        waiting += [f for cls in classes for n in new for f in functions_of(vars(cls).get(n))]
    return (names | own.keys() if names & _ANY else names) - {'model'}


def _is_followed(function: FunctionType, packages: set[str]) -> bool:
    """Return whether a function is the user's: of their packages, and otherwise of no library."""
    module = function.__module__ or ''
    if top_level(module) in packages:
        return True
    return not (_is_ours(function) or is_library(file_of(module)))
