# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Source code from a trace: C for the compiler, NumPy where there is none.

Names in the code are made from numbers alone: nothing from a robot description reaches it.
"""

from __future__ import annotations

from math import isfinite

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.trace import Trace

SYMBOL = 'kron_kernel'
_EXPRESSION = {
    '+': 't{a} + t{b}',
    '-': 't{a} - t{b}',
    '*': 't{a} * t{b}',
    'neg': '-t{a}',
    'sin': 'sin(t{a})',
    'cos': 'cos(t{a})',
}


def _statements(
    trace: Trace, element: str, division: str = 't{a} / t{b}'
) -> list[tuple[str, str]]:
    """(name, expression) of every node; `element` formats the read of an argument's element."""
    expressions = {**_EXPRESSION, '/': division}
    statements = []
    for number, (operation, a, b) in enumerate(trace.nodes):
        if operation == 'const':
            if not isfinite(a):
                raise KernelBuildError(f'a constant of the model overflows: {a}')
            expression = repr(a)  # the shortest text that reads back as the same double
        elif operation == 'input':
            expression = element.format(a=a, b=b)
        else:
            expression = expressions[operation].format(a=a, b=b)
        statements.append((f't{number}', expression))
    return statements


def emit_c(trace: Trace) -> str:
    """Return a C99 translation unit with one function, `SYMBOL`.

    ``void SYMBOL(ptrdiff_t count, const double *x0, ..., double *out)`` evaluates the trace for
    count states; argument and result arrays are row-major with one row a state.
    """
    parameters = ''.join(f'const double *restrict x{a}, ' for a in range(len(trace.sizes)))
    advance = ''.join(f', x{a} += {size}' for a, size in enumerate(trace.sizes))
    body = [f'const double {name} = {text};' for name, text in _statements(trace, 'x{a}[{b}]')]
    body += [f'out[{k}] = t{number};' for k, number in enumerate(trace.outputs)]
    lines = '\n    '.join(body)
    return f"""#include <math.h>
#include <stddef.h>

void {SYMBOL}(ptrdiff_t count, {parameters}double *restrict out) {{
  for (; count > 0; --count{advance}, out += {len(trace.outputs)}) {{
    {lines}
  }}
}}
"""


def emit_numpy(trace: Trace) -> str:
    """Return Python source with one function, `SYMBOL`: ``SYMBOL(x0, ..., out)``.

    Arguments have shape (N, size) and out (N, outputs). The namespace gives sin, cos and divide.
    """
    parameters = ''.join(f'x{a}, ' for a in range(len(trace.sizes)))
    # Of two constants Python's own division by zero raises; C's gives an infinity.
    body = [
        f'{name} = {text}'
        for name, text in _statements(trace, 'x{a}[:, {b}]', division='divide(t{a}, t{b})')
    ]
    body += [f'out[:, {k}] = t{number}' for k, number in enumerate(trace.outputs)]
    lines = '\n    '.join(body)
    return f'def {SYMBOL}({parameters}out):\n    {lines}\n'
