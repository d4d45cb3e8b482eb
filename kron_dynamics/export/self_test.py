# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The self-test of an exported library: a C program with stored reference values.

The reference values are computed by the equations on floats in Python, independently of recorded
and compiled code.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from kron_dynamics.export.c_header import LICENCE, arguments, comment
from kron_dynamics.export.quantities import Function
from kron_dynamics.export.reproducible_numbers import ReproducibleNumber, rounded_otherwise
from kron_dynamics.kernels.sources import read_beside
from kron_dynamics.reproducible import with_python_numbers
from kron_dynamics.typing import FloatArray

if TYPE_CHECKING:
    from kron_dynamics.export.library import Library

_ABOUT = """\
Calls every function and compares its results with reference values that the equations give in
Python. Exit code 0 if all agree. Tolerances are relative to the largest number of a result, or to
what rounding leaves of a result that is zero.
"""
# Number of states per function.
_STATES = 5
_SEED = 1
# Limit of stored result numbers per function; long chains have fewer states.
_MOST = 4000
# Significant digits of the reference values.
_DIGITS = 13
# Tolerances for rounding errors: relative to the largest number of a result, and relative errors
# of the arguments, which are multiplied by the sensitivity of the result. A wrong number of a
# light joint beside a heavy one must not pass.
_ROUNDING = {'double': 2e-12, 'float': 2e-6}
_CHANGED = {'double': 2e-13, 'float': 5e-7}
# Factor on what another rounding of double numbers changes: numbers below are zero but for
# rounding. An eighth of it is tolerated in other numbers, too.
_NOISE = {'double': 64.0, 'float': 64.0 * 2.0**29}
# Relative step of the arguments by which that sensitivity is determined.
_STEP = 1e-6


def self_test(library: Library) -> str:
    """Return the text of a program that compares every function with its reference values."""
    rng = np.random.default_rng(_SEED)
    blocks, calls = [], []
    for function in library.functions:
        block, call = _case(library, function, rng)
        blocks.append(block)
        calls.append(call)
    frame = read_beside(__file__, 'templates/self_test.c')
    _, _, text = frame.partition('\n\n')
    for key, value in (
        ('package', library.package),
        ('prefix', library.prefix),
        ('upper', library.prefix.upper()),
        ('real', library.real),
        ('numbers', ''.join(blocks)),
        ('calls', ''.join(calls)),
    ):
        text = text.replace(f'@{key}@', value)
    about = comment(_ABOUT.splitlines())
    return f'{LICENCE} *\n{about}{text}'


def states(library: Library, function: Function, count: int, seed: int) -> list[FloatArray]:
    """Return arguments of a function for random states, shape (count, length) each.

    Positions are within their limits, payloads are physically consistent, and other numbers are
    between -1 and 1.
    """
    return _states(library, function, count, np.random.default_rng(seed))


def _states(
    library: Library, function: Function, count: int, rng: np.random.Generator
) -> list[FloatArray]:
    model, tables = library.model, []
    for name, length in arguments(library, function):
        table = rng.uniform(-1.0, 1.0, (count, length))
        if name == 'q':
            lower, upper = model.position_lower, model.position_upper
            # Of a joint with one limit, the 2 rad or m before it.
            lower, upper = (
                np.where(np.isinf(lower) & np.isfinite(upper), upper - 2.0, lower),
                np.where(np.isinf(upper) & np.isfinite(lower), lower + 2.0, upper),
            )
            known = np.isfinite(lower) & np.isfinite(upper)
            middle, half = (lower[known] + upper[known]) / 2, (upper[known] - lower[known]) / 2
            table[:, known] = middle + 0.9 * table[:, known] * half
        elif name == 'payload':
            table[:] = _payloads(rng, count * length // 10).reshape(count, length)
        if library.real == 'float':
            table = table.astype(np.float32).astype(float)
        tables.append(table)
    return tables


def _payloads(rng: np.random.Generator, count: int) -> FloatArray:
    """Return inertial parameters of random solid bodies off their links' origins, (count, 10)."""
    points = rng.uniform(-0.5, 0.5, (count, 6, 3))  # of equal masses
    masses = rng.uniform(0.5, 1.5, (count, 1))
    second = masses[:, :, None] * np.einsum('kpi,kpj->kij', points, points) / 6.0
    about = np.trace(second, axis1=1, axis2=2)[:, None, None] * np.eye(3) - second
    rows, columns = np.triu_indices(3)
    return np.hstack([masses, masses * points.mean(axis=1), about[:, rows, columns]])


def expected(
    library: Library,
    function: Function,
    rows: Sequence[FloatArray],
    number: type[ReproducibleNumber] = ReproducibleNumber,
) -> list[FloatArray]:
    """Return the results of the equations for one state, flattened, shape (elements,) each."""
    model = with_python_numbers(library.model)
    numbers = [np.array([number(x) for x in row.tolist()], dtype=object) for row in rows]
    with np.errstate(all='ignore'):
        returned: Any = function.specification.function(model, *numbers)
    results = returned if len(function.results) > 1 else (returned,)
    return [np.asarray(result, dtype=float).ravel() for result in results]


def _case(library: Library, function: Function, rng: np.random.Generator) -> tuple[str, str]:
    """Return the tables of a function's arguments and results, and the code that tests it."""
    numbers = sum(prod(shape) for _, shape in function.results)
    count = max(1, min(_STATES, _MOST // max(numbers, 1)))
    tables = _states(library, function, count, rng)
    rows = [[table[k] for table in tables] for k in range(count)]
    values = [expected(library, function, row) for row in rows]
    # Each number up or down by itself: a change of all in proportion hardly excites some results,
    # such as the accelerations of a chain whose mass matrix is nearly singular.
    steps = [_STEP * rng.choice((-1.0, 1.0), table.shape) for table in tables]
    moved = [
        expected(library, function, [x * (1.0 + s[k]) for x, s in zip(row, steps, strict=True)])
        for k, row in enumerate(rows)
    ]
    name, lines = function.name, []
    for (argument, _), table in zip(arguments(library, function), tables, strict=True):
        lines.append(_table(f'{name}_{argument}', table, library.real, 17))
    otherwise = expected(library, function, rows[0], rounded_otherwise())
    allowed = []
    for r, (result, _) in enumerate(function.results):
        table = np.array([value[r] for value in values])
        other = np.array([value[r] for value in moved])
        largest = float(np.abs(table).max(initial=0.0))
        noise = _NOISE[library.real] * float(np.abs(otherwise[r] - table[0]).max(initial=0.0))
        if largest <= noise:  # zero but for rounding
            allowed.append((_one_digit(noise), 1.0))
        else:
            slope = float(np.abs(other - table).max(initial=0.0)) / _STEP
            changed = _CHANGED[library.real] * slope + noise / 8.0
            allowed.append((0.0, _one_digit(_ROUNDING[library.real] + changed / largest)))
        lines.append(_table(f'{name}_{result}_is', table, 'double', _DIGITS))
    return ''.join(lines), _call(library, function, count, allowed)


def _call(
    library: Library, function: Function, count: int, allowed: Sequence[tuple[float, float]]
) -> str:
    name, real = function.name, library.real
    sizes = [max(1, prod(shape)) for _, shape in function.results]
    text = ''.join(
        f'    static {real} {result}[{size}];\n'
        for (result, _), size in zip(function.results, sizes, strict=True)
    )
    text += f'    for (int k = 0; k < {count}; ++k) {{\n'
    words = [f'{name}_{a} + {length} * k' for a, length in arguments(library, function)]
    words += [result for result, _ in function.results]
    words += ['workspace'] if function.code.workspace else []
    text += f'      {library.prefix}_{name}({", ".join(words)});\n'
    for (result, _), size, (least, tolerance) in zip(
        function.results, sizes, allowed, strict=True
    ):
        label = name if len(function.results) == 1 else f'{name} {result}'
        text += (
            f'      compare("{label}", {result}, {name}_{result}_is, {size}, {count}, k, '
            f'{least!r}, {tolerance!r});\n'
        )
    return f'  {{\n{text}    }}\n  }}\n'


def _table(name: str, table: FloatArray, real: str, digits: int) -> str:
    flat = table.ravel() if table.size else np.zeros(1)
    suffix = 'f' if real == 'float' else ''
    words = [f'{_decimal(value, digits)}{suffix}' for value in flat.tolist()]
    lines = [', '.join(words[k : k + 5]) for k in range(0, len(words), 5)]
    body = ',\n  '.join(lines)
    return f'static const {real} {name}[] = {{\n  {body}}};\n'


def _decimal(value: float, digits: int) -> str:
    """Return a number with some significant digits as a C literal, without negative zero."""
    return repr(float(f'{value:.{digits}g}') + 0.0)


def _one_digit(value: float) -> float:
    """Return a number, not negative, rounded up to one significant digit."""
    if value == 0.0:
        return value
    power = floor(log10(value))
    return float(f'{ceil(value / 10.0**power)}e{power}')
