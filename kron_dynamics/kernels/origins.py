# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Functions, classes and modules that define what a function computes."""

from __future__ import annotations

import functools
import sys
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

from kron_dynamics.kernels.late_imports import IMPORTING
from kron_dynamics.kernels.named_imports import file_of, is_library, top_level

_PACKAGE = top_level(__name__)
# Packages whose functions and classes are no user's.
_OURS = {_PACKAGE, 'numpy', *sys.stdlib_module_names}
# Attribute of an instance with the specifications that captured something, by compiled method.
CAPTURED = '_captured'
# The name of a module, or a function or class defined in one.
Origin = str | FunctionType | type


def origins_of(function: object) -> set[Origin]:
    """Return the functions, classes and modules that define what a function computes.

    These are the functions inside partial, bound and wrapped functions, the functions captured in
    closures, and the classes of captured or bound objects; of an object that is no function, its
    classes. For functions and classes that are in no file, such as those typed into a Python
    shell, the globals that they use are included.
    """
    found: set[Origin] = set()
    waiting: list[Any] = [function]
    while waiting:
        item = waiting.pop()
        if isinstance(item, functools.partial):
            waiting += [item.func, *item.args, *item.keywords.values()]
        elif isinstance(item, MethodType):
            waiting += [item.__func__, item.__self__]
        elif isinstance(item, ModuleType):
            found.add(item.__name__)
        elif not isinstance(item, FunctionType):
            classes = item.__mro__ if isinstance(item, type) else type(item).__mro__
            new = set(classes) - found
            found |= new
            waiting += [value for each in new for value in _used_by(each)]
        elif item not in found:
            found.add(item)
            waiting += filled_cells(item)
            waiting += [item.__wrapped__] if hasattr(item, '__wrapped__') else []
            waiting += _used_by(item)
    return found


def _used_by(origin: FunctionType | type) -> list[Any]:
    """Return functions, classes and the user's modules that one of no file names."""
    module = origin.__module__
    if module in sys.builtin_module_names or file_of(module) is not None:
        return []
    with IMPORTING:
        from kron_dynamics.kernels.typed_code import functions_in, named_globals  # rarely needed

    values = [v for f in functions_in(origin) for v in named_globals(f).values()]
    return [v for v in values if isinstance(v, FunctionType | type) or _is_own_module(v)]


def _is_own_module(value: Any) -> bool:
    """Whether a value is a module of the user, as neither Python's nor an installed library's."""
    if not isinstance(value, ModuleType) or top_level(value.__name__) in sys.stdlib_module_names:
        return False
    file = file_of(value.__name__)
    own = top_level(value.__name__) == _PACKAGE or not is_library(file)
    return own and file is not None


def is_ours(function: Any) -> bool:
    """Return whether a function or class, or the function in a partial, is no user's."""
    while isinstance(function, functools.partial):
        function = function.func
    return is_of_package(getattr(function, '__module__', None) or '')


def is_of_package(module: str) -> bool:
    """Return whether a module is this package's, NumPy's or Python's."""
    return top_level(module) in _OURS


def filled_cells(function: FunctionType) -> list[Any]:
    """Return the values of the variables around a function that have one."""
    return [cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell)]


def _is_filled(cell: CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
