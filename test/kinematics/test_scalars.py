# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The three number systems the equations run on."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import sympy

from kron_dynamics.elementary import cos, sin
from kron_dynamics.kernels.trace import Scalar, Trace
from kron_dynamics.kinematics.scalars import as_scalars, zeros_like


def test_floats_and_integers_become_float_arrays() -> None:
    assert as_scalars([1, 2]).dtype == np.float64
    assert zeros_like([1, 2], (2, 3)).dtype == np.float64
    np.testing.assert_array_equal(zeros_like([1.0], (2, 3)), np.zeros((2, 3)))


def test_expressions_stay_objects() -> None:
    x = sympy.Symbol('x')
    assert as_scalars([x, 1]).dtype == object
    assert zeros_like([x], (2,)).dtype == object


def test_sine_and_cosine_of_each_number_system() -> None:
    x = sympy.Symbol('x')
    assert (sin(0.3), cos(0.3)) == (math.sin(0.3), math.cos(0.3))
    assert (sin(np.float64(0.3)), cos(2)) == (math.sin(0.3), math.cos(2))
    assert (sin(x), cos(x)) == (sympy.sin(x), sympy.cos(x))
    assert (sin(sympy.Integer(0)), cos(sympy.Integer(0))) == (0, 1)

    def recorded(v: Any) -> Any:
        assert isinstance(v[0], Scalar)
        return np.array([sin(v[0]), cos(v[0])])

    operations = [operation for operation, _, _ in Trace(recorded, [1]).nodes]
    assert operations == ['input', 'sin', 'cos']
