# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of a program with loops: structures of numbers by body, by position, or by both.

Each number of the structure has a memory of its own (structure of arrays), so that loops over
bodies access memory contiguously.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.kernels.loops.arrays import StagedArray
from kron_dynamics.kernels.loops.indices import Number
from kron_dynamics.kernels.loops.program import Program
from kron_dynamics.kernels.loops.statements import Memory


class Layout(NamedTuple):
    """Layout of a structure of numbers.

    Attributes:
        kind: its class: a dataclass, a tuple or `np.ndarray`; None for a number.
        shape: shape of an array.
        parts: layouts of the fields of a dataclass, or of the entries of a tuple.
    """

    kind: type[Any] | None = None
    shape: tuple[int, ...] = ()
    parts: tuple[Layout, ...] = ()


def take_apart(value: Any, numbers: list[Any]) -> Layout:
    """Append the numbers of a structure to a list and return its layout."""
    if isinstance(value, StagedArray):
        value = value.elements()
    if isinstance(value, np.ndarray):
        numbers.extend(value.flat)
        return Layout(np.ndarray, value.shape)
    if dataclasses.is_dataclass(value):
        parts = [getattr(value, field.name) for field in dataclasses.fields(value)]
    elif isinstance(value, tuple):
        parts = list(value)
    else:
        numbers.append(value)
        return Layout()
    return Layout(type(value), parts=tuple(take_apart(part, numbers) for part in parts))


def put_together(layout: Layout, numbers: Iterator[Any]) -> Any:
    """Return a structure of a layout, with numbers taken from an iterator."""
    if layout.kind is None:
        return next(numbers)
    if layout.kind is np.ndarray:
        array = np.empty(layout.shape, dtype=object)
        for place in np.ndindex(layout.shape):
            array[place] = next(numbers)
        return array
    parts = [put_together(part, numbers) for part in layout.parts]
    return tuple(parts) if layout.kind is tuple else layout.kind(*parts)


class Table:
    """Structures of one layout, in memory."""

    def __init__(self, program: Program, shape: tuple[int, ...], offset: int = 0) -> None:
        """Make a table.

        Args:
            program: the program that reads and writes it.
            shape: number of rows, or of rows and columns.
            offset: offset added to row indices.
        """
        self._program = program
        self._shape = shape
        self._offset = offset
        self._layout: Layout | None = None
        self._memories: list[Memory] = []

    def _place(self, key: Any) -> tuple[Number, ...]:
        row, *column = key if isinstance(key, tuple) else (key,)
        return row + self._offset, *column

    def __getitem__(self, key: Any) -> Any:
        assert self._layout is not None, 'nothing has been put into this table'
        place = self._place(key)
        numbers = (self._program.load(memory, place) for memory in self._memories)
        return put_together(self._layout, numbers)

    def __setitem__(self, key: Any, value: Any) -> None:
        numbers: list[Any] = []
        layout = take_apart(value, numbers)
        if self._layout is None:
            self._layout = layout
            self._memories = [self._program.memory(self._shape) for _ in numbers]
        assert layout == self._layout, 'a table holds structures of one layout'
        place = self._place(key)
        for memory, number in zip(self._memories, numbers, strict=True):
            self._program.store(memory, place, number)


class PathTable:
    """A `Table` by position on a path, or by body and position, as determined by its first use."""

    def __init__(self, program: Program, bodies: int, positions: int) -> None:
        """Make a table for a number of bodies, and a largest number of positions on a path."""
        self._program = program
        self._bodies = bodies
        self._positions = positions
        self._table: Table | None = None

    def __getitem__(self, key: Any) -> Any:
        return self._for(key)[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._for(key)[key] = value

    def _for(self, key: Hashable) -> Table:
        if self._table is None:
            rows = (self._bodies,) if isinstance(key, tuple) else ()
            self._table = Table(self._program, (*rows, self._positions))
        return self._table


class ConstantTable:
    """A table of structures of constants."""

    def __init__(self, program: Program, rows: Sequence[Any]) -> None:
        """Store a structure for each body or coordinate, all of one layout."""
        listed: list[list[Any]] = []
        for row in rows:
            listed.append([])
            self._layout = take_apart(row, listed[-1])
        self._program = program
        self._memories = [
            program.constants(tuple(float(number) for number in column))
            for column in zip(*listed, strict=True)
        ]

    def __getitem__(self, row: Number) -> Any:
        numbers = (self._program.load(memory, (row,)) for memory in self._memories)
        return put_together(self._layout, numbers)
