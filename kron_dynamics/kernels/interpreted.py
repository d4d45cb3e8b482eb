# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels without a C compiler: Python code for a few states, NumPy code for batches.

Identifiers in the generated code consist of fixed words and numbers: no text from a robot
description gets into it. It has no access to builtins.
"""

from __future__ import annotations

import functools
import math
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.trace import Trace, operands
from kron_dynamics.typing import FloatArray

SYMBOL = 'kron_kernel'

# Largest batch for which Python code per state is faster than NumPy calls per operation; measured.
_FEW = 20
# States per chunk: enough to hide the overhead of a NumPy call, a quarter of a microsecond. For
# long programs the size of the buffers bounds the chunk.
_LONGEST_CHUNK, _SHORTEST_CHUNK = 4096, 256
_BUFFER_BYTES = 8_000_000
_NESTING = 16  # most nested parentheses in an expression, far below the limit of the parser
_LINE = 8  # doubles in a cache line

_EXPRESSIONS = {  # of operations with one operand
    'neg': '-{}',
    'sin': 'sin({})',
    'cos': 'cos({})',
    'tanh': 'tanh({})',
}
_UFUNCS = {
    '+': 'add',
    '-': 'subtract',
    '*': 'multiply',
    '/': 'divide',
    'neg': 'negative',
    'sin': 'sin',
    'cos': 'cos',
    'tanh': 'tanh',
}


class Interpreted:
    """Runs a trace without a compiler. Every call has its own buffers, so it is thread-safe.

    Attributes:
        of_state: returns ``function(state, *rows, *outs)``, which evaluates one of the states and
            raises ValueError or ZeroDivisionError where a sine or quotient has no finite value.
    """

    def __init__(self, trace: Trace) -> None:
        """Take over a trace; the code is generated when it is first needed.

        Raises:
            KernelBuildError: a constant of the trace is not finite.
        """
        for operation, value, _ in trace.nodes:
            if operation == 'const' and not math.isfinite(value):
                raise KernelBuildError(f'a constant of the model overflows: {value}')
        # Many callers need only one of the two.
        self.of_state = functools.cache(lambda: _scalar_function(trace))
        self._batch = functools.cache(lambda: _Batch(trace))

    def __call__(self, count: int, rows: Sequence[FloatArray], outs: Sequence[FloatArray]) -> None:
        """Read rows[a], shape (count, sizes[a]), and fill outs[r], (count, elements of result r).

        All are float64 and C-contiguous. As in C, no number is an error: NaN is propagated,
        sin(inf) is NaN, x/0 is an infinity or NaN.
        """
        if count > _FEW:
            self._batch()(count, rows, outs)
            return
        function = self.of_state()
        for state in range(count):
            try:
                function(state, *rows, *outs)
            except (ValueError, ZeroDivisionError):  # sin(inf), x/0: NumPy does what C does
                arrays = [[x.reshape(count, -1)[state] for x in side] for side in (rows, outs)]
                self._batch()(1, *arrays)


def emit_scalar(trace: Trace) -> str:
    """Return Python source of ``SYMBOL(state, x0, ..., y0, ...)``: one state, on plain floats.

    The namespace has to provide sin, cos and tanh, and u0, ... and p0, ..., which unpack arguments
    and pack results; this is faster than lists and assignments to array elements.
    """
    arguments, results = range(len(trace.sizes)), range(len(trace.outputs))
    uses = Counter(k for numbers in trace.outputs for k in numbers)
    uses.update(k for node in trace.nodes for k in operands(node))
    body = []
    for a, size in enumerate(trace.sizes):
        elements = ', '.join(f'x{a}_{b}' for b in range(size))
        body.append(f'[{elements}] = u{a}(x{a}, state * {8 * size})')
    values: list[tuple[str, int]] = []  # expression and nesting of every node
    for number, (operation, a, b) in enumerate(trace.nodes):
        if operation == 'const':
            values.append((f'({a!r})', 0))
            continue
        if operation == 'input':
            values.append((f'x{a}_{b}', 0))
            continue
        first, depth = values[a]
        if b is None:
            text = _EXPRESSIONS[operation].format(first)
        else:
            second, other_depth = values[b]
            text, depth = f'{first} {operation} {second}', max(depth, other_depth)
        depth += 1
        # A value that is read once stays on the interpreter's stack instead of in a variable.
        if uses[number] == 1 and depth < _NESTING:
            values.append((f'({text})', depth))
        else:
            body.append(f't{number} = {text}')
            values.append((f't{number}', 0))
    for r, numbers in enumerate(trace.outputs):
        elements = ', '.join([f'state * {8 * len(numbers)}', *(values[k][0] for k in numbers)])
        body.append(f'p{r}(y{r}, {elements})')
    return _definition(['state', *(f'x{a}' for a in arguments), *(f'y{r}' for r in results)], body)


def emit_batch(trace: Trace) -> tuple[str, list[tuple[int, int]], int]:
    """Return Python source of ``SYMBOL(x, r, y)``: one NumPy call per operation on many states.

    x are columns of the arguments, r buffers for intermediate values, y the elements of all
    results; constant rows of y are left to the caller. The namespace has to provide NumPy's
    functions and the constants c0, ... The recorded order keeps few values alive at a time.

    Returns:
        the source; (argument, element) of each column x; the number of buffers r, each reused
        after the last read of its value.
    """
    targets: dict[int, list[int]] = {}
    for row, number in enumerate(k for numbers in trace.outputs for k in numbers):
        targets.setdefault(number, []).append(row)
    unread = Counter(k for node in trace.nodes for k in operands(node))
    inputs = [(a, b) for operation, a, b in trace.nodes if operation == 'input']
    place: dict[int, str] = {}
    free, body = list[str](), list[str]()
    registers = 0

    def store(number: int) -> str:
        nonlocal registers
        if number in targets:
            place[number] = f'y{targets[number][0]}'
        elif free:
            place[number] = free.pop()  # the buffer freed last is still in the CPU cache
        else:
            place[number] = f'r{registers}'
            registers += 1
        return place[number]

    def read(number: int) -> str:
        operation, a, b = trace.nodes[number]
        if operation == 'const':
            return f'c{number}'
        if number not in place:  # an input
            if unread[number] == 1:  # a contiguous copy does not pay for a single read
                return f'x{a}_{b}'
            body.append(f'copyto({store(number)}, x{a}_{b})')
        return place[number]

    for number, node in enumerate(trace.nodes):
        if node[0] in ('const', 'input'):
            continue
        parts = [read(k) for k in operands(node)]
        for k in operands(node):
            unread[k] -= 1
            if unread[k] == 0 and place.get(k, '').startswith('r'):
                free.append(place[k])
        body.append(f'{_UFUNCS[node[0]]}({", ".join([*parts, store(number)])})')
    for number, (_, *others) in targets.items():
        if trace.nodes[number][0] != 'const':
            first = read(number)
            body += [f'copyto(y{row}, {first})' for row in others]
    heads = [
        f'[{", ".join(f"x{a}_{b}" for a, b in inputs)}] = x',
        f'[{", ".join(f"r{k}" for k in range(registers))}] = r',
        f'[{", ".join(f"y{k}" for k in range(sum(map(len, trace.outputs))))}] = y',
    ]
    return _definition(['x', 'r', 'y'], heads + body), inputs, registers


class _Batch:
    """Evaluates a trace for batches, in chunks of states; every value is a contiguous row."""

    def __init__(self, trace: Trace) -> None:
        source, self._inputs, self._registers = emit_batch(trace)
        namespace = {name: getattr(np, name) for name in (*_UFUNCS.values(), 'copyto')}
        for number, (operation, value, _) in enumerate(trace.nodes):
            if operation == 'const':  # NumPy handles a 0-d array faster than a float
                namespace[f'c{number}'] = np.array(value)
        self._function = _function(source, namespace)
        self._sizes = trace.sizes
        self._widths = [len(numbers) for numbers in trace.outputs]
        rows = [trace.nodes[k] for numbers in trace.outputs for k in numbers]
        self._constants = [
            (self._registers + row, node[1]) for row, node in enumerate(rows) if node[0] == 'const'
        ]
        self._height = self._registers + len(rows)
        fitting = _BUFFER_BYTES // (8 * max(1, self._height))
        self._chunk = min(max(fitting, _SHORTEST_CHUNK), _LONGEST_CHUNK)

    def __call__(self, count: int, rows: Sequence[FloatArray], outs: Sequence[FloatArray]) -> None:
        tables = [row.reshape(count, n) for row, n in zip(rows, self._sizes, strict=True)]
        results = [out.reshape(count, n) for out, n in zip(outs, self._widths, strict=True)]
        length = -(-count // -(-count // self._chunk))  # chunks of equal length
        # The row stride is an odd number of cache lines. With powers of two, rows evict each other
        # from the CPU cache, and writing results takes up to six times as long.
        buffer = np.empty((self._height, (-(-length // _LINE) | 1) * _LINE))
        for row, value in self._constants:
            buffer[row] = value
        with np.errstate(all='ignore'):
            for start in range(0, count, length):
                stop = min(start + length, count)
                live = buffer[:, : stop - start]
                columns = [tables[a][start:stop, b] for a, b in self._inputs]
                self._function(columns, live[: self._registers], live[self._registers :])
                first = self._registers
                for result, width in zip(results, self._widths, strict=True):
                    result[start:stop] = live[first : first + width].T
                    first += width


def _scalar_function(trace: Trace) -> Callable[..., None]:
    namespace: dict[str, Any] = {'sin': math.sin, 'cos': math.cos, 'tanh': math.tanh}
    for a, size in enumerate(trace.sizes):
        namespace[f'u{a}'] = struct.Struct(f'{size}d').unpack_from
    for r, numbers in enumerate(trace.outputs):
        namespace[f'p{r}'] = struct.Struct(f'{len(numbers)}d').pack_into
    return _function(emit_scalar(trace), namespace)


def _definition(parameters: Sequence[str], body: Sequence[str]) -> str:
    return f'def {SYMBOL}({", ".join(parameters)}):\n    ' + '\n    '.join(body) + '\n'


def _function(source: str, namespace: dict[str, Any]) -> Callable[..., None]:
    scope = {**namespace, '__builtins__': {}}
    exec(compile(source, '<kernel>', 'exec'), scope)
    function: Callable[..., None] = scope[SYMBOL]
    return function
