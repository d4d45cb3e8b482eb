# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Arithmetic that rounds alike on every computer, for the numbers that a model is made of.

A BLAS rounds products of matrices by the processor's kind, and so do the sines and exponentials
of vector registers and of C libraries. IEEE 754 leaves sums, products, quotients and square roots
one result. So all here is made of these, one after the other in an order that shapes alone
determine: a model has one fingerprint, and an export the same bytes, wherever it is loaded.
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

__all__ = [
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
