# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Attributes of an instance that a method of a user's class may read.

They are found in the code of the method and of the methods that it calls. If one of them does
anything with the instance but read and set its attributes, such as pass it to a function, these
are all attributes that are not the package's own: what a function does with it cannot be seen.

Superfluous attributes cost a compilation, but a missing one would let another kernel be used.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterable, Iterator
from itertools import pairwise
from types import CodeType, FunctionType, MemberDescriptorType, MethodType
from typing import Any

from kron_dynamics.kernels.compiled import Compiled
from kron_dynamics.kernels.named_imports import top_level
from kron_dynamics.kernels.origins import CAPTURED, is_ours
from kron_dynamics.kernels.typed_code import functions_in, functions_of, names_in

# Functions that see variables which are not passed to them.
_SEE_VARIABLES = {'eval', 'exec', 'locals', 'vars'}
_OF_ATTRIBUTES = {'LOAD_ATTR', 'LOAD_METHOD', 'LOAD_SUPER_ATTR', 'STORE_ATTR', 'DELETE_ATTR'}
# Instructions that share a variable with a function inside, whose code is looked at, too.
_OF_CELLS = {'MAKE_CELL', 'LOAD_CLOSURE'}
# What every instance with compiled methods has: text of the model and name are in the key.
_REQUIRED = {'model', '_kernels', CAPTURED}
# Methods that run at any access.
_ALWAYS = {'__getattr__', '__getattribute__'}


def read_attributes(method: MethodType) -> Iterator[tuple[str, Any]]:
    """Yield names and values of the attributes that a method and what it calls may read.

    The names in the code count, also those of attributes of other objects. The model is left out,
    which `model_text` tells, and what the package's classes compute.
    """
    instance = method.__self__
    own = getattr(instance, '__dict__', {})
    for name in sorted(_names_read(method)):
        cls = next((cls for cls in type(instance).__mro__ if name in vars(cls)), None)
        member = None if cls is None else vars(cls)[name]
        if isinstance(member, MemberDescriptorType):  # of __slots__
            if hasattr(instance, name):
                yield name, getattr(instance, name)
        elif isinstance(member, Compiled | property) or (cls is not None and is_ours(cls)):
            continue
        elif name in own or (cls is not None and not hasattr(member, '__get__')):
            yield name, own.get(name, member)


def functions_read(method: MethodType) -> Iterator[FunctionType]:
    """Yield the functions of the user's classes that a method may run on its instance."""
    classes = _users_classes(method)
    for member in _members(classes, _names_read(method) | _ALWAYS):
        known = member.body if isinstance(member, Compiled) else member
        found = functions_of(known)
        if not found and hasattr(known, '__get__'):  # of a class of the user's own kind
            found = functions_in(type(known))
        yield from found


def _users_classes(method: MethodType) -> list[type]:
    return [cls for cls in type(method.__self__).__mro__ if not is_ours(cls)]


def _names_read(method: MethodType) -> set[str]:
    """Return the names in the code of a method and of the user's methods that it calls."""
    classes = _users_classes(method)
    waiting: list[Any] = [method.__func__]
    waiting += _members(classes, _ALWAYS)
    names: set[str] = set()
    while waiting:
        functions = _given_the_instance(waiting.pop())
        if functions is None or any(map(_passes_it_on, functions)):
            return _all_names(method.__self__, classes)
        new = {name for f in functions for name in names_in(f.__code__)} - names
        names |= new
        waiting += _members(classes, new)
    return names - _REQUIRED


def _members(classes: Iterable[type], names: set[str]) -> list[Any]:
    return [vars(cls)[name] for cls in classes for name in sorted(names & vars(cls).keys())]


def _given_the_instance(member: Any) -> list[FunctionType] | None:
    """Return the functions to which a member of a class passes an instance; None if unknown."""
    if isinstance(member, Compiled):
        member = member.body
    parts = [member]
    if isinstance(member, property):
        parts = [f for f in (member.fget, member.fset, member.fdel) if f is not None]
    elif isinstance(member, functools.cached_property):
        parts = [member.func]
    elif isinstance(member, classmethod):
        parts = [member.__func__]
    elif isinstance(member, staticmethod | MemberDescriptorType) or not hasattr(member, '__get__'):
        parts = []
    functions = [part for part in parts if isinstance(part, FunctionType)]
    return functions if len(functions) == len(parts) else None


def _passes_it_on(function: FunctionType) -> bool:
    """Return whether a method does anything with its instance but read and set attributes."""
    uses = [operation for operation, _ in _uses(function)]
    return (
        function.__code__.co_argcount == 0  # it is among any number of arguments
        or any(operation not in _OF_ATTRIBUTES for operation in uses)
        or any(name in _SEE_VARIABLES or _is_special(name) for name in names_in(function.__code__))
    )


def _uses(function: FunctionType) -> Iterator[tuple[str, str]]:
    """Yield operation and name for each use of a function's first argument."""
    itself = function.__code__.co_varnames[:1]
    waiting: list[CodeType] = [function.__code__]
    while waiting:
        code = waiting.pop()
        waiting += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        instructions = [i for i in dis.get_instructions(code) if i.opname != 'EXTENDED_ARG']
        for now, following in pairwise(instructions):
            # Since Python 3.13 an instruction may load two variables.
            loaded = now.argval if isinstance(now.argval, tuple) else (now.argval,)
            if loaded[-1:] == itself and now.opname not in _OF_CELLS:
                yield following.opname, following.argval
            if itself and itself[0] in loaded[:-1]:
                yield now.opname, ''


def _all_names(instance: Any, classes: Iterable[type]) -> set[str]:
    """Return the names of all attributes of an instance but those that only the package sets."""
    package = [c for c in type(instance).__mro__ if top_level(c.__module__) == top_level(__name__)]
    theirs = _names_set(tuple(package)) - _names_set(tuple(classes))
    data = {name for cls in classes for name in vars(cls)}
    names = {*getattr(instance, '__dict__', {}), *data} - theirs - _REQUIRED
    return {name for name in names if not (_is_special(name) or name.startswith('_abc_'))}


@functools.cache
def _names_set(classes: tuple[type, ...]) -> frozenset[str]:
    """Return the names of the attributes that methods of some classes set."""
    functions = [function for cls in classes for function in functions_in(cls)]
    return frozenset(name for f in functions for use, name in _uses(f) if use == 'STORE_ATTR')


def _is_special(name: str) -> bool:
    return name.startswith('__') and name.endswith('__')
