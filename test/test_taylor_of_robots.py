# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Taylor expansion of the quantities of robots, by numbers that carry their derivatives."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from long_runs import some_of
from pinocchio_oracle import arm_text

import kron_dynamics as kd
from kron_dynamics import dynamics, kinematics
from kron_dynamics.elementary import sin
from kron_dynamics.kronecker import khang_derivative, khang_derivatives_at
from kron_dynamics.taylor import expand

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[1]
ARMS = {'ur5': 'ur5_robot.urdf', 'panda': 'panda.urdf'}


@functools.cache
def robot_called(name: str) -> kd.Robot:
    if name == 'flexible':
        flexible = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
        return kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=flexible)
    return kd.loads(arm_text(ARMS[name]))


def state(robot: kd.Robot, count: int = 3) -> Any:
    states = np.random.default_rng(3).uniform(-1, 1, (count, robot.n))
    states[:, robot.model.joint_count :] *= 0.01  # modal coordinates
    return states


@pytest.mark.parametrize('quantity', ['mass_matrix', 'gravity_vector', 'potential_energy'])
def test_planar_arm_has_the_derivatives_of_its_closed_form(quantity: str, robot_text: Any) -> None:
    robot = kd.loads(robot_text('planar_2r'), gravity=(1.0, -9.0, 0.0))
    point = np.array([0.4, -0.9])
    expansion = expand(getattr(robot, quantity), point, 3)
    symbolic = robot.symbolic
    closed = getattr(symbolic, quantity)()
    if quantity == 'potential_energy':
        closed = sympy.Matrix([[closed]])
    for order in range(1, 4):
        derivative = khang_derivative(closed, symbolic.q, order)
        expected = sympy.lambdify(symbolic.q, derivative.tolist())(*point)
        actual = expansion.derivatives[order]
        assert actual.shape == (closed.rows, closed.cols * 2**order)
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)
    assert expansion.derivatives[0].shape == getattr(robot, quantity)(point).shape


@pytest.mark.parametrize('name', ['ur5', 'panda', 'flexible'])
def test_mass_matrix(name: str) -> None:
    robot = robot_called(name)
    n, order = robot.n, 3 if name == 'ur5' else 2
    (q, direction, _) = state(robot)
    expansion = expand(robot.mass_matrix, q, order)
    value, first, *higher = expansion.derivatives
    scale = np.abs(value).max()
    np.testing.assert_allclose(value, robot.mass_matrix(q), rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(
        first, robot.mass_matrix_derivative(q), rtol=1e-11, atol=1e-11 * np.abs(first).max()
    )
    for k, derivative in enumerate(higher, start=2):
        assert derivative.shape == (n, n * n**k)
        tensor = derivative.reshape(n, n, *[n] * k)
        largest = np.abs(tensor).max()
        assert largest > 1e-3 * scale
        for axis in range(2, k + 1):  # the order of differentiation does not matter
            assert np.abs(tensor - tensor.swapaxes(axis, axis + 1)).max() < 1e-12 * largest
        assert np.abs(tensor - tensor.swapaxes(0, 1)).max() < 1e-12 * largest  # nor i, j of M

    # Halving the step divides the remainder by 2^(order + 1).
    steps = np.array([0.04, 0.02])
    errors = [
        np.abs(expansion(q + h * direction) - robot.mass_matrix(q + h * direction)).max()
        for h in steps
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order + 1, abs=0.1)


def richardson(function: Any, x: Any, h: float = 0.02) -> Any:
    """Derivatives by central differences, extrapolated twice: shape (..., n)."""

    def central(step: float) -> Any:
        steps = step * np.eye(len(x))
        return np.stack([(function(x + s) - function(x - s)) / (2 * step) for s in steps], -1)

    first, second, third = (central(h / 2**k) for k in range(3))
    a, b = (4 * second - first) / 3, (4 * third - second) / 3
    return (16 * b - a) / 15


@pytest.mark.parametrize(
    ('name', 'quantity'),
    some_of(
        [
            (name, quantity)
            for name in ('ur5', 'panda', 'flexible')
            for quantity in ('gravity_vector', 'jacobian', 'pose')
        ],
        [('flexible', 'gravity_vector'), ('panda', 'jacobian'), ('ur5', 'pose')],
    ),
)
def test_second_derivatives_are_differences_of_first_ones(name: str, quantity: str) -> None:
    """And first ones of values: by kernels, which know nothing of these derivatives."""
    robot = robot_called(name)
    n, q = robot.n, state(robot)[0]
    owner: Any = robot.frame(robot.model.tip_link) if quantity in ('jacobian', 'pose') else robot
    method = getattr(owner, quantity)
    value, first, second = expand(method, q, 2).derivatives
    rows = len(value)
    expected = richardson(method, q).reshape(rows, -1)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(first, expected, rtol=1e-8, atol=1e-8 * scale)
    by_steps = richardson(lambda x: expand(method, x, 1).derivatives[1], q, 0.05)
    np.testing.assert_allclose(
        second, by_steps.reshape(rows, -1), rtol=1e-7, atol=1e-7 * np.abs(second).max()
    )
    if quantity == 'jacobian':
        H = owner.kinematic_hessian(q)
        np.testing.assert_allclose(first, H, rtol=1e-11, atol=1e-11 * np.abs(H).max())
    assert second.shape == (rows, first.shape[1] * n)


@pytest.mark.parametrize('name', ['ur5', 'flexible'])
def test_several_arguments_are_expanded_together(name: str) -> None:
    """To the first order M, D_L and K_L; quadratic in qd and qdd, so the second order is exact."""
    robot = robot_called(name)
    n, (q, qd, qdd) = robot.n, state(robot)
    expansion = expand(robot.inverse_dynamics, (q, qd, qdd), 1 if name == 'flexible' else 2)
    assert expansion.lengths == (n, n, n)
    linear = dynamics.linearization(robot.model, q, qd, qdd)
    found = expansion.derivatives[1].reshape(n, 3 * n)
    expected = np.hstack([linear.stiffness_matrix, linear.damping_matrix, linear.mass_matrix])
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * np.abs(expected).max())
    if expansion.order == 2:
        found = expansion(q, 3 * qd, -qdd)
        expected = robot.inverse_dynamics(q, 3 * qd, -qdd)
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_plain_functions_of_a_model_and_of_arrays() -> None:
    robot = robot_called('ur5')
    q = state(robot)[0]
    tip, model = robot.model.tip_link, robot.model
    plain = expand(lambda x: kinematics.jacobian(model, x, tip), q, 1)
    bound = expand(robot.frame(tip).jacobian, q, 1)
    np.testing.assert_array_equal(plain.derivatives[1], bound.derivatives[1])
    for sine in (np.sin, sin):
        third = expand(lambda x, f=sine: f(x[0]) * x[1], [0.3, 2.0], 3).derivatives[3]
        expected = np.zeros((2, 2, 2))
        expected[0, 0, 0] = -2 * np.cos(0.3)
        for place in ((0, 0, 1), (0, 1, 0), (1, 0, 0)):
            expected[place] = -np.sin(0.3)
        np.testing.assert_allclose(third, expected.reshape(1, 8), rtol=1e-15, atol=1e-15)


def test_function_is_called_once_whatever_the_order() -> None:
    calls = []

    def counted(x: Any) -> Any:
        calls.append(1)
        return x[0] * x[1] ** 3

    assert khang_derivatives_at(counted, [2.0, 3.0], 4)[4].reshape(2, 2, 2, 2)[0, 1, 1, 1] == 6
    assert len(calls) == 1


def test_robot_at_symbols() -> None:
    """A symbolic point gives the expansion in closed form."""
    robot = kd.load(ROOT / 'urdf' / 'paper_stacker.urdf')
    q = sympy.symbols('q1:4', real=True)
    closed = expand(robot.gravity_vector, np.array(q, dtype=object), 2)
    point = state(robot)[0]
    exact = expand(robot.gravity_vector, point, 2)
    for a, b in zip(closed.derivatives, exact.derivatives, strict=True):
        values = sympy.lambdify(q, a.tolist())(*point)
        np.testing.assert_allclose(np.array(values, dtype=float), b, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ('quantity', 'lengths', 'words'),
    [
        ('mass_matrix', [7], r'vectors of shape \(7,\), expected those of q \(6,\)$'),
        ('mass_matrix', [5], r'vectors of shape \(5,\), expected'),
        ('mass_matrix', [6, 6], r'of shape \(6,\), \(6,\), expected those of q \(6,\)$'),
        ('inverse_dynamics', [6], r'expected those of q \(6,\), qd \(6,\), qdd \(6,\)$'),
        ('inverse_dynamics', [6, 6, 5], r'expected those of q \(6,\), qd \(6,\), qdd \(6,\)$'),
    ],
)
def test_a_point_that_does_not_fit_is_refused(
    quantity: str, lengths: list[int], words: str
) -> None:
    """One that is too long would give derivatives with columns of nothing."""
    point = tuple(np.zeros(length) for length in lengths)
    function = getattr(robot_called('ur5'), quantity)
    with pytest.raises(kd.ShapeError, match=words):
        expand(function, point if len(point) > 1 else point[0], 1)


def test_a_wrench_has_vectors_of_its_own_lengths() -> None:
    frame = robot_called('ur5').frame('tool0')
    expansion = expand(frame.external_wrench, (np.zeros(6), np.ones(3), np.ones(3)), 1)
    np.testing.assert_allclose(
        expansion.derivatives[1][:, 6:], frame.jacobian(np.zeros(6)).T, rtol=0, atol=1e-12
    )


def test_several_results_are_not_expanded_together() -> None:
    robot = robot_called('ur5')
    words = 'several arrays, mass_matrix, .*, expected one'
    with pytest.raises(kd.KronDynamicsError, match=words):
        expand(robot.linearization, (np.zeros(6),) * 3, 1)


@pytest.mark.parametrize(
    ('place', 'wrong', 'error', 'words'),
    [
        (0, np.zeros(5), kd.ShapeError, r'^q has shape \(5,\), expected \(6,\)'),
        (1, np.zeros((2, 6)), kd.ShapeError, '^qd has shape'),
        (2, np.zeros(2), kd.ShapeError, '^qdd has shape'),
        (0, 'abcdef', kd.KronDynamicsError, "^q is 'abcdef'"),
    ],
)
def test_terms_of_the_linearization_refuse_by_name(
    place: int, wrong: Any, error: Any, words: str
) -> None:
    motion: list[Any] = [np.zeros(6)] * 3
    motion[place] = wrong
    with pytest.raises(error, match=words):
        dynamics.linearization_terms(robot_called('ur5').model, *motion)
