# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A program with loops while it is recorded: its statements, its memories, what they hold.

As in a `Graph`, equal operations are written once; an operation stands in the outermost loop that
knows its operands, so what does not change in a loop is computed before it. A loop that computes
what an earlier one has left in memory is not recorded again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kron_dynamics.kernels.loop_indices import (
    Counter,
    Index,
    Number,
    between,
    level_of,
    values_of,
)
from kron_dynamics.kernels.loop_signature import signature
from kron_dynamics.kernels.trace import Graph, Node, Scalar

Place = tuple[Number, ...]


@dataclass(eq=False, slots=True)
class Memory:
    """Numbers that a program reads or writes.

    Attributes:
        number: memories are counted in the order in which they are made.
        shape: of the array they form; an index has one number for each of its axes.
        argument: number of the argument they are, or None.
        constants: what they are where the program does not write them, or None.
        state: a number that stands for all of the present contents.
        value: the constant that every store wrote so far, None where they differ.
        stored: whether anything was stored.
        folded: whether the constant was taken for a load.
        same: the memory that holds the same and stands for this one, or None.
        shared: whether this one stands for others.
    """

    number: int
    shape: tuple[int, ...]
    argument: int | None = None
    constants: tuple[float, ...] | None = None
    state: int = 0
    value: float | None = None
    stored: bool = False
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
    """All of a memory becomes what another holds, or zero where that is None."""

    memory: Memory
    source: Memory | None


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """Statements for every value of a counter: nodes by their number, and what changes memory."""

    counter: Counter
    body: list[Statement] = field(default_factory=list)


Statement = int | Store | Copy | Loop


@dataclass(slots=True)
class Findings:
    """What recording found to be false, by number of a memory: it begins anew and knows better.

    Attributes:
        varying: not the same constant in every store.
        own: written after a loop found it equal to another memory.
    """

    varying: set[int] = field(default_factory=set)
    own: set[int] = field(default_factory=set)


class Program(Graph):
    """The statements recorded so far.

    Attributes:
        body: statements outside all loops.
        nodes: of the statements, as in a `Graph`; a load is ('load', memory, place).
        sound: whether all that was taken for granted has turned out to be true.
    """

    def __init__(self, findings: Findings) -> None:
        """Start empty."""
        super().__init__()
        self.body: list[Statement] = []
        self.sound = True
        self._findings = findings
        self._memories: list[Memory] = []
        self._constants: dict[tuple[float, ...], Memory] = {}
        self._open: list[list[Statement]] = [self.body]
        self._loops: list[Loop] = []
        self._scopes: list[dict[Hashable, int]] = [{}]
        self._homes: list[tuple[int, list[Statement]]] = []
        self._states: dict[Hashable, int] = {}
        self._entered: dict[Memory, int] = {}  # states before the outermost open loop
        self._done: dict[Hashable, list[tuple[Memory, int]]] = {}

    def memory(self, shape: tuple[int, ...], argument: int | None = None) -> Memory:
        """Return memory for an argument, or new memory with anything in it."""
        memory = Memory(len(self._memories), shape, argument)
        memory.state = self._state(('new', shape) if argument is None else ('in', argument))
        self._memories.append(memory)
        return memory

    def constants(self, values: tuple[float, ...]) -> Memory:
        """Return memory that holds constants."""
        if values not in self._constants:
            shape = (len(values),)
            self._constants[values] = Memory(-1, shape, constants=values)
        return self._constants[values]

    def same(self, memory: Memory) -> Memory:
        """Return the memory that stands for another, or the other."""
        while memory.same is not None:
            memory = memory.same
        return memory

    def _state(self, key: Hashable) -> int:
        return self._states.setdefault(key, len(self._states))

    # Nodes.

    def _add(self, node: Node) -> int:
        operation, a, b = node
        if operation == 'const':
            return self._place(node, node, 0)
        return self._place(node, node, max(self._level(x) for x in (a, b) if x is not None))

    def _level(self, number: int) -> int:
        """The level of a node, which must be known here."""
        level, home = self._homes[number]
        if level >= len(self._open) or self._open[level] is not home:
            raise RuntimeError('a value of a loop was used after its end')
        return level

    def _place(self, key: Hashable, node: Node, level: int) -> int:
        number = self._scopes[level].get(key)
        if number is None:
            number = self._scopes[level][key] = len(self.nodes)
            self.nodes.append(node)
            self._homes.append((level, self._open[level]))
            if node[0] != 'const':
                self._open[level].append(number)
        return number

    # Memory.

    def load(self, memory: Memory, place: Place) -> Any:
        """Return a number from memory: a float where it is a constant."""
        memory = self.same(memory)
        level = max((level_of(x) for x in place), default=0)
        if memory.constants is not None:
            values = memory.constants
            there = {values[k] for k in values_of(place[0])}
            if len(there) == 1:
                return there.pop()
            return Scalar(self, self._place((memory, place), ('load', memory, place), level))
        if memory.argument is None:
            if memory.value is not None and memory.number not in self._findings.varying:
                memory.folded = True
                return memory.value
            # A store further on in a loop may change it.
            level = len(self._loops)
            self._enter(memory)
        key = ('load', memory.state, place)
        return Scalar(self, self._place(key, ('load', memory, place), level))

    def store(self, memory: Memory, place: Place, value: Any) -> None:
        """Put a number into memory."""
        memory = self._written(memory)
        node = value.number if isinstance(value, Scalar) else self.constant(float(value))
        self._level(node)
        self._see(memory, self.value(node))
        self._open[-1].append(Store(memory, place, node))
        if self._loops:
            memory.state = self._state(('store', len(self._states)))
        else:
            memory.state = self._state(('store', memory.state, place, node))
        self._scopes[-1]['load', memory.state, place] = node

    def fill(self, memory: Memory, source: Memory | None = None) -> None:
        """Copy another memory, or zeros, into a new one; outside loops."""
        assert not self._loops
        memory = self._written(memory)
        source = None if source is None else self.same(source)
        self._see(memory, 0.0 if source is None else source.value)
        if source is not None and source.value is not None:
            source.folded = True
        memory.state = self._state(('zeros', memory.shape)) if source is None else source.state
        self._open[-1].append(Copy(memory, source))

    def _written(self, memory: Memory) -> Memory:
        """The memory itself, which is going to change."""
        if memory.same is not None or memory.shared:
            self.sound = False
            target = self.same(memory)
            self._findings.own |= {m.number for m in self._memories if self.same(m) is target}
        memory = self.same(memory)
        self._enter(memory)
        return memory

    def _see(self, memory: Memory, value: float | None) -> None:
        """Remember whether all stores agree on a constant."""
        if value is None or (memory.stored and memory.value != value):
            memory.value = None
            self._findings.varying.add(memory.number)
            if memory.folded:
                self.sound = False
        elif not memory.stored:
            memory.value = value
        memory.stored = True

    # Loops.

    def loop(self, first: Number, stop: Number, step: int = 1) -> Iterator[Index]:
        """Record a loop while it is iterated over: it yields one number that stands for all.

        Nothing is recorded where the loop never runs.
        """
        values = between(first, stop, step)
        if len(values) == 0:
            return
        level = len(self._loops) + 1
        loop = Loop(Counter(level, first, stop, step, values))
        self._loops.append(loop)
        self._open.append(loop.body)
        self._scopes.append({})
        yield Index(loop.counter)
        assert self._loops[-1] is loop, 'loops must end in the order in which they are nested'
        self._loops.pop()
        self._open.pop()
        self._scopes.pop()
        if self._loops or not self._is_known(loop):
            self._open[-1].append(loop)
        if not self._loops:
            self._entered = {}

    def _enter(self, memory: Memory) -> None:
        if self._loops:
            self._entered.setdefault(memory, memory.state)

    def _is_known(self, loop: Loop) -> bool:
        """Whether what a loop leaves in memory stands already in another, which takes its place."""
        changed = [m for m, state in self._entered.items() if m.state != state]
        key = signature(loop, self.nodes, self._entered, set(changed))
        if key not in self._done:
            self._done[key] = [(memory, memory.state) for memory in changed]
            return False
        before = self._done[key]
        known = True
        for memory, (other, state) in zip(changed, before, strict=True):
            memory.state = state
            other = self.same(other)
            known &= other.state == state and not {memory.number, other.number} & (
                self._findings.own
            )
        if known:
            for memory, (other, _) in zip(changed, before, strict=True):
                target = self.same(other)
                if target is not memory:
                    memory.same, target.shared = target, True
        return known
