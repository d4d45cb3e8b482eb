# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a program with loops consists of: memories, and statements that read and change them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from kron_dynamics.kernels.loops.indices import Counter, Number

# A number for each axis of a memory.
Place = tuple[Number, ...]


@dataclass(eq=False, slots=True)
class Memory:
    """Numbers that a program reads or writes; equal only to itself.

    Attributes:
        number: memories are counted in the order in which they are made, -1 for constants.
        shape: of the array they form.
        argument: number of the argument they are, or None.
        constants: what they are where no program writes them, or None.
        state: stands for all of the present contents: equal where these are equal.
        stored: whether anything was stored.
        value: the one constant that was stored so far, or None.
        folded: whether this constant was taken where the memory was to be read.
        same: the memory that holds the same and stands for this one, or None.
        shared: whether this one stands for others.
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
    """A node's value goes to a place in memory."""

    memory: Memory
    place: Place
    node: int


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """All of a memory becomes what the source holds, or zero where there is none."""

    memory: Memory
    source: Memory | None


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Statements for every value of a counter."""

    counter: Counter
    body: list[Statement] = field(default_factory=list)


# A number is that of a node: it is computed here.
Statement = int | Store | Copy | Loop


def writers(body: Sequence[Statement]) -> Iterator[Store | Copy]:
    """Yield all that changes memory, in loops too."""
    for statement in body:
        if isinstance(statement, Loop):
            yield from writers(statement.body)
        elif not isinstance(statement, int):
            yield statement
