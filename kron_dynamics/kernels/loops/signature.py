# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a loop does to memory, whatever the numbers of its nodes and memories are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from kron_dynamics.kernels.loops.indices import Counter, Index, Number
from kron_dynamics.kernels.loops.statements import Loop, Memory, Place, Statement, Store
from kron_dynamics.kernels.trace import Node


class Signature:
    """A description of a loop; loops with equal keys leave equal numbers in their memories.

    Attributes:
        key: what the loop does.
        changed: the memories it changes, in the order in which it comes to them.
    """

    def __init__(self, loop: Loop, nodes: Sequence[Node], states: Mapping[Memory, int]) -> None:
        """Describe a loop that has been recorded.

        Args:
            loop: an outermost one.
            nodes: of the program.
            states: of all memories that it reads or changes, as they were before it.
        """
        self._nodes = nodes
        self._states = states
        self._counters: dict[Counter, int] = {}
        self._inside: dict[int, int] = {}
        self._changed: dict[Memory, int] = {}
        self.key = self._statement(loop)
        self.changed = list(self._changed)

    def _statement(self, statement: Statement) -> Hashable:
        if isinstance(statement, int):
            return self._recorded(statement)
        if isinstance(statement, Loop):
            counter = statement.counter
            self._counters[counter] = len(self._counters)
            bounds = self._number(counter.first), self._number(counter.stop), counter.step
            return bounds, tuple(self._statement(inner) for inner in statement.body)
        assert isinstance(statement, Store)  # nothing is copied in a loop
        memory, place = self._memory(statement.memory), self._place(statement.place)
        return memory, place, self._node(statement.node)

    def _recorded(self, number: int) -> Hashable:
        operation, a, b = self._nodes[number]
        self._inside[number] = len(self._inside)
        if operation == 'load':
            return operation, self._memory(a), self._place(b)
        a, b = self._node(a), self._node(b)
        if operation in ('+', '*') and isinstance(a, int):
            a, b = b, a  # in the order of their numbers: those of nodes outside may be any
        return operation, a, b

    def _node(self, number: int | None) -> Hashable:
        return ('inside', self._inside[number]) if number in self._inside else number

    def _memory(self, memory: Memory) -> Hashable:
        if memory not in self._states:  # an argument or constants
            return memory
        if self._states[memory] == memory.state:
            return 'unchanged', memory.state
        return self._changed.setdefault(memory, len(self._changed)), self._states[memory]

    def _place(self, place: Place) -> Hashable:
        return tuple(self._number(number) for number in place)

    def _number(self, number: Number) -> Hashable:
        if not isinstance(number, Index):
            return number
        if isinstance(number.atom, Counter):
            return self._counters[number.atom], number.scale, number.offset
        return number.atom.table, self._place(number.atom.places), number.scale, number.offset
