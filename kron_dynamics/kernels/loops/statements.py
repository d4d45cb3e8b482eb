# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Elements of a program with loops: memories, and statements that read and change them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kron_dynamics.kernels.loops.indices import Counter, Number

# Position of an element in a memory: an index for each axis.
Place = tuple[Number, ...]


@dataclass(eq=False, slots=True)
class Memory:
    """An array that a program reads or writes; compared by identity.

    Attributes:
        number: index in the order of creation; -1 for constants.
        shape: shape of the array.
        argument: index of the argument that the memory is, or None.
        constants: the values if the memory is a table of constants, or None.
        state: identifies the present contents; equal states mean equal contents.
        stored: whether anything has been stored.
        value: the constant, if all values stored so far equal it, or None.
        folded: whether this constant has replaced a read of the memory.
        same: memory with the same contents that replaces this one, or None.
        shared: whether this memory replaces others.
    """

    number: int
    shape: tuple[int, ...]
    argument: int | None = None
    constants: tuple[float, ...] | None = None
    state: int = 0
    stored: bool = False
    value: float | None = None
    folded: bool = False
    same: Memory | None = None
    shared: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """Stores a node's value at a place in memory."""

    memory: Memory
    place: Place
    node: int


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """Copies a whole memory from a source, or fills it with zeros if there is none."""

    memory: Memory
    source: Memory | None


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Runs statements for every value of a counter."""

    counter: Counter
    body: list[Statement] = field(default_factory=list)


# An integer is the number of a node, which is computed at this point.
Statement = int | Store | Copy | Loop


def writers(body: Sequence[Statement]) -> Iterator[Store | Copy]:
    """Yield all statements that change memory, including those in loops."""
    for statement in body:
        if isinstance(statement, Loop):
            yield from writers(statement.body)
        elif not isinstance(statement, int):
            yield statement
