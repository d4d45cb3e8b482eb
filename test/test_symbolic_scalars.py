# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Scalars of symbolic equations: SymPy's results, without its work for products with zeros."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from sympy.core.mul import Mul

import kron_dynamics as kd
from kron_dynamics import dynamics, elementary
from kron_dynamics.symbolic.scalar import SymbolicScalar, symbolic_scalars

STACKER = Path(__file__).parents[1] / 'urdf' / 'paper_stacker.urdf'
x, y = sympy.symbols('x y')
OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv]
OTHERS = [0, 2, 0.5, sympy.S.Zero, sympy.Rational(2, 3), y, sympy.sin(x), -x, x, 1 / x]


@pytest.mark.parametrize('operation', OPERATORS, ids=lambda operation: operation.__name__)
@pytest.mark.parametrize('other', OTHERS, ids=str)
def test_operators_give_what_sympy_gives(operation: Any, other: Any) -> None:
    scalar, both = symbolic_scalars([x, other])
    for right in (other, both):
        if operation is not operator.truediv or other != 0:
            assert sympy.sympify(operation(scalar, right)) == operation(x, other)
        assert sympy.sympify(operation(right, scalar)) == operation(other, x)
    for number in (operation(scalar, both) if other != 0 else 0, operation(both, scalar)):
        assert not (isinstance(number, SymbolicScalar) and number.is_Number)


def test_functions_powers_and_arrays_give_what_sympy_gives() -> None:
    (scalar,) = symbolic_scalars([x])
    for name in ('sin', 'cos', 'tanh'):
        assert getattr(elementary, name)(scalar) == getattr(sympy, name)(x)
    assert (scalar**3, scalar**-1, -scalar) == (x**3, 1 / x, -x)
    assert (2**scalar, abs(scalar), np.sqrt(scalar)) == (2**x, abs(x), sympy.sqrt(x))
    A = np.array([[1, 0], [sympy.S.Half, 2]], dtype=object)
    product = A @ np.array([scalar, 1 - scalar], dtype=object)
    assert [sympy.sympify(entry) for entry in product] == [x, x / 2 + 2 * (1 - x)]
    assert {scalar: 'known'}[x] == {x: 'known'}[scalar] == 'known'


def test_functions_of_sympy_take_scalars() -> None:
    """Functions of a caller may call SymPy, and ask for attributes of the symbols."""
    symbolic = kd.load(STACKER).symbolic
    q1, q2, q3 = symbolic.q

    def own(model: Any, q: Any) -> Any:
        slope = sympy.diff(sympy.cos(q[0]) * q[1] ** 2, q[1])
        return np.array([slope, (q[0] * q[1]).diff(q[0]), sympy.Matrix(q).norm(1), q[0].name])

    *found, name = symbolic.evaluate(own, symbolic.q)
    assert found == [2 * q2 * sympy.cos(q1), q2, abs(q1) + abs(q2) + abs(q3)]
    assert str(name) == q1.name


@pytest.mark.parametrize('parameters', ['numeric', 'symbolic'])
def test_equations_are_those_of_plain_symbols(
    parameters: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same expressions entry by entry, with few of the products with zeros left."""
    symbolic = kd.load(STACKER).symbolic.with_parameters(parameters)
    zeros = 0
    flatten = Mul.flatten.__func__

    def counted(cls: Any, factors: Any) -> Any:
        nonlocal zeros
        zeros += any(factor.is_Number and not factor for factor in factors)
        return flatten(cls, factors)

    monkeypatch.setattr(Mul, 'flatten', classmethod(counted))
    arguments = symbolic.q, symbolic.qd, symbolic.qdd
    counts = []
    for plain in (False, True):
        sympy.core.cache.clear_cache()
        zeros = 0
        if plain:
            vectors = (np.array(symbols, dtype=object) for symbols in arguments)
            expected = dynamics.inverse_dynamics(symbolic.model, *vectors)
        else:
            form = symbolic.inverse_dynamics()
        counts.append(zeros)
    assert list(form) == list(expected)
    assert 2 * counts[0] < counts[1]
