# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of loops by their effect on memory, independent of the numbering of nodes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from kron_dynamics.kernels.loops.indices import Counter, Index, Number
from kron_dynamics.kernels.loops.statements import Loop, Memory, Place, Statement, Store
from kron_dynamics.kernels.trace import Node


class Signature:
    """Canonical description of a loop; loops of equal keys leave equal values in their memories.

    Attributes:
        key: hashable description of the loop's statements.
        changed: the memories it changes, in the order of their first occurrence.
    """

    def __init__(self, loop: Loop, nodes: Sequence[Node], states: Mapping[Memory, int]) -> None:
        """Describe a loop that has been recorded.

        Args:
            loop: an outermost loop.
            nodes: nodes of the program.
            states: states of all memories that it reads or changes, before the loop.
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
        assert isinstance(statement, Store)  # loops contain no copies
        memory, place = self._memory(statement.memory), self._place(statement.place)
        return memory, place, self._node(statement.node)

    def _recorded(self, number: int) -> Hashable:
        operation, a, b = self._nodes[number]
        self._inside[number] = len(self._inside)
        if operation == 'load':
            return operation, self._memory(a), self._place(b)
        a, b = self._node(a), self._node(b)
        if operation in ('+', '*') and isinstance(a, int):
            a, b = b, a  # canonical order: node numbers outside the loop are arbitrary
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
