# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Integers of a program with loops: linear functions of counters and entries of static tables.

Each has the set of its possible values, so that a table look-up with the same entry for all of
them becomes a constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kron_dynamics.typing import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """The counter of a loop; compared by identity.

    Attributes:
        level: nesting depth of the loop's body, 1 for an outermost loop.
        first: its first value.
        stop: its end, exclusive.
        step: 1 or -1.
        values: all values it may take, for any values of the enclosing counters.
    """

    level: int
    first: Number
    stop: Number
    step: int
    values: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A static table of integers; compared by identity.

    Attributes:
        values: shape (rows,) or (rows, columns); with columns, -1 means no entry.
    """

    values: IntArray


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a static table.

    Attributes:
        table: the table.
        places: row, and column if the table has columns.
        values: all values it may take.
    """

    table: Numbers
    places: tuple[Number, ...]
    values: IntArray = field(compare=False)

    @property
    def level(self) -> int:
        """Nesting depth of loops in which its value is defined."""
        return max(level_of(place) for place in self.places)


@dataclass(frozen=True, slots=True)
class Index:
    """An integer that is not known while recording: scale * atom + offset."""

    atom: Counter | Entry
    scale: int = 1
    offset: int = 0

    def __add__(self, other: int) -> Index:
        return Index(self.atom, self.scale, self.offset + int(other))

    __radd__ = __add__

    def __sub__(self, other: int) -> Index:
        return self + -other

    def __mul__(self, other: int) -> Index:
        return Index(self.atom, self.scale * int(other), self.offset * int(other))

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        raise TypeError('an index of a loop has no truth value: equations must not branch on it')


Number = int | Index


def level_of(number: Number) -> int:
    """Return the nesting depth of loops in which a number is defined, 0 outside all loops."""
    return number.atom.level if isinstance(number, Index) else 0


def values_of(number: Number) -> IntArray:
    """Return the values that a number may take, shape (count,), sorted and unique."""
    if isinstance(number, Index):
        return np.unique(number.scale * number.atom.values + number.offset)
    return np.array([number])


def between(first: Number, stop: Number, step: int) -> IntArray:
    """Return the values that a counter may take, shape (count,)."""
    a, b = values_of(first), values_of(stop)
    return np.arange(a[0], b[-1]) if step > 0 else np.arange(b[0] + 1, a[-1] + 1)


def look_up(table: Numbers, *places: Number) -> Number:
    """Return the entry at (row) or (row, column) of a table, simplified if possible."""
    candidates = np.meshgrid(*(values_of(place) for place in places), indexing='ij')
    entries = table.values[tuple(candidates)]
    there = entries >= 0 if len(places) > 1 else np.ones(entries.shape, dtype=bool)
    values = np.unique(entries[there])
    if len(values) == 1:
        return int(values[0])
    for place, candidate in zip(places, candidates, strict=True):
        distances = np.unique(entries[there] - candidate[there])
        if len(distances) == 1:
            return place + int(distances[0])
    return Index(Entry(table, places, values))


def evaluate(number: Number, counters: Mapping[Counter, IntArray]) -> IntArray:
    """Return the values of a number for given values of all counters, arrays of one shape."""
    if not isinstance(number, Index):
        return np.array(number)
    if isinstance(number.atom, Counter):
        atom = counters[number.atom]
    else:
        places = tuple(evaluate(place, counters) for place in number.atom.places)
        atom = number.atom.table.values[places]
    return number.scale * atom + number.offset
