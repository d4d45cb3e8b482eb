# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Staged arrays of a program with loops, with the part of NumPy's interface equations use."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, NoReturn

import numpy as np

from kron_dynamics.kernels.loops.indices import Index, Number
from kron_dynamics.kernels.loops.program import Program
from kron_dynamics.kernels.loops.statements import Memory, Place
from kron_dynamics.typing import ScalarArray


class _Part(NamedTuple):
    """The part of an axis of memory that an array views."""

    axis: int
    start: int
    length: int


class StagedArray:
    """An array in a program's memory, or a view of one.

    Indexing with a number on every axis reads or writes one element; with numbers and slices, a
    small object array; indexing with slices only returns a view.

    Attributes:
        memory: the memory of its elements.
        shape: shape of the array.
    """

    __array_ufunc__ = None  # lets NumPy leave operators to this class

    def __init__(
        self, program: Program, memory: Memory, groups: Sequence[tuple[_Part, ...]] | None = None
    ) -> None:
        """View all of a memory, or merge each group of its axes into one axis."""
        if groups is None:
            groups = [(_Part(k, 0, length),) for k, length in enumerate(memory.shape)]
        self.memory = memory
        self.shape = tuple(math.prod(part.length for part in group) for group in groups)
        self._program = program
        self._groups = tuple(groups)

    # Methods that the equations need of arrays of other number systems.

    def zeros(self, shape: tuple[int, ...]) -> StagedArray:
        """Return a new array of zeros."""
        array = self._new(shape)
        self._program.fill(array.memory)
        return array

    def span(self, first: Number, stop: Number, step: int = 1) -> Iterator[Number]:
        """Record a loop over a range; yield the one index that represents all its values."""
        return self._program.loop(first, stop, step)

    # Methods that the equations need of any array.

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError('a staged array cannot be iterated over or converted to a NumPy array')

    __iter__ = __array__

    @property
    def T(self) -> StagedArray:
        """The array with its axes in reverse order."""
        return self.transpose(*reversed(range(self.ndim)))

    def transpose(self, *axes: int) -> StagedArray:
        """Return a view with the axes in another order."""
        return StagedArray(self._program, self.memory, [self._groups[axis] for axis in axes])

    def reshape(self, *shape: Any) -> StagedArray:
        """Return a view in which neighbouring axes are merged, or separate again."""
        lengths = list(shape[0] if isinstance(shape[0], tuple) else shape)
        if -1 in lengths:
            others = -math.prod(lengths)
            lengths[lengths.index(-1)] = math.prod(self.shape) // others
        parts = [part for group in self._groups for part in group]
        groups: list[tuple[_Part, ...]] = []
        for length in lengths:
            group = [parts.pop(0)] if parts else []
            while parts and math.prod(part.length for part in group) < length:
                group.append(parts.pop(0))
            groups.append(tuple(group))
        groups[-1:] = [group + tuple(parts) for group in groups[-1:]]  # axes of length one
        array = StagedArray(self._program, self.memory, groups)
        if array.shape != tuple(lengths):
            raise TypeError(f'an array of shape {self.shape} cannot have shape {tuple(lengths)}')
        return array

    def unmerged(self) -> StagedArray:
        """Return a view in which all axes are separate."""
        parts = [(part,) for group in self._groups for part in group]
        return StagedArray(self._program, self.memory, parts)

    def copy(self) -> StagedArray:
        """Return a copy of the array in new memory."""
        if not self.is_whole:
            return self._each(lambda x: x)
        array = self._new(self.shape)
        self._program.fill(array.memory, self.memory)
        return array

    @property
    def is_whole(self) -> bool:
        """Whether the array is the whole of its memory, in the memory's order."""
        parts = [part for group in self._groups for part in group]
        return parts == [_Part(k, 0, length) for k, length in enumerate(self.memory.shape)]

    def elements(self) -> ScalarArray:
        """Return all elements of a small array, same shape, as objects."""
        values = np.empty(self.shape, dtype=object)
        for place in product(*map(range, self.shape)):
            values[place] = self[place]
        return values

    # Elements.

    def __getitem__(self, key: Any) -> Any:
        keys = self._keys(key)
        if keys and all(isinstance(k, slice) for k in keys):
            return self._slice(keys)
        values, places = self._unrolled(keys)
        for position, place in places:
            values[position] = self._program.load(self.memory, place)
        return values if values.ndim else values[()]

    def __setitem__(self, key: Any, value: Any) -> None:
        values, places = self._unrolled(self._keys(key))
        values[...] = value.elements() if isinstance(value, StagedArray) else value
        for position, place in places:
            self._program.store(self.memory, place, values[position])

    def _keys(self, key: Any) -> list[Any]:
        keys = list(key) if isinstance(key, tuple) else [key]
        return keys + [slice(None)] * (self.ndim - len(keys))

    def _slice(self, keys: Sequence[slice]) -> StagedArray:
        groups = []
        for k, group, length in zip(keys, self._groups, self.shape, strict=True):
            start, stop, step = k.indices(length)
            if step != 1:
                raise TypeError('strided views are not supported in loops')
            if stop - start != length:
                (part,) = group
                group = (_Part(part.axis, part.start + start, stop - start),)
            groups.append(group)
        return StagedArray(self._program, self.memory, groups)

    def _unrolled(self, keys: Sequence[Any]) -> tuple[ScalarArray, list[tuple[Any, Place]]]:
        """Return an empty object array of the indexed shape, and its entries' places in memory."""
        ranges = [
            range(*k.indices(length)) if isinstance(k, slice) else [self._within(k, length)]
            for k, length in zip(keys, self.shape, strict=True)
        ]
        shape = tuple(len(r) for k, r in zip(keys, ranges, strict=True) if isinstance(k, slice))
        places = (self._place(numbers) for numbers in product(*ranges))
        return np.empty(shape, dtype=object), list(
            zip(product(*map(range, shape)), places, strict=True)
        )

    @staticmethod
    def _within(key: Any, length: int) -> Number:
        if isinstance(key, Index):
            return key
        if not -length <= key < length:
            raise IndexError(f'{key} is outside an axis of length {length}')
        return int(key) % length

    def _place(self, numbers: Sequence[Number]) -> Place:
        place: list[Number] = [0] * len(self.memory.shape)
        for number, group in zip(numbers, self._groups, strict=True):
            (part,) = group
            place[part.axis] = number + part.start
        return tuple(place)

    # Operations on whole arrays, recorded as loops over elements.

    def _new(self, shape: tuple[int, ...]) -> StagedArray:
        return StagedArray(self._program, self._program.memory(shape))

    def places(self) -> Iterator[tuple[Number, ...]]:
        """Record loops over all elements; yield the indices that represent all of them."""
        return _places(self._program, self.shape)

    def _each(self, function: Callable[..., Any], *others: StagedArray) -> StagedArray:
        arrays = [array.unmerged() for array in (self, *others)]
        result = self._new(arrays[0].shape)
        assert all(array.shape == result.shape for array in arrays)
        for place in result.places():
            result[place] = function(*(array[place] for array in arrays))
        return result.reshape(self.shape)

    def _with(self, function: Callable[..., Any], other: Any) -> Any:
        if isinstance(other, StagedArray) and other.shape == self.shape:
            return self._each(function, other)
        if np.ndim(other) == 0:
            return self._each(lambda x: function(x, other))
        return NotImplemented

    def __add__(self, other: Any) -> Any:
        return self._with(operator.add, other)

    def __sub__(self, other: Any) -> Any:
        return self._with(operator.sub, other)

    def __mul__(self, other: Any) -> Any:
        return self._with(operator.mul, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(operator.truediv, other)

    def __neg__(self) -> StagedArray:
        return self._each(operator.neg)

    def __matmul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return self._contracted(other)
        if not isinstance(other, StagedArray):
            return NotImplemented
        if self.ndim == 1 and other.ndim > 1:
            # Loop over the rows of the matrix first, so that memory access is contiguous.
            result = self.zeros(other.shape[1:])
            for i in self.span(0, len(self)):
                for place in _places(self._program, other.shape[1:]):
                    result[place] += self[i] * other[(i, *place)]
            return result
        result = self._new(self.shape[:-1] + other.shape[1:])
        for place in result.places():
            own, others = place[: self.ndim - 1], place[self.ndim - 1 :]
            result[place] = 0.0
            for k in self.span(0, len(other)):
                result[place] += self[(*own, k)] * other[(k, *others)]
        return result if result.ndim else result[()]

    def _contracted(self, vector: ScalarArray) -> Any:
        """Return the product with a small vector."""
        if vector.shape != self.shape[-1:]:
            return NotImplemented
        result = self._new(self.shape[:-1])
        for place in result.places():
            result[place] = self[(*place, slice(None))] @ vector
        return result if result.ndim else result[()]

    def __rmatmul__(self, matrix: ScalarArray) -> ScalarArray:
        """Return the product of a small matrix and this array, a small vector."""
        return np.asarray(matrix @ self.elements())


def _places(program: Program, shape: tuple[int, ...]) -> Iterator[tuple[Number, ...]]:
    if not shape:
        yield ()
        return
    for first in program.loop(0, shape[0]):
        for rest in _places(program, shape[1:]):
            yield first, *rest
