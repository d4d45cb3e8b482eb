# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels written by hand, with the interface of the generated ones."""

from __future__ import annotations

import ctypes
import functools
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kron_dynamics.kernels import Kernel, KernelReport
from kron_dynamics.kernels.caller import call_type
from kron_dynamics.kernels.compiler import find_compiler
from kron_dynamics.kernels.compiler_process import compile_library

SOURCE = """
#include <stddef.h>

/* x, (2,), and y, (3,) -> their outer product, (2, 3) */
void outer(ptrdiff_t count, const double *const *in, double *const *out) {
  for (ptrdiff_t s = 0; s < count; ++s)
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < 3; ++k)
        out[0][6 * s + 3 * i + k] = in[0][2 * s + i] * in[1][3 * s + k];
}

/* x, y, z, (3,) each -> x + y * z, (3,) */
void muladd(ptrdiff_t count, const double *const *in, double *const *out) {
  const double *restrict x = in[0], *restrict y = in[1], *restrict z = in[2];
  double *restrict to = out[0];
  for (; count > 0; --count, x += 3, y += 3, z += 3, to += 3)
    for (int k = 0; k < 3; ++k) to[k] = x[k] + y[k] * z[k];
}

/* x, y, z, (3,) each -> five results x + y * z + r, (3,) each */
void five(ptrdiff_t count, const double *const *in, double *const *out) {
  for (ptrdiff_t k = 0; k < 3 * count; ++k)
    for (int r = 0; r < 5; ++r) out[r][k] = in[0][k] + in[1][k] * in[2][k] + r;
}

/* x, (2,) -> sum, (), and difference, (1,) */
void both(ptrdiff_t count, const double *const *in, double *const *out) {
  for (ptrdiff_t s = 0; s < count; ++s) {
    out[0][s] = in[0][2 * s] + in[0][2 * s + 1];
    out[1][s] = in[0][2 * s] - in[0][2 * s + 1];
  }
}

/* x, (1,): seconds of work a state -> x, () */
void toil(ptrdiff_t count, const double *const *in, double *const *out) {
  for (ptrdiff_t s = 0; s < count; ++s) {
    volatile double left = in[0][s] * 1e8;
    while (left > 0) left = left - 1;
    out[0][s] = in[0][s];
  }
}
"""


class Both(NamedTuple):
    """Results of `both`."""

    total: np.ndarray
    difference: np.ndarray


class Five(NamedTuple):
    """Results of `five`."""

    a: np.ndarray
    b: np.ndarray
    c: np.ndarray
    d: np.ndarray
    e: np.ndarray


class Description(NamedTuple):
    """Arguments (name, length) and result shapes of a kernel."""

    arguments: tuple[tuple[str, int], ...]
    shapes: tuple[tuple[int, ...], ...]
    result_type: Any = None

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(size for _, size in self.arguments)


THREE = (('x', 3), ('y', 3), ('z', 3))
KERNELS = {
    'outer': Description((('x', 2), ('y', 3)), ((2, 3),)),
    'muladd': Description(THREE, ((3,),)),
    'five': Description(THREE, ((3,),) * 5, Five),
    'both': Description((('x', 2),), ((), (1,)), Both),
    'toil': Description((('x', 1),), ((),)),
}


@functools.lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    command = find_compiler()
    assert command is not None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'handmade.so'
        compile_library(command, SOURCE, path)
        return ctypes.CDLL(str(path))


def address(name: str) -> int:
    found = ctypes.cast(library()[name], ctypes.c_void_p).value
    assert found is not None
    return found


def interpreted(name: str) -> Any:
    """Return the same kernel as a Python function."""

    def evaluate(count: int, rows: Sequence[Any], outs: Sequence[Any]) -> None:
        rows = [row.reshape(count, -1) if count else row for row in rows]
        outs = [out.reshape(count, -1) if count else out.reshape(0, 6) for out in outs]
        if name == 'outer':
            outs[0][:] = (rows[0][:, :, None] * rows[1][:, None, :]).reshape(count, 6)
        elif name == 'both':
            outs[0][:] = rows[0].sum(axis=1, keepdims=True)
            outs[1][:] = rows[0][:, :1] - rows[0][:, 1:]
        else:
            for k, out in enumerate(outs):
                out[:] = rows[0] + rows[1] * rows[2] + k

    return evaluate


def of_state(name: str) -> Any:
    """Return how one state of the same kernel is evaluated, as generated Python code does it."""
    count = len(KERNELS[name].arguments)

    def function(state: int, *arrays: Any) -> None:
        for array in arrays:
            memoryview(array).cast('B')  # raises TypeError unless it is contiguous
        interpreted(name)(1, arrays[:count], arrays[count:])

    return function


def make(name: str, source: str = 'c', **options: Any) -> Kernel:
    """Return a kernel of `KERNELS`, as machine code ('c') or Python code ('numpy')."""
    described = KERNELS[name]
    report = KernelReport(name, 6, source, 0.0, False)
    way: dict[str, Any]
    if source == 'c':
        way = {'address': address(name)}
    else:
        way = {'evaluate': interpreted(name), 'of_state': lambda: of_state(name)}
    return Kernel(
        name,
        described.arguments,
        described.shapes,
        report,
        result_type=described.result_type,
        **way,
        **options,
    )


def never(*args: Any, **kwargs: Any) -> None:
    raise AssertionError(f'handed over: {args} {kwargs}')


def make_call(name: str, slow: Any = never, *limit: int) -> Any:
    """Return the extension's fast call of a kernel, which passes unusual calls to `slow`."""
    kind = call_type()
    assert kind is not None
    described = KERNELS[name]
    return kind(
        address(name),
        described.sizes,
        described.shapes,
        described.result_type,
        slow,
        *limit,
    )
