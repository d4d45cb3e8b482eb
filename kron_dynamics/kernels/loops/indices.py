# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Whole numbers of a program with loops: counters, sums with constants, entries of static tables.

Each knows the values it may take, so that an entry becomes plain where the table says the same
for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from kron_dynamics.typing import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Counter:
    """The counter of a loop; equal only to itself.

    Attributes:
        level: how many loops are open in the body, its own included.
        first: its first value.
        stop: the value it does not reach.
        step: 1 or -1.
        values: all that it may take, whatever the loops around are at.
    """

    level: int
    first: Number
    stop: Number
    step: int
    values: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A static table; equal only to itself.

    Attributes:
        values: shape (rows,) or (rows, columns); where there are columns, -1 means no entry.
    """

    values: IntArray


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a static table.

    Attributes:
        table: where it stands.
        places: its row; its column where the table has columns.
        values: all that it may be.
    """

    table: Numbers
    places: tuple[Number, ...]
    values: IntArray = field(compare=False)

    @property
    def level(self) -> int:
        """How many loops must be open to know it."""
        return max(level_of(place) for place in self.places)


@dataclass(frozen=True, slots=True)
class Index:
    """A whole number that is not known while recording: scale * atom + offset."""

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
        raise TypeError('a number of a loop has no truth value: equations may not branch on it')


Number = int | Index


def level_of(number: Number) -> int:
    """Return how many loops must be open to know a number."""
    return number.atom.level if isinstance(number, Index) else 0


def values_of(number: Number) -> IntArray:
    """Return the values that a number may take, shape (count,), sorted, each once."""
    if isinstance(number, Index):
        return np.unique(number.scale * number.atom.values + number.offset)
    return np.array([number])


def between(first: Number, stop: Number, step: int) -> IntArray:
    """Return the values that a counter may take, shape (count,)."""
    a, b = values_of(first), values_of(stop)
    return np.arange(a[0], b[-1]) if step > 0 else np.arange(b[0] + 1, a[-1] + 1)


def look_up(table: Numbers, *places: Number) -> Number:
    """Return the entry at (row) or (row, column) of a table, simplified where that is possible."""
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
    """Return the values of a number for those of all counters, arrays of one shape."""
    if not isinstance(number, Index):
        return np.array(number)
    if isinstance(number.atom, Counter):
        atom = counters[number.atom]
    else:
        places = tuple(evaluate(place, counters) for place in number.atom.places)
        atom = number.atom.table.values[places]
    return number.scale * atom + number.offset
