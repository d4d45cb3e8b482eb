# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""C source of kernels with loops from traces: for single states, and for one per SIMD lane.

Identifiers in the code consist of fixed words and numbers: no text from a robot description gets
into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import prod

from kron_dynamics.kernels.loops.code import Code, Tables
from kron_dynamics.kernels.loops.statements import Memory
from kron_dynamics.kernels.loops.trace import LoopTrace

# Most bytes of work arrays on the stack, where compilers optimize best but threads may have little
# space. Further arrays are allocated on the heap, once per call.
_STACK = 65536
# Most numbers per state for which one state per SIMD lane pays: eight states fill 1 MB of cache.
_LANES_PAY = 16384
# The loops of one state are faster with the loop optimizations that gcc enables with -O3; without
# any optimization (-O0) they get none either.
LOOP_MACROS = """
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#define FASTER __attribute__((optimize("O3")))
#else
#define FASTER
#endif
#if defined(__clang__)
/* Whatever it makes of a loop is right. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define ANY_ORDER _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define ANY_ORDER _Pragma("GCC ivdep")
#else
#define ANY_ORDER
#endif
"""
LOOP_PRELUDE = f"""
#define APART __attribute__((noinline)) static void
{LOOP_MACROS}"""


def loop_kernel(name: str, trace: LoopTrace) -> str:
    """Return the function of one trace, which has to follow the prelude and `LOOP_PRELUDE`.

    Results are NaN if no memory can be allocated.
    """
    tables = Tables(name)
    one_state, rest = _one_state(name, trace, tables)
    one_per_lane, lanes = _one_state_per_lane(name, trace, tables)
    declared = '\n'.join(tables.declarations())
    return f"""
{declared}
{one_state}{one_per_lane}
void {name}(ptrdiff_t count, const double *const *in, double *const *out) {{
  ptrdiff_t k = 0;
{lanes}{rest}}}
"""


def _one_state(name: str, trace: LoopTrace, tables: Tables) -> tuple[str, str]:
    """Return a function for one state, and the code that calls it for state k and all after it."""
    function, on_heap = function_of_one_state(f'FASTER APART {name}_one', trace, tables, _STACK)
    arguments = [f'in[{a}] + k * {size}' for a, size in enumerate(trace.sizes)]
    places, total = _places(map(memory_size, on_heap))
    call = f'{name}_one({", ".join([*arguments, *_rows(trace), *places])});'
    if not on_heap:
        return function, f'  for (; k < count; ++k) {call}\n'
    not_known = '\n'.join(
        f'      for (ptrdiff_t j = 0; j < {prod(shape)}; ++j) ({row})[j] = NAN;'
        for shape, row in zip(trace.shapes, _rows(trace), strict=True)
    )
    return (
        function,
        f"""\
  double *w = malloc({total} * sizeof(double));
  for (; k < count; ++k) {{
    if (w) {{
      {call}
    }} else {{
{not_known}
    }}
  }}
  free(w);
""",
    )


def function_of_one_state(
    head: str, trace: LoopTrace, tables: Tables, stack: int, real: str = 'double'
) -> tuple[str, list[Memory]]:
    """Return a function for one state, and the memories that the caller has to pass.

    Args:
        head: text before the parameters, which are arguments x0, x1, results y0, y1 and memories.
        trace: the trace it evaluates.
        tables: the tables that it reads.
        stack: most bytes of local memories; larger ones become parameters.
        real: the type of numbers.
    """
    code = Code(trace, tables, real)
    lines = list(code.lines())
    size = 4 if real == 'float' else 8
    work = sorted(code.work, key=memory_size)
    filled = accumulate(size * memory_size(memory) for memory in work)
    on_stack = work[: sum(bytes_ <= stack for bytes_ in filled)]
    given = work[len(on_stack) :]
    lines[:0] = [f'{real} {code.name(memory)}[{memory_size(memory)}];' for memory in on_stack]
    return _function(head, trace, code, given, lines), given


def _one_state_per_lane(name: str, trace: LoopTrace, tables: Tables) -> tuple[str, str]:
    """Return a function for LANES states, and the code that calls it; empty if it does not pay."""
    code = Code(trace, tables, 'wide')
    lines = list(code.lines())
    widths = [prod(shape) for shape in trace.shapes]
    places, total = _places([*trace.sizes, *widths, *map(memory_size, code.work)])
    if total > _LANES_PAY:
        return '', ''
    gather = '\n'.join(
        f'      for (int j = 0; j < {size}; ++j) '
        f'({place})[j] = (wide)GATHER(in[{a}] + k * {size} + j, {size});'
        for a, (size, place) in enumerate(zip(trace.sizes, places, strict=False))
    )
    results = zip(places[len(trace.sizes) :], _rows(trace), widths, strict=False)
    scatter = '\n'.join(f'      scatter({place}, {row}, {n});' for place, row, n in results)
    function = _function(f'APART {name}_many', trace, code, code.work, lines)
    # Vectors have to be aligned to their size.
    return (
        function,
        f"""\
  void *space = count < LANES ? 0 : malloc({total + 1} * sizeof(wide));
  if (space) {{
    wide *w = (wide *)(((uintptr_t)space + sizeof(wide) - 1) & -sizeof(wide));
    for (; k + LANES <= count; k += LANES) {{
{gather}
      {name}_many({', '.join(places)});
{scatter}
    }}
    free(space);
  }}
""",
    )


def _function(
    head: str, trace: LoopTrace, code: Code, given: Sequence[Memory], lines: Sequence[str]
) -> str:
    parameters = ', '.join(
        [f'const {code.real} *restrict x{a}' for a in range(len(trace.sizes))]
        + [f'{code.real} *restrict y{r}' for r in range(len(trace.shapes))]
        + [f'{code.real} *restrict {code.name(memory)}' for memory in given]
    )
    body = '\n  '.join(lines)
    return f'{head}({parameters}) {{\n  {body}\n}}\n'


def _rows(trace: LoopTrace) -> list[str]:
    """Return the address of each result of state k."""
    return [f'out[{r}] + k * {prod(shape)}' for r, shape in enumerate(trace.shapes)]


def _places(sizes: Iterable[int]) -> tuple[list[str], int]:
    """Return the addresses of memories of these sizes, consecutive from w on, and their sum."""
    *starts, end = accumulate(sizes, initial=0)
    return [f'w + {start}' for start in starts], end


def memory_size(memory: Memory) -> int:
    """Return the number of elements of a memory."""
    return prod(memory.shape)
