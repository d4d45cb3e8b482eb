# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Models with arrays of Python floats."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np


def with_python_numbers(value: Any) -> Any:
    """Return a model, or a part of one, with object arrays of Python floats.

    NumPy multiplies object matrices entry by entry, but matrices of its own floats by a BLAS,
    whose rounding depends on the processor. Kernels are recorded from such models, since products
    of constants become constants of the generated code and must be the same everywhere.

    Args:
        value: a model, an array, or a dataclass, tuple or mapping of them; other values are
            returned unchanged.
    """
    if isinstance(value, np.ndarray):
        return value.astype(object) if value.dtype.kind == 'f' else value
    if value is None or isinstance(value, (str, float, int)):
        return value
    kind: type = type(value)
    if names := _constructor_fields(kind):
        changed = {}
        for name in names:
            old = getattr(value, name)
            new = with_python_numbers(old)
            if new is not old:
                changed[name] = new
        return replace(value, **changed) if changed else value
    if isinstance(value, (tuple, list)):
        items = [with_python_numbers(part) for part in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return type(value)(*items) if hasattr(value, '_fields') else type(value)(items)
    if isinstance(value, Mapping):
        parts = {key: with_python_numbers(part) for key, part in value.items()}
        return value if all(parts[key] is value[key] for key in value) else parts
    return value


@functools.cache
def _constructor_fields(kind: type) -> tuple[str, ...]:
    """Return the fields of a dataclass; none if its constructor does not take all of them."""
    known = fields(kind) if is_dataclass(kind) else ()
    return tuple(each.name for each in known) if all(each.init for each in known) else ()
