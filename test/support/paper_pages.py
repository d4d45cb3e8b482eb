# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Access to the generators of the pages about papers, which are not part of the package."""

from __future__ import annotations

import dataclasses
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy

# Tolerance for floats: a thousandth of the bound stated on the pages.
ROUNDING = 1e-13
PAPERS = Path(__file__).parents[2] / 'docs' / 'papers'


@contextmanager
def generator_of(
    package: str, asked_twice: Callable[[Any], Sequence[tuple[Any, Sequence[str]]]]
) -> Iterator[Any]:
    """Yield the module `page` of a generator; unload it and the generators' modules afterwards.

    Args:
        package: name of the generator.
        asked_twice: function of the module that returns owners and names of functions which both
            the page and its tests call with the same arguments: their results are cached.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PAPERS)
        page = importlib.import_module(f'{package}.page')
        for owner, names in asked_twice(page):
            for name in names:
                patch.setattr(owner, name, functools.cache(getattr(owner, name)))
        yield page
    ours = {path.name for path in PAPERS.iterdir() if path.is_dir()}
    for name in [name for name in sys.modules if name.split('.')[0] in ours]:
        del sys.modules[name]


def is_right(error: Any) -> bool:
    """Return whether an error is 0, exactly or to the rounding of floats."""
    claims = importlib.import_module('shared.claims')
    return bool(error < ROUNDING if isinstance(error, claims.Bound) else error == 0)


def nudged(value: Any, first: int = 1) -> Any:
    """Return a slightly wrong result, with a different error in every entry."""
    if isinstance(value, np.ndarray):
        value = value.astype(object) if value.dtype.kind == 'i' else value
        kind = sympy.Rational if value.dtype == object else lambda a, b: a / b
        wrong = [kind(k + first, 1000) for k in range(value.size)]
        return value + np.array(wrong, dtype=value.dtype).reshape(value.shape)
    if dataclasses.is_dataclass(value):
        parts = {f.name: nudged(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return dataclasses.replace(value, **parts)
    if isinstance(value, types.GeneratorType):
        return [nudged(item) for item in value]
    if isinstance(value, tuple):
        entries = [nudged(item) for item in value]
        return type(value)(*entries) if hasattr(value, '_fields') else tuple(entries)
    return value * sympy.Rational(1001, 1000)


def nudging(function: Callable[..., Any], first: int = 1) -> Callable[..., Any]:
    """Return a function whose results are slightly wrong."""
    return lambda *values, **more: nudged(function(*values, **more), first)


def program_names(rows: list[Any]) -> set[str]:
    """Return the names of the program's functions in the rows of a table."""
    return {name for row in rows for name in row.program.split('`')[1::2]}


def assert_all_fail(rows: list[Any]) -> None:
    """Assert that every row shows an error, as it must for wrong results."""
    assert rows
    for row in rows:
        assert abs(row.error) > 1e-6, row.equation
