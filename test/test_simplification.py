# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simplification of parts that become others' equals, and of what is no polynomial."""

from __future__ import annotations

import pytest
import sympy

from kron_dynamics.symbolic import simplified


@pytest.mark.parametrize('number', [1, 5])
def test_equal_parts_of_other_form_are_added(number: int) -> None:
    """The denominator is 1 / cos(x) once it is simplified."""
    x, y = sympy.symbols('x y')
    denominator = sympy.sin(y) ** 2 / sympy.cos(x) + sympy.cos(y) ** 2 / sympy.cos(x)
    found = simplified(sympy.sin(x) ** 2 - 1 + number / denominator**2)
    assert found == (number - 1) * sympy.cos(x) ** 2


def test_what_is_no_polynomial_stays() -> None:
    a, x = sympy.symbols('a x')
    A, B = sympy.symbols('A B', commutative=False)
    integral = sympy.Integral(sympy.exp(x**2), (x, 0, a))
    for whole in (integral, sympy.Piecewise((x, x > 0), (a, True)), A * B - B * A):
        assert simplified(whole) == whole
    assert simplified(integral * (sympy.sin(x) ** 2 + sympy.cos(x) ** 2)) == integral
