# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""C statements of a trace with loops, for one state (double) or one state per SIMD lane (wide)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod

from kron_dynamics.kernels.fused import fused_products, multiply_add, negated
from kron_dynamics.kernels.loops.analysis import is_independent
from kron_dynamics.kernels.loops.indices import Counter, Entry, Index, Number, Numbers
from kron_dynamics.kernels.loops.statements import Copy, Loop, Memory, Place, Statement, Store
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.prelude import WIDE_ANGLES, literal
from kron_dynamics.kernels.trace import Node, operands


class Tables:
    """The static tables of a kernel: constants of the model, and indices of its tree."""

    def __init__(self, prefix: str, real: str = 'double') -> None:
        """Start empty; names begin with the prefix, constants have the type `real`."""
        self._prefix = prefix
        self._real = real
        self._constants: dict[Memory, str] = {}
        self._numbers: dict[Numbers, str] = {}

    def constants(self, memory: Memory) -> str:
        """Return the name of a table of constants."""
        return self._constants.setdefault(memory, f'{self._prefix}_d{len(self._constants)}')

    def numbers(self, table: Numbers) -> str:
        """Return the name of a table of integers."""
        return self._numbers.setdefault(table, f'{self._prefix}_p{len(self._numbers)}')

    def declarations(self) -> Iterator[str]:
        """Yield a declaration for each table whose name was requested."""
        for memory, name in self._constants.items():
            values = ', '.join(literal(value, self._real) for value in memory.constants or ())
            yield f'static const {self._real} {name}[] = {{{values}}};'
        for table, name in self._numbers.items():
            values = ', '.join(map(str, table.values.flat))
            yield f'static const int {name}[] = {{{values}}};'


class Code:
    """The C statements of a trace for one number type.

    Attributes:
        real: the type, 'double', 'float' or 'wide'.
        work: memories other than arguments and results; complete after `lines`.
    """

    def __init__(self, trace: LoopTrace, tables: Tables, real: str) -> None:
        """Prepare to write a trace; its static tables are shared with other code."""
        self.real = real
        self.work: list[Memory] = []
        # Type of values that are the same in all lanes.
        self._scalar = 'double' if real == 'wide' else real
        self._trace = trace
        self._nodes = trace.nodes
        self._tables = tables
        self._names = {memory: f'y{r}' for r, memory in enumerate(trace.results)}
        self._counters: dict[Counter, str] = {}
        computed, stored = _computed_and_stored(trace.body, trace.nodes)
        # Of two products in a sum the earlier one, which is faster in loops; their order depends
        # on nothing else, as a trace with loops is recorded alone.
        self._fused = fused_products(trace.nodes, computed, stored, lambda number: -number)
        self._same_in_all_states: set[int] = set()
        for number, node in enumerate(self._nodes):
            if node[0] == 'load':
                known = node[1].constants is not None
            else:
                known = all(k in self._same_in_all_states for k in operands(node))
            if known:
                self._same_in_all_states.add(number)

    def lines(self) -> Iterator[str]:
        """Yield the statements."""
        return self._statements(self._trace.body, {})

    def name(self, memory: Memory) -> str:
        """Return the name of a memory."""
        if memory.constants is not None:
            return self._tables.constants(memory)
        if memory.argument is not None:
            return f'x{memory.argument}'
        if memory not in self._names:
            self._names[memory] = f'm{len(self.work)}'
            self.work.append(memory)
        return self._names[memory]

    def _statements(
        self,
        body: Sequence[Statement],
        sines: dict[int, str],
        only: Collection[int] | None = None,
        without: Collection[int] = (),
    ) -> Iterator[str]:
        """Yield the lines of a block.

        Args:
            body: statements of the block.
            sines: angles with computed sines, by node: the index in the loop's arrays of sines,
                or '' for local variables such as s7 and c7 of node 7.
            only: write only these nodes, and nothing else; None writes all statements.
            without: nodes to leave out.
        """
        for statement in body:
            if isinstance(statement, int):
                is_left_out = statement in without or statement in self._fused.products
                if not is_left_out and (only is None or statement in only):
                    yield from self._node(statement, sines)
            elif only is not None:
                continue
            elif isinstance(statement, Store):
                value = self._typed_operand(statement.node, self.real)
                yield f'{self._element(statement.memory, statement.place)} = {value};'
            elif isinstance(statement, Copy):
                yield self._copy(statement)
            else:
                yield from self._loop(statement)

    def _copy(self, statement: Copy) -> str:
        target, size = self.name(statement.memory), prod(statement.memory.shape)
        if statement.source is None:
            return f'memset({target}, 0, {size} * sizeof({self.real}));'
        return f'memcpy({target}, {self.name(statement.source)}, {size} * sizeof({self.real}));'

    def _loop(self, loop: Loop) -> Iterator[str]:
        counter = loop.counter
        i = self._counters[counter] = f'i{len(self._counters)}'
        first, stop = self._number(counter.first), self._number(counter.stop)
        compare, advance = ('<', '++') if counter.step > 0 else ('>', '--')
        head = f'for (ptrdiff_t {i} = {first}; {i} {compare} {stop}; {advance}{i}) {{'
        angles, before = self._angles(loop)
        for angle in angles:
            # Compute all angles of the loop first, then their sines and cosines as vectors.
            yield f'{self.real} a{angle}[{stop}], u{angle}[{stop}], v{angle}[{stop}];'
            yield head
            yield from self._statements(loop.body, {}, before)
            yield f'a{angle}[{i}] = {self._operand(angle)};\n}}'
            yield f'sincos_all(a{angle}, u{angle}, v{angle}, {stop});'
        if self.real != 'wide' and is_independent(loop, self._nodes):
            yield 'ANY_ORDER'
        yield head
        without = before - _read(loop.body, self._nodes, angles, before)
        yield from self._statements(loop.body, {angle: i for angle in angles}, without=without)
        yield '}'

    def _angles(self, loop: Loop) -> tuple[list[int], set[int]]:
        """Return the angles of a loop that can be computed before it, and the nodes they need."""
        counter, nodes = loop.counter, [s for s in loop.body if isinstance(s, int)]
        taken = {self._nodes[k][1] for k in nodes if self._nodes[k][0] in ('sin', 'cos')}
        from_zero = counter.first == 0 and isinstance(counter.stop, int) and counter.step == 1
        if self.real == 'wide' or not from_zero or len(counter.values) < WIDE_ANGLES:
            return [], set()
        before = set(taken)
        for k in reversed(nodes):
            if k in before:
                operation, memory, _ = self._nodes[k]
                if operation in ('sin', 'cos') or (
                    operation == 'load' and memory.argument is None and memory.constants is None
                ):
                    return [], set()
                before.update(operands(self._nodes[k]) if operation != 'load' else ())
        return sorted(taken), before

    def _node(self, number: int, sines: dict[int, str]) -> Iterator[str]:
        operation, a, b = self._nodes[number]
        real = self._scalar if number in self._same_in_all_states else self.real
        if operation == 'load':
            text = self._element(a, b)
        elif operation == 'neg':
            text = negated(self._fused, a, self._operand(a))
        elif operation == 'tanh':
            text = f'tanh_{real}({self._operand(a)})'
        elif operation in ('sin', 'cos'):
            if a not in sines:
                sines[a] = ''
                kind = 'wide' if real == 'wide' else 'one'
                yield f'{real} s{a}, c{a};'
                yield f'sincos_{kind}({self._operand(a)}, &s{a}, &c{a});'
            elif sines[a]:
                letter = 'u' if operation == 'sin' else 'v'
                yield f'const {real} t{number} = {letter}{a}[{sines[a]}];'
                return
            text = f'{operation[0]}{a}'
        elif number in self._fused.sums:
            text = multiply_add(real, self._fused, number, lambda k: self._typed_operand(k, real))
        else:
            text = f'{self._operand(a)} {operation} {self._operand(b)}'
        yield f'const {real} t{number} = {text};'

    def _operand(self, number: int) -> str:
        operation, value, _ = self._nodes[number]
        return literal(value, self._scalar) if operation == 'const' else f't{number}'

    def _typed_operand(self, number: int, real: str) -> str:
        """Return the text of a node's value, with one copy per lane where the type is 'wide'."""
        text = self._operand(number)
        return (
            f'same_wide({text})' if real == 'wide' and number in self._same_in_all_states else text
        )

    def _element(self, memory: Memory, place: Place) -> str:
        return f'{self.name(memory)}[{self._position(place, memory.shape)}]'

    def _position(self, place: Place, shape: Sequence[int]) -> str:
        """Return the row-major offset of an element."""
        terms, known = [], 0
        for axis, number in enumerate(place):
            stride = prod(shape[axis + 1 :])
            if isinstance(number, int):
                known += stride * number
            else:
                text = self._number(number)
                terms.append(text if stride == 1 else f'({text}) * {stride}')
        return ' + '.join([*terms, str(known)] if known or not terms else terms)

    def _number(self, number: Number) -> str:
        if not isinstance(number, Index):
            return str(number)
        if isinstance(number.atom, Entry):
            table = number.atom.table
            position = self._position(number.atom.places, table.values.shape)
            text = f'{self._tables.numbers(table)}[{position}]'
        else:
            text = self._counters[number.atom]
        if number.scale != 1:
            text = f'{text} * {number.scale}'
        return f'{text} + {number.offset}' if number.offset else text


def _computed_and_stored(
    body: Sequence[Statement], nodes: Sequence[Node]
) -> tuple[list[int], set[int]]:
    """Return the nodes that a block computes (reads of memory left out), and those it stores."""
    computed, stored = list[int](), set[int]()
    for statement in body:
        if isinstance(statement, Loop):
            inner_computed, inner_stored = _computed_and_stored(statement.body, nodes)
            computed += inner_computed
            stored |= inner_stored
        elif isinstance(statement, Store):
            stored.add(statement.node)
        elif isinstance(statement, int) and nodes[statement][0] != 'load':
            computed.append(statement)
    return computed, stored


def _read(
    body: Sequence[Statement], nodes: Sequence[Node], taken: Collection[int], before: set[int]
) -> set[int]:
    """Return the nodes that a block reads when the sines of some angles are known already.

    `before` are the nodes that these angles depend on; one that nothing else reads is not
    computed in the block and reads nothing itself.
    """
    read: set[int] = set()
    for statement in reversed(body):
        if isinstance(statement, Loop):
            read |= _read(statement.body, nodes, taken, set())
        elif isinstance(statement, Store):
            read.add(statement.node)
        elif isinstance(statement, int) and (statement not in before or statement in read):
            operation, a, _ = nodes[statement]
            if operation != 'load' and not (operation in ('sin', 'cos') and a in taken):
                read.update(operands(nodes[statement]))
    return read
