# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""C source of kernels from traces: for single states, and for batches with one per SIMD lane.

Identifiers in the code consist of fixed words and numbers: no text from a robot description gets
into it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from kron_dynamics.kernels.fused import (
    FusedProducts,
    fused_products,
    multiply_add,
    negated,
    products_in,
)
from kron_dynamics.kernels.loops.emit import LOOP_PRELUDE, loop_kernel
from kron_dynamics.kernels.loops.trace import LoopTrace
from kron_dynamics.kernels.prelude import WIDE_ANGLES, literal, prelude, symbol
from kron_dynamics.kernels.trace import Trace, operands

# Most elements of results for code with one state per SIMD lane: with more, writing the results
# to memory dominates.
_WIDE_RESULTS = 100
# Fewest operations saved for which a kernel calls another one and reads back its results.
_WORTH_A_CALL = 500
_COUNT_IN_OUT = 'ptrdiff_t count, const double *const *in, double *const *out'


def emit_c(traces: Sequence[Trace | LoopTrace]) -> str:
    """Return a C99 translation unit (with GNU vectors) with one function per trace.

    ``void kernel_<k>(ptrdiff_t count, const double *const *in, double *const *out)`` evaluates
    trace k for count states; in[a] and out[r] are row-major with one row per state. Results must
    not overlap arguments. Straight-line code evaluates one state after the other.
    """
    straight = {k: trace for k, trace in enumerate(traces) if isinstance(trace, Trace)}
    loops = {k: trace for k, trace in enumerate(traces) if isinstance(trace, LoopTrace)}
    serving = providers(traces)
    called = sorted(set(serving.values()))
    order = called + [k for k in straight if k not in called]
    parts = [prelude()]
    parts += [_kernel(straight, k, serving.get(k)) for k in order]
    if loops:
        parts += [LOOP_PRELUDE, *(loop_kernel(symbol(k), trace) for k, trace in loops.items())]
    return '\n'.join(parts)


def emit_lanes(traces: Sequence[Trace]) -> str:
    """Return such a translation unit with one state per SIMD lane, for traces that `has_lanes`.

    A state's results are bit-identical in any batch, and in the code for single states.
    """
    kernels = (_lanes_kernel(symbol(k), trace) for k, trace in enumerate(traces))
    return '\n'.join([prelude(), *kernels])


def has_lanes(trace: Trace | LoopTrace) -> TypeGuard[Trace]:
    """Return whether separate code with one state per SIMD lane pays.

    Kernels with loops contain such code already.
    """
    return isinstance(trace, Trace) and sum(map(len, trace.outputs)) <= _WIDE_RESULTS


def providers(traces: Sequence[Trace | LoopTrace]) -> dict[int, int]:
    """Return the providers of some traces: traces whose kernel they call to do most of the work.

    For example, C and dM/dq follow from C* with few operations, so the compiler need not compile
    C* three times. A provider has no provider itself.
    """
    straight = [
        (k, trace)
        for k, trace in enumerate(traces)
        if isinstance(trace, Trace) and trace.operations > _WORTH_A_CALL
    ]
    chosen: dict[int, tuple[int, int]] = {}  # operations left, provider
    for k, trace in straight:
        for p, other in straight:
            rest = trace.after(other) if p != k else None
            best = chosen[k][0] if k in chosen else trace.operations - _WORTH_A_CALL
            if rest is not None and rest.operations < best:
                chosen[k] = rest.operations, p
    called = {p for _, p in chosen.values()}
    return {k: p for k, (_, p) in chosen.items() if k not in called}


def cost(traces: Sequence[Trace | LoopTrace]) -> int:
    """Return roughly the number of statements that have to be compiled."""
    serving = providers(traces)
    total = 0
    for k, trace in enumerate(traces):
        if isinstance(trace, LoopTrace):
            total += len(trace.nodes)
            continue
        provider = traces[serving[k]] if k in serving else None
        rest = trace.after(provider) if isinstance(provider, Trace) else trace
        total += (rest or trace).operations
    return total


def _kernel(traces: Mapping[int, Trace], k: int, provider: int | None) -> str:
    name, trace = symbol(k), traces[k]
    one = one_state(trace)
    if provider is not None:
        one = with_results_of(traces[provider], f'{symbol(provider)}_one', trace)
    lines = [
        f'static {"inline" if provider is None else ""} void {name}_one({parameters(trace)}) {{',
        *one,
        '}',
        f'void {name}({_COUNT_IN_OUT}) {{',
        f'for (ptrdiff_t k = 0; k < count; ++k) {name}_one({_rows(trace)});',
        '}',
    ]
    return '\n'.join(lines) + '\n'


def with_results_of(
    provider: Trace, function: str, trace: Trace, real: str = 'double'
) -> Iterator[str]:
    """Yield statements that call a provider's function and compute the rest of a trace."""
    rest = trace.after(provider)
    assert rest is not None  # `providers` chose it so
    read = ', '.join(f'x{a}' for a in range(len(provider.sizes)))
    yield f'{real} given[{len(provider.outputs[0])}];'
    yield f'{function}({read}, given);'
    yield from one_state(rest, real)


def _lanes_kernel(name: str, trace: Trace) -> str:
    """Return a kernel for LANES states at a time; the last vector repeats the last state."""
    rest, rows, back = [], [], []
    for a, size in enumerate(trace.sizes):
        rest += [f'double u{a}[LANES * {size} + 1];', f'fill_up(in[{a}], u{a}, {size}, k, count);']
        rows.append(f'u{a}')
    for r, numbers in enumerate(trace.outputs):
        width = len(numbers)
        rest.append(f'double v{r}[LANES * {width} + 1];')
        rows.append(f'v{r}')
        back.append(
            f'memcpy(out[{r}] + k * {width}, v{r}, (count - k) * {width} * sizeof(double));'
        )
    lines = [
        f'static void {name}_many({parameters(trace)}) {{',
        *_one_state_per_lane(trace),
        '}',
        f'void {name}({_COUNT_IN_OUT}) {{',
        'ptrdiff_t k = 0;',
        f'for (; k + LANES <= count; k += LANES) {name}_many({_rows(trace)});',
        'if (k == count) return;',
        *rest,
        f'{name}_many({", ".join(rows)});',
        *back,
        '}',
    ]
    return '\n'.join(lines) + '\n'


def parameters(trace: Trace, real: str = 'double') -> str:
    """Return the parameter list of a function of one state: arguments x0, x1, results y0, y1."""
    arguments = [f'const {real} *restrict x{a}' for a in range(len(trace.sizes))]
    return ', '.join(arguments + [f'{real} *restrict y{r}' for r in range(len(trace.outputs))])


def _rows(trace: Trace) -> str:
    """Return the addresses of the arguments and results of state k."""
    arguments = [f'in[{a}] + k * {size}' for a, size in enumerate(trace.sizes)]
    results = [f'out[{r}] + k * {len(numbers)}' for r, numbers in enumerate(trace.outputs)]
    return ', '.join(arguments + results)


def one_state(trace: Trace, real: str = 'double') -> Iterator[str]:
    """Yield statements that read one state's arguments x0, x1 and write its results y0, y1."""
    element, position = 'x{a}[{b}]', dict[int, int]()
    taken = {node[:2] for node in trace.nodes}
    fused = _fused_products(trace)
    for stage, (before, angles) in enumerate(_stages(trace)):
        yield from _statements(trace, before, real, element, position, fused)
        first = len(position)
        position |= {angle: first + k for k, angle in enumerate(angles)}
        if len(angles) < WIDE_ANGLES:
            for angle in angles:
                k = position[angle]
                yield f'{real} s{k}, c{k};'
                yield f'sincos_one({_operand(trace, angle, real)}, &s{k}, &c{k});'
        else:
            yield from _several_sines(trace, angles, real, stage)
            for i, angle in enumerate(angles):
                for function, table in (('sin', 'sines'), ('cos', 'cosines')):
                    if (function, angle) in taken:
                        yield f'const {real} {function[0]}{first + i} = {table}{stage}[{i}];'
    for r, numbers in enumerate(trace.outputs):
        for k, number in enumerate(numbers):
            yield f'y{r}[{k}] = {_operand(trace, number, real)};'


def _several_sines(trace: Trace, angles: Sequence[int], real: str, stage: int) -> Iterator[str]:
    """Yield statements for the sines and cosines of a stage's angles, four at a time.

    Without loops: compilers keep vectors that they fill in unrolled loops in memory.
    """
    size = len(angles) + -len(angles) % 4
    yield f'{real} sines{stage}[{size}], cosines{stage}[{size}];'
    for k in range(0, len(angles), 4):
        some = [_operand(trace, angle, real) for angle in angles[k : k + 4]]
        function = 'sincos_one' if len(some) == 1 else 'sincos_four'
        some += some[:1] * (-len(some) % 4 if len(some) > 1 else 0)
        yield f'{function}({", ".join(some)}, sines{stage} + {k}, cosines{stage} + {k});'


def _one_state_per_lane(trace: Trace) -> Iterator[str]:
    element, position = 'GATHER(x{a} + {b}, {size})', dict[int, int]()
    fused = _fused_products(trace)
    for before, angles in _stages(trace):
        yield from _statements(trace, before, 'wide', element, position, fused)
        for angle in angles:
            k = position[angle] = len(position)
            yield f'wide s{k}, c{k};'
            yield f'sincos_wide({_operand(trace, angle)}, &s{k}, &c{k});'
    for r, numbers in enumerate(trace.outputs):
        rows = [_wide_operand(trace, number) for number in numbers]
        if rows:
            yield f'const wide z{r}[] = {{{", ".join(rows)}}};'
            yield f'scatter(z{r}, y{r}, {len(rows)});'


def _stages(trace: Trace) -> list[tuple[list[int], list[int]]]:
    """Divide the nodes into stages, each followed by the sines and cosines of some angles.

    A stage has the nodes, operands first, that its angles depend on. Angles of joints come first;
    closed loops also have angles that depend on sines of others. The last stage has all remaining
    nodes and no angles.
    """
    # Depth of a node: the most sines and cosines nested in it.
    depth = [0] * len(trace.nodes)
    for number, node in enumerate(trace.nodes):
        depth[number] = max((depth[k] for k in operands(node)), default=0)
        depth[number] += node[0] in ('sin', 'cos')
    taken = list(dict.fromkeys(a for name, a, _ in trace.nodes if name in ('sin', 'cos')))
    stages, done = list[tuple[list[int], list[int]]](), set[int]()
    for level in sorted({depth[angle] for angle in taken}):
        angles = [angle for angle in taken if depth[angle] == level]
        needed = set(angles)
        for number in range(max(angles), -1, -1):
            if number in needed:
                needed.update(operands(trace.nodes[number]))
        stages.append((sorted(needed - done), angles))
        done |= needed
    rest = [number for number in range(len(trace.nodes)) if number not in done]
    return [*stages, (rest, [])]


def _fused_products(trace: Trace) -> FusedProducts:
    """Return the products to fuse: of two in a sum, the deeper one in the graph of operations.

    Hashes of their trees decide ties, so a result has the same bits whatever else was recorded.
    """
    fused = fused_products(
        trace.nodes,
        range(len(trace.nodes)),
        {number for numbers in trace.outputs for number in numbers},
        lambda number: trace.graph.structure(trace.needed[number]),
    )
    given = (k for k, (operation, _, _) in enumerate(trace.nodes) if operation == 'given')
    return fused._replace(
        given={k for k in given if products_in(trace.graph.nodes, trace.needed[k])}
    )


def _operand(trace: Trace, number: int, real: str = 'double') -> str:
    operation, value, _ = trace.nodes[number]
    return literal(value, real) if operation == 'const' else f't{number}'


def _wide_operand(trace: Trace, number: int) -> str:
    text = _operand(trace, number)
    return f'same_wide({text})' if trace.nodes[number][0] == 'const' else text


def _statements(
    trace: Trace,
    numbers: Sequence[int],
    real: str,
    element: str,
    position: Mapping[int, int],
    fused: FusedProducts,
) -> Iterator[str]:
    """Yield one declaration per node, of type `real`: 'double', 'float' or 'wide'.

    `element` is the format of reading an argument's element; `position` numbers the angles.
    """

    def operand(number: int) -> str:
        wide = real == 'wide'
        return _wide_operand(trace, number) if wide else _operand(trace, number, real)

    for number in numbers:
        operation, a, b = trace.nodes[number]
        if operation == 'const' or number in fused.products:
            continue
        if operation == 'input':
            text = element.format(a=a, b=b, size=trace.sizes[a])
        elif operation == 'given':
            text = f'given[{a}]'
        elif operation == 'neg':
            text = negated(fused, a, _operand(trace, a, real))
        elif operation == 'tanh':
            text = f'tanh_{real}({_operand(trace, a, real)})'
        elif operation in ('sin', 'cos'):
            text = f'{operation[0]}{position[a]}'
        elif number in fused.sums:
            text = multiply_add(real, fused, number, operand)
        else:
            text = f'{_operand(trace, a, real)} {operation} {_operand(trace, b, real)}'
            if real == 'wide' and all(trace.nodes[k][0] == 'const' for k in (a, b)):
                text = f'same_wide({text})'  # a constant over zero; other constants are folded
        yield f'const {real} t{number} = {text};'
