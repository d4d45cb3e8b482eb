# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The common part of all generated C."""

from __future__ import annotations

from math import isfinite

import numpy as np

from kron_dynamics.exceptions import KernelBuildError
from kron_dynamics.kernels.sources import read_beside

_LARGEST_FLOAT = float(np.finfo(np.float32).max)
# Fewest angles whose sines and cosines are computed faster as vectors than one by one.
WIDE_ANGLES = 3
# Switches off the search for dead stores: there are none, and it takes 20 % of the compile time.
_NO_DEAD_STORES = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-dse", "no-tree-dse")
#endif
"""
# What kernels use of the C library, whose headers take a third of the time of a small kernel.
_DECLARATIONS = """\
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __SIZE_TYPE__ size_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
#define FLT_EVAL_METHOD __FLT_EVAL_METHOD__
#define NAN __builtin_nan("")
double sin(double), cos(double), tanh(double), fabs(double), fma(double, double, double);
void *memcpy(void *, const void *, size_t), *memset(void *, int, size_t), *malloc(size_t);
void free(void *);
"""


def prelude() -> str:
    """Return the C prelude of every translation unit of kernels."""
    lines = scalar_prelude('double').splitlines(keepends=True)
    own = ''.join(line for line in lines if not line.startswith('#include'))
    return _NO_DEAD_STORES + _DECLARATIONS + own + read_beside(__file__, 'lanes.h')


def scalar_prelude(real: str) -> str:
    """Return the prelude of functions of one state, C or C++; `real` is 'double' or 'float'."""
    own = read_beside(__file__, 'double.h' if real == 'double' else 'single.h')
    _, _, behind_the_licence = own.partition(' */\n')
    return read_beside(__file__, 'prelude.h') + behind_the_licence


def symbol(k: int) -> str:
    """Return the name of the function for trace k of a translation unit."""
    return f'kernel_{k}'


def literal(value: float, real: str = 'double') -> str:
    """Return the C literal of a constant: the shortest text that reads back as the same number.

    Args:
        value: the constant.
        real: the type of the literal; 'float' rounds the constant.

    Raises:
        KernelBuildError: the constant is not finite, or too large for the type.
    """
    if not isfinite(value) or (real == 'float' and abs(value) > _LARGEST_FLOAT):
        raise KernelBuildError(f'a constant of the model overflows {real}: {value}')
    text = f'{np.float32(value)!s}f' if real == 'float' else repr(value)
    return f'({text})' if value < 0 else text
