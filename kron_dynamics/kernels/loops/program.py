# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Recording of a program with loops: its statements, its memories and their contents.

As in a `Graph`, equal operations are recorded once. An operation is placed in the outermost loop
in which its operands are defined, which moves loop-invariant code out of loops. A loop that
computes what an earlier one has left in memory is dropped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kron_dynamics.kernels.loops.indices import (
    Counter,
    Index,
    Number,
    between,
    level_of,
    values_of,
)
from kron_dynamics.kernels.loops.signature import Signature
from kron_dynamics.kernels.loops.statements import Copy, Loop, Memory, Place, Statement, Store
from kron_dynamics.kernels.trace import Graph, Node, Scalar


@dataclass(slots=True)
class InvalidAssumptions:
    """Assumptions that turned out to be false; the next recording avoids them.

    Attributes:
        varying: numbers of memories assumed constant that hold different values.
        own: numbers of memories that are changed although they replaced others or were replaced.
    """

    varying: set[int] = field(default_factory=set)
    own: set[int] = field(default_factory=set)


class Program(Graph):
    """The statements recorded so far.

    Attributes:
        body: statements outside all loops.
        nodes: as in a `Graph`; ('load', memory, place) is a number read from memory.
        is_sound: whether all assumptions have held so far.
    """

    def __init__(self, findings: InvalidAssumptions) -> None:
        """Start empty, with the findings of earlier recordings of the same function."""
        super().__init__()
        self.body: list[Statement] = []
        self.is_sound = True
        self._findings = findings
        self._memories: list[Memory] = []
        self._constants: dict[tuple[float, ...], Memory] = {}
        self._states: dict[Hashable, int] = {}
        # Statements and known nodes by level: the number of enclosing loops.
        self._open: list[list[Statement]] = [self.body]
        self._known_here: list[dict[Hashable, int]] = [{}]
        self._loops: list[Loop] = []
        # By number of a node: its level and the block of statements that contains it.
        self._homes: list[tuple[int, list[Statement]]] = []
        # States of memories before the outermost open loop; results of the loops before it.
        self._before: dict[Memory, int] = {}
        self._done: dict[Hashable, list[tuple[Memory, int]]] = {}

    # Memories.

    def memory(self, shape: tuple[int, ...], argument: int | None = None) -> Memory:
        """Return the memory of an argument, or new uninitialized memory."""
        memory = Memory(len(self._memories), shape, argument)
        memory.state = self._state('new' if argument is None else argument, shape)
        self._memories.append(memory)
        return memory

    def constants(self, values: tuple[float, ...]) -> Memory:
        """Return a memory of constants; equal constants share one."""
        if values not in self._constants:
            self._constants[values] = Memory(-1, (len(values),), constants=values)
        return self._constants[values]

    def standing_for(self, memory: Memory) -> Memory:
        """Return the memory that replaces this one, or this one itself."""
        while memory.same is not None:
            memory = memory.same
        return memory

    def _state(self, *key: Hashable) -> int:
        return self._states.setdefault(key, len(self._states))

    # Nodes.

    def _add(self, node: Node) -> int:
        operation, a, b = node
        known = () if operation == 'const' else (a,) if b is None else (a, b)
        return self._stand(node, node, max((self._level(x) for x in known), default=0))

    def _level(self, number: int) -> int:
        """Return the level of a node, which must be in an open block."""
        level, home = self._homes[number]
        if level >= len(self._open) or self._open[level] is not home:
            raise RuntimeError('a value computed in a loop is used after the end of the loop')
        return level

    def _stand(self, key: Hashable, node: Node, level: int) -> int:
        """Return the number of a node; add it to the block of a level if its key is new."""
        number = self._known_here[level].get(key)
        if number is None:
            number = self._known_here[level][key] = len(self.nodes)
            self.nodes.append(node)
            self._homes.append((level, self._open[level]))
            if node[0] != 'const':
                self._open[level].append(number)
        return number

    # Reading and writing.

    def load(self, memory: Memory, place: Place) -> Any:
        """Read a number from memory; return a float if it is known."""
        memory = self.standing_for(memory)
        if memory.constants is not None:
            entries = {memory.constants[k] for k in values_of(place[0])}
            if len(entries) == 1:
                return entries.pop()
        elif memory.argument is None:
            if memory.value is not None and memory.number not in self._findings.varying:
                memory.folded = True
                return memory.value
            self._touch(memory)
            # Not moved out of the loop, as later statements in the loop may change it.
            level = len(self._loops)
            key = self._contents(memory, place)
            return Scalar(self, self._stand(key, ('load', memory, place), level))
        level = max(map(level_of, place), default=0)
        return Scalar(self, self._stand((memory, place), ('load', memory, place), level))

    def store(self, memory: Memory, place: Place, value: Any) -> None:
        """Write a number to memory."""
        memory = self._own(memory)
        node = value.number if isinstance(value, Scalar) else self.constant(float(value))
        self._level(node)
        self._take_note(memory, self.value(node))
        self._open[-1].append(Store(memory, place, node))
        if self._loops:  # a new state each time: the contents depend on the iteration
            memory.state = self._state('stored', len(self._states))
        else:
            memory.state = self._state(memory.state, place, node)
        self._known_here[-1][self._contents(memory, place)] = node

    def fill(self, memory: Memory, source: Memory | None = None) -> None:
        """Copy another memory to new memory, or fill it with zeros; outside loops only."""
        assert not self._loops
        memory = self._own(memory)
        source = None if source is None else self.standing_for(source)
        self._take_note(memory, 0.0 if source is None else None)
        self._open[-1].append(Copy(memory, source))
        memory.state = self._state('zero', memory.shape) if source is None else source.state

    def _contents(self, memory: Memory, place: Place) -> Hashable:
        """Return a key of the present value at a place.

        In a loop it includes the memory, as memories that are equal now may differ later.
        """
        return 'load', memory if self._loops else None, memory.state, place

    def _touch(self, memory: Memory) -> None:
        if self._loops:
            self._before.setdefault(memory, memory.state)

    def _own(self, memory: Memory) -> Memory:
        """Return the memory to write to; it must not replace others or be replaced."""
        target = self.standing_for(memory)
        if target is not memory or target.shared:
            self.is_sound = False
            self._findings.own |= {
                m.number for m in self._memories if self.standing_for(m) is target
            }
        self._touch(target)
        return target

    def _take_note(self, memory: Memory, value: float | None) -> None:
        """Update whether all values stored so far are the same constant."""
        if value is None or (memory.stored and memory.value != value):
            memory.value = None
            self._findings.varying.add(memory.number)
            self.is_sound &= not memory.folded
        elif not memory.stored:
            memory.value = value
        memory.stored = True

    # Loops.

    def loop(self, first: Number, stop: Number, step: int = 1) -> Iterator[Index]:
        """Record a loop while it is iterated over: it yields one index for all iterations.

        Nothing is recorded if the loop has no iterations.
        """
        values = between(first, stop, step)
        if len(values) == 0:
            return
        loop = Loop(Counter(len(self._open), first, stop, step, values))
        self._loops.append(loop)
        self._open.append(loop.body)
        self._known_here.append({})
        yield Index(loop.counter)
        assert self._loops.pop() is loop, 'loops end in the order in which they are nested'
        self._open.pop()
        self._known_here.pop()
        if self._loops or not self._is_done(loop):
            self._open[-1].append(loop)
        if not self._loops:
            self._before = {}

    def _is_done(self, loop: Loop) -> bool:
        """Return whether other memories already hold a loop's results; they replace its own."""
        signature = Signature(loop, self.nodes, self._before)
        after = [(memory, memory.state) for memory in signature.changed]
        earlier = self._done.setdefault(signature.key, after)
        if earlier is after:
            return not after  # a loop that changes nothing can be dropped
        pairs = [(memory, *other) for memory, other in zip(after, earlier, strict=True)]
        is_there = True
        for (memory, _), other, state in pairs:
            memory.state = state
            is_there &= self.standing_for(other).state == state
            is_there &= self._findings.own.isdisjoint((memory.number, other.number))
        if is_there:
            for (memory, _), other, _ in pairs:
                target = self.standing_for(other)
                if target is not memory:
                    memory.same, target.shared = target, True
        return is_there
