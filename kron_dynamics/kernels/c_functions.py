# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""C functions of one state for export: no heap, no external names besides the given ones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from kron_dynamics.kernels.emit import one_state, parameters, providers, with_results_of
from kron_dynamics.kernels.loops.code import Tables
from kron_dynamics.kernels.loops.emit import LOOP_MACROS, function_of_one_state, memory_size
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.prelude import scalar_prelude
from kron_dynamics.kernels.trace import Trace

# Most bytes of local arrays in a function; larger ones go into a workspace of the caller.
_ARRAYS = 4096
# Bytes of stack for calls of the C library, saved registers and addresses.
_CALLS = 2048
# Most numbers in a vector register, for loops that the compiler vectorizes.
_VECTOR = 8
_DECLARED = re.compile(r'^\s*(?:const )?(?:double|float) (.*?)(?: =|;)', re.MULTILINE)
_LENGTH = re.compile(r'\w+\[(\d+)\]')


class CFunction(NamedTuple):
    """The source of a function.

    Attributes:
        text: its definition, with the tables that it reads.
        workspace: length of the array that the caller passes as the last argument, 0 for none.
        stack: upper bound of its use of the stack, bytes, for any compiler.
    """

    text: str
    workspace: int
    stack: int


def foundation(traces: Sequence[Trace | LoopTrace], real: str) -> str:
    """Return the C prelude that functions of some traces need; `real` is 'double' or 'float'."""
    has_loops = any(isinstance(trace, LoopTrace) for trace in traces)
    return scalar_prelude(real) + (LOOP_MACROS if has_loops else '')


def c_functions(traces: Mapping[str, Trace | LoopTrace], real: str) -> dict[str, CFunction]:
    """Return functions of one state by their names; they may call each other.

    ``void name(const real *x0, const real *x1, real *y0, real *workspace)`` evaluates a trace;
    arrays are row-major and must not overlap. The text is C99, and also C++ if `restrict` is
    defined; it has to follow the `foundation` and declarations of all functions.

    Args:
        traces: traces to evaluate, by name of the function; traces of one graph share work.
        real: the type of numbers, 'double' or 'float'.
    """
    names, members = list(traces), list(traces.values())
    serving = providers(members)
    called = sorted(set(serving.values()))
    made: dict[str, CFunction] = {}
    for k in [*called, *(k for k in range(len(names)) if k not in called)]:
        name, trace = names[k], members[k]
        if isinstance(trace, LoopTrace):
            made[name] = _loops(name, trace, real)
            continue
        given = names[serving[k]] if k in serving else None
        made[name] = _straight(name, trace, real, given, traces, made)
    return {name: made[name] for name in names}


def _straight(
    name: str,
    trace: Trace,
    real: str,
    provider: str | None,
    traces: Mapping[str, Trace | LoopTrace],
    made: Mapping[str, CFunction],
) -> CFunction:
    lines = one_state(trace, real)
    below = 0
    if provider is not None:
        other = traces[provider]
        assert isinstance(other, Trace)  # traces with loops are no providers
        lines, below = with_results_of(other, provider, trace, real), made[provider].stack
    body = '\n'.join(lines)
    text = f'void {name}({parameters(trace, real)}) {{\n{_unused(body, trace)}{body}\n}}\n'
    scalars, arrays = _declared(body)
    return CFunction(text, 0, below + _CALLS + _bytes(real) * (scalars + arrays))


def _loops(name: str, trace: LoopTrace, real: str) -> CFunction:
    tables = Tables(name, real)
    function, given = function_of_one_state(f'FASTER void {name}', trace, tables, _ARRAYS, real)
    if given:
        function, given = function_of_one_state(
            f'FASTER static void {name}_in', trace, tables, _ARRAYS, real
        )
    unused = _unused(function, trace)
    head, _, body = function.partition('{\n')
    text = '\n'.join([*tables.declarations(), f'{head}{{\n{unused}{body}'])
    sizes = [memory_size(memory) for memory in given]
    if given:
        read = [f'x{a}' for a in range(len(trace.sizes))]
        read += [f'y{r}' for r in range(len(trace.shapes))]
        places = [f'workspace + {start}' for start in accumulate(sizes[:-1], initial=0)]
        head = ', '.join(
            [f'const {real} *restrict x{a}' for a in range(len(trace.sizes))]
            + [f'{real} *restrict y{r}' for r in range(len(trace.shapes))]
            + [f'{real} *restrict workspace']
        )
        text += f'void {name}({head}) {{\n  {name}_in({", ".join([*read, *places])});\n}}\n'
    scalars, arrays = _declared(function)
    stack = _CALLS + _bytes(real) * (_VECTOR * scalars + arrays)
    return CFunction(text, sum(sizes), stack)


def _unused(body: str, trace: Trace | LoopTrace) -> str:
    """Return statements that use a function's unused parameters, to avoid compiler warnings."""
    names = [f'x{a}' for a in range(len(trace.sizes))]
    inside = body.partition('{\n')[2] if isinstance(trace, LoopTrace) else body
    return ''.join(f'(void){name};\n' for name in names if not re.search(rf'\b{name}\b', inside))


def _declared(body: str) -> tuple[int, int]:
    """Return how many numbers a text declares: as scalars, and in arrays."""
    scalars = arrays = 0
    for names in _DECLARED.findall(body):
        for name in names.split(', '):
            length = _LENGTH.fullmatch(name)
            scalars += length is None
            arrays += int(length[1]) if length else 0
    return scalars, arrays


def _bytes(real: str) -> int:
    return 4 if real == 'float' else 8
