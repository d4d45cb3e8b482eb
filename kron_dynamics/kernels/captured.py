# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Values that a user's equation reads beside its arguments, which are constants of its kernel.

These are attributes of the instance whose method it is, globals, variables around a function, and
bound and default arguments. The code of the user's functions that it runs counts, too: a file may
have several of one name. The package's own equations are told by the names of kernels.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

from kron_dynamics.kernels.late_imports import IMPORTING
from kron_dynamics.kernels.named_imports import top_level
from kron_dynamics.kernels.origins import filled_cells, is_ours

_FUNCTIONS = (FunctionType, MethodType, functools.partial)


def captured_text(function: object) -> str:
    """Return a text that only functions with the same values share; '' for the package's.

    If a value has no exact text, as an object of a user's class, the text is a new one in every
    call: the kernel is compiled anew for every robot.
    """
    values: list[tuple[str, Any]] = []
    seen: list[Any] = []
    user = ''
    waiting: list[Any] = [function]
    while waiting:
        item = waiting.pop()
        if not isinstance(item, _FUNCTIONS) or any(item is other for other in seen):
            continue
        if isinstance(item, MethodType) and is_ours(item):
            continue
        seen.append(item)
        captured = list(_captured_by(item))
        if not is_ours(item):
            with IMPORTING:  # for equations of users only
                from kron_dynamics.kernels.read_attributes import functions_read, read_attributes
                from kron_dynamics.kernels.read_globals import (
                    home_of,
                    is_users,
                    read_globals,
                    without_functions,
                )

            user = user or top_level(home_of(item))
            if isinstance(item, MethodType):
                captured += [(f.__name__, f) for f in functions_read(item)]
                values += read_attributes(item)
            elif isinstance(item, FunctionType) and is_users(home_of(item), user):
                captured += read_globals(item, user)
            for name, value in captured:
                if not isinstance(value, type | ModuleType):  # they are origins
                    values.append((name, without_functions(value, user, waiting)))
        else:
            waiting += [value for _, value in captured]
    if not values:
        return ''
    with IMPORTING:
        from kron_dynamics.kernels.typed_code import value_text

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
