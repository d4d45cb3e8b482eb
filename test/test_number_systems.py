# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""One text of the equations on floats, SymPy expressions and traced scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy

from kron_dynamics import dynamics, kinematics
from kron_dynamics.kernels import KernelCollection
from kron_dynamics.kernels.specification import KernelSpecification
from kron_dynamics.kronecker import khang_derivative
from kron_dynamics.model import RobotModel, load_model

pytestmark = pytest.mark.interpreted

QUANTITIES: dict[str, Callable[..., Any]] = {
    'mass_matrix': dynamics.mass_matrix,
    'velocity_free_coriolis_matrix': dynamics.velocity_free_coriolis_matrix,
    'gravity_vector': dynamics.gravity_vector,
    'jacobian': lambda model, q: kinematics.jacobian(model, q, model.tip_link),
    'kinematic_hessian': lambda model, q: kinematics.kinematic_hessian(model, q, model.tip_link),
}


@pytest.fixture(scope='module', params=['planar_2r', 'rrp'])
def arm(request: pytest.FixtureRequest, robot_text: Any) -> RobotModel:
    return load_model(robot_text(request.param), gravity=(1.0, -9.0, 2.0))


@pytest.mark.parametrize('quantity', QUANTITIES)
def test_float_is_sympy_is_traced(
    arm: RobotModel, quantity: str, rng: np.random.Generator, assert_close: Any
) -> None:
    function = QUANTITIES[quantity]
    q = rng.uniform(-1.2, 1.2, arm.n)
    expected = function(arm, q)

    symbols = np.array(sympy.symbols(f'q1:{arm.n + 1}'), dtype=object)
    expressions = function(arm, symbols)
    evaluate = sympy.lambdify(list(symbols), expressions.ravel().tolist(), cse=True)
    assert_close(np.reshape(evaluate(*q), expected.shape), expected)

    kernel = KernelCollection(arm).get(KernelSpecification(quantity, ['q'], function))
    assert_close(kernel(q), expected)


def test_sympy_mass_matrix_of_planar_2r_is_exactly_the_textbooks(robot_text: Any) -> None:
    model = load_model(robot_text('planar_2r'))
    q1, q2 = sympy.symbols('q1 q2', real=True)
    M = dynamics.mass_matrix(model, np.array([q1, q2], dtype=object))
    m1, lc1, I1, m2, l1, lc2, I2 = map(sympy.Rational, (4, '1/2', '1/2', 2, 1, '1/4', '1/8'))
    m11 = m1 * lc1**2 + I1 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * sympy.cos(q2)) + I2
    m12 = m2 * (lc2**2 + l1 * lc2 * sympy.cos(q2)) + I2
    textbook = sympy.Matrix([[m11, m12], [m12, m2 * lc2**2 + I2]])
    difference = sympy.nsimplify(sympy.Matrix(M), rational=True) - textbook
    assert sympy.simplify(difference) == sympy.zeros(2, 2)


def test_sympy_derivatives_are_exactly_the_closed_forms(robot_text: Any) -> None:
    # dM/dq and H = dJ/dq without differentiation, against differentiation.
    model = load_model(robot_text('planar_2r'))
    q = np.array(sympy.symbols('q1 q2', real=True), dtype=object)

    def exact(A: Any) -> sympy.Matrix:
        return sympy.simplify(sympy.nsimplify(sympy.Matrix(A), rational=True))

    M, J = dynamics.mass_matrix(model, q), kinematics.jacobian(model, q, 'hand')
    dM, H = (
        dynamics.mass_matrix_derivative(model, q),
        kinematics.kinematic_hessian(model, q, 'hand'),
    )
    assert exact(dM - khang_derivative(M, q)) == sympy.zeros(2, 4)
    assert exact(H - khang_derivative(J, q)) == sympy.zeros(6, 4)
    assert exact(dM) != sympy.zeros(2, 4)
