# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gravity that differs from place to place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy
from public_vectors import cases_of

import kron_dynamics as kd
from kron_dynamics.dual import jacobian_of
from kron_dynamics.dynamics import (
    CentralField,
    FieldOf,
    central_field_potential,
    field_forces,
    gravity_gradient_torque,
    gravity_vector,
    potential_energy,
)
from kron_dynamics.dynamics.body_matrices import body_matrices
from kron_dynamics.kernels.interpreted import Interpreted
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.model import load_model

FIELD = CentralField(40.0, (0.5, -0.4, -4.0))


@pytest.mark.parametrize('case', cases_of('gravity_field'), ids=lambda case: case['id'])
def test_reference_vectors(case: Any, assert_close: Any) -> None:
    """[P] (27), and the gravity gradient."""
    inputs, expected = case['inputs'], case['expected']
    model, q = load_model(inputs['urdf'], joints=inputs['joint_order']), inputs['q']
    field = CentralField(inputs['mu'], tuple(inputs['centre']))
    assert_close(field_forces(model, q, field), expected['f_point_mass'], 1e-12)
    assert_close(field_forces(model, q, field, extended=True), expected['f_with_gradient'], 1e-12)
    V = central_field_potential(model, q, field), expected['V_point_mass']
    assert_close(*V, 1e-12)
    V = central_field_potential(model, q, field, extended=True), expected['V_with_gradient']
    assert_close(*V, 1e-12)


def test_a_constant_field_is_the_robots_own_gravity(
    model: Any, state: Any, assert_close: Any
) -> None:
    """[P] (26), (27): V = -sum m c^T g but for a constant, and f_c = -dV/dq."""
    field = FieldOf(lambda c: model.gravity + 0 * c)
    g = gravity_vector(model, state.q)
    for extended in (False, True):
        assert_close(field_forces(model, state.q, field, extended=extended), -g, 1e-12, floor=1e-9)

    def printed(q: Any) -> float:
        return -sum(body.mass * body.center @ model.gravity for body in body_matrices(model, q))

    difference = printed(state.q) - printed(0 * state.q)
    own = potential_energy(model, state.q) - potential_energy(model, 0 * state.q)
    assert_close(own, difference, 1e-12, floor=1.0)


@pytest.mark.parametrize('extended', [False, True])
def test_forces_are_the_slope_of_the_potential(
    model: Any, state: Any, derivative: Any, assert_close: Any, extended: bool
) -> None:
    slope = derivative(
        lambda q: central_field_potential(model, q, FIELD, extended=extended), state.q
    )
    forces = field_forces(model, state.q, FIELD, extended=extended)
    assert_close(-forces, slope, 1e-9, floor=1.0)


def test_derivatives_of_the_central_field(rng: Any, derivative: Any, assert_close: Any) -> None:
    place = rng.normal(size=3)
    assert_close(FIELD.gradient(place), derivative(FIELD.acceleration, place), 1e-9)
    # Khang's layout: column j*3 + k is d G[:, j] / d c_k.
    second = derivative(FIELD.gradient, place).reshape(3, 9)
    assert_close(FIELD.second_derivative(place), second, 1e-9)


def test_a_field_of_a_function_has_exact_derivatives(rng: Any, assert_close: Any) -> None:
    def swirl(c: Any) -> Any:
        return np.array([c[0] * c[1] ** 2, c[2] / (2 + c[0] ** 2), -9.8 + c[0] * c[1] * c[2]])

    x = np.array(sympy.symbols('x y z'), dtype=object)
    place = rng.normal(size=3)
    at = dict(zip(x, place, strict=True))
    field, forms = FieldOf(swirl), [swirl(x)]
    for _ in range(2):
        forms.append(np.array([[e.diff(v) for v in x] for e in np.ravel(forms[-1])]))
    found = (field.acceleration(place), field.gradient(place), field.second_derivative(place))
    for value, form in zip(found, forms, strict=True):
        expected = np.array([float(sympy.sympify(e).subs(at)) for e in np.ravel(form)])
        assert_close(value, expected.reshape(value.shape), 1e-12)


def test_gravity_gradient_torque_is_that_of_the_masses(assert_close: Any) -> None:
    """Two masses on a thin rod: the moment of their own weights, to second order of its length."""
    field, place, ends = CentralField(7.0, (0.0, 0.0, 0.0)), np.array([3.0, 1.0, -2.0]), []
    arm = 1e-3 * np.array([0.3, 0.9, 0.2])
    moment = np.zeros(3)
    for side in (arm, -arm):
        moment += 2.0 * np.cross(side, field.acceleration(place + side))
        ends.append(2.0 * (side @ side * np.eye(3) - np.outer(side, side)))
    assert_close(gravity_gradient_torque(field, place, sum(ends)), moment, 1e-5)
    model = load_model(
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    (body,) = body_matrices(model, [0.4])
    torque = gravity_gradient_torque(FIELD, body.center, body.inertia)
    assert_close(field_forces(model, [0.4], FIELD, extended=True), torque[2:], 1e-12)


def test_symbols_give_the_same(robot_text: Any, assert_close: Any) -> None:
    model = load_model(robot_text('planar_2r'))
    q = np.array(sympy.symbols('q1 q2', real=True), dtype=object)
    at = {q[0]: 0.4, q[1]: -0.9}
    closed = field_forces(model, q, FIELD, extended=True)
    expected = field_forces(model, [0.4, -0.9], FIELD, extended=True)
    assert_close([float(e.subs(at)) for e in closed], expected, 1e-12)


def test_traced_scalars_give_the_same(robot_text: Any, assert_close: Any) -> None:
    """Of a field without roots: kernels have none."""
    model, q = load_model(robot_text('planar_2r')), np.array([0.4, -0.9])
    field = FieldOf(lambda c: np.array([c[0] * c[1], c[2] ** 2, -9.8 / (2 + c[0] ** 2)]))
    trace = Trace(lambda x: field_forces(model, x, field, extended=True), [2])
    out = np.zeros((1, 2))
    Interpreted(trace)(1, [q[None]], [out])
    assert_close(out[0], field_forces(model, q, field, extended=True), 1e-12)


@pytest.mark.parametrize('number', [float, sympy.Float, sympy.Rational])
def test_the_centre_of_the_field_is_refused_in_every_number_system(number: Any) -> None:
    place = np.array([number(x) for x in FIELD.center])
    with pytest.raises(kd.ParameterError, match='centre of the gravity field'):
        FIELD.acceleration(place)
    centered = CentralField(40.0, (0, 0, 0))
    with pytest.raises(kd.ParameterError, match='centre of the gravity field'):
        centered.acceleration(np.array([number(0)] * 3))


def test_dual_numbers_are_told_that_a_central_field_has_a_root() -> None:
    with pytest.raises(kd.ArgumentTypeError, match='whole powers'):
        jacobian_of(FIELD.acceleration, np.array([1.0, 2.0, 3.0]))
