# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that is bit-identical on every computer, for the numbers of a model.

The rounding of matrix products by a BLAS, and of sines and exponentials by vector units and C
libraries, depends on the processor. IEEE 754 defines sums, products, quotients and square roots
uniquely. All functions here are composed of these, in an order that depends only on shapes: a
model has one fingerprint, and an export the same bytes, wherever it is loaded.
"""

from kron_dynamics.reproducible.factors import (
    lower_factor,
    solved_lower,
    symmetric_eigen,
)
from kron_dynamics.reproducible.functions import (
    cosine_and_sine,
    direction_angle,
    exponential,
    exponential_less_one,
    hyperbolic_tangent,
)
from kron_dynamics.reproducible.products import (
    inner,
    norm,
    power,
    product,
    rounded,
)
from kron_dynamics.reproducible.python_numbers import (
    with_python_numbers,
)
from kron_dynamics.reproducible.roots import bracketed_root

__all__ = [
    'bracketed_root',
    'cosine_and_sine',
    'direction_angle',
    'exponential',
    'exponential_less_one',
    'hyperbolic_tangent',
    'inner',
    'lower_factor',
    'norm',
    'power',
    'product',
    'rounded',
    'solved_lower',
    'symmetric_eigen',
    'with_python_numbers',
]
