# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives in every number system against rules, identities and the equations' own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy
from long_runs import some_of

from kron_dynamics import dynamics, kinematics
from kron_dynamics.dual import jacobian_of
from kron_dynamics.elementary import cos, sin, tanh
from kron_dynamics.kernels.interpreted import Interpreted
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.model import RobotModel, load_model

Evaluate = Callable[..., Any]


def on_floats(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*(np.asarray(x, dtype=float) for x in arguments))


def on_trace(function: Callable[..., Any], *arguments: Any) -> Any:
    trace = Trace(function, [len(x) for x in arguments])
    outs = [np.empty(shape) for shape in trace.shapes]
    Interpreted(trace)(1, [np.asarray(x, dtype=float) for x in arguments], outs)
    return outs[0] if len(outs) == 1 else tuple(outs)


def on_sympy(function: Callable[..., Any], *arguments: Any) -> Any:
    names = iter(sympy.symbols(f'x:{sum(map(len, arguments))}', real=True))
    symbols = [np.array([next(names) for _ in x], dtype=object) for x in arguments]
    returned = function(*symbols)
    flat = [symbol for array in symbols for symbol in array]
    values = [float(value) for x in arguments for value in x]

    def numbers(result: Any) -> Any:
        result = np.asarray(result, dtype=object)
        evaluated = sympy.lambdify(flat, result.ravel().tolist(), 'numpy', cse=True)(*values)
        return np.array(evaluated, dtype=float).reshape(result.shape)

    return tuple(map(numbers, returned)) if isinstance(returned, tuple) else numbers(returned)


WAYS = (on_floats, on_trace, on_sympy)
# Of a robot with four joints the derivatives alone are pages of symbols.
ARMS = [
    (way, name)
    for way in WAYS
    for name in ('planar_2r', 'rrp', 'branched', 'gripper')
    if (way, name) != (on_sympy, 'branched')
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if 'arm' in metafunc.fixturenames:
        chosen = [(way, name) for way, name in ARMS if (way is on_sympy) == (name == 'planar_2r')]
        metafunc.parametrize(('evaluate', 'arm'), some_of(ARMS, chosen), indirect=['arm'])
    elif 'evaluate' in metafunc.fixturenames:
        metafunc.parametrize('evaluate', WAYS)


@pytest.fixture
def arm(request: pytest.FixtureRequest, robot_text: Any) -> RobotModel:
    return load_model(robot_text(request.param))


def derivative(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: jacobian_of(function, x)[1]


def rate(function: Callable[..., Any]) -> Callable[..., Any]:
    """dA/dt of A(q, ...) from the arguments and their rates, as a derivative by a step in time."""

    def along(*arguments: Any) -> Any:
        half = len(arguments) // 2
        at, rates = arguments[:half], arguments[half:]

        def moved(t: Any) -> Any:
            return function(*(x + v * t[0] for x, v in zip(at, rates, strict=True)))

        return jacobian_of(moved, [0])[1][..., 0]

    return along


def test_rules_of_differentiation(evaluate: Evaluate, assert_close: Any) -> None:
    def function(x: Any, y: Any) -> Any:
        return [
            sin(x[0]) * cos(x[1]) / (x[1] + 3),
            tanh(x[0] * y[0]) - x[1],
            -x[0] * x[0] + 0 * x[1],
            2 / x[0] - (1 - x[1]) / 3,
            x[1] / 4 + 1,
            7.0,
        ]

    x, y = [0.3, -0.7], [1.9]
    s, c, S, C, t = np.sin(0.3), np.cos(0.3), np.sin(-0.7), np.cos(-0.7), np.tanh(0.57)
    expected = [
        [c * C / 2.3, -s * S / 2.3 - s * C / 2.3**2],
        [1.9 * (1 - t**2), -1],
        [-0.6, 0],
        [-2 / 0.09, 1 / 3],
        [0, 0.25],
        [0, 0],
    ]
    values, by_x = evaluate(lambda x, y: jacobian_of(lambda v: function(v, y), x), x, y)
    at = [s * C / 2.3, t + 0.7, -0.09, 2 / 0.3 - 1.7 / 3, 1 - 0.7 / 4, 7]
    assert_close(values, at)
    assert_close(by_x, expected)
    by_y = evaluate(lambda x, y: jacobian_of(lambda v: function(x, v), y)[1], x, y)
    assert_close(by_y, [[0], [0.3 * (1 - t**2)], [0], [0], [0], [0]])


def test_powers_with_whole_exponents(evaluate: Evaluate, assert_close: Any) -> None:
    def powers(x: Any) -> Any:
        return jacobian_of(lambda v: [v[0] ** k for k in (3, 1, 0, -2)], x)

    values, slopes = evaluate(powers, [0.7])
    assert_close(values, [0.343, 0.7, 1, 1 / 0.49])
    assert_close(slopes, [[3 * 0.49], [1], [0], [-2 / 0.343]])


def test_floats_give_floats_and_numpys_functions_work() -> None:
    values, slopes = jacobian_of(lambda x: np.sin(x) * np.tanh(x) / np.cos(x), [0.4, 0.5])
    assert values.dtype == slopes.dtype == np.float64
    x = np.array([0.4, 0.5])
    np.testing.assert_allclose(values, np.tan(x) * np.tanh(x))
    expected = np.tanh(x) / np.cos(x) ** 2 + np.tan(x) / np.cosh(x) ** 2
    np.testing.assert_allclose(slopes, np.diag(expected))
    value, slope = jacobian_of(lambda x: 2 * x[0], [3.0])
    assert (value.shape, slope.shape) == ((), (1,))


def test_variables_of_nested_derivatives_are_kept_apart(
    evaluate: Evaluate, assert_close: Any
) -> None:
    # d/dx (x d/dy (x + y)) is 1; taking x for y would give 2.
    def function(x: Any) -> Any:
        return jacobian_of(lambda v: v[0] * jacobian_of(lambda w: v[0] + w[0], v)[1][0], x)[1]

    assert_close(evaluate(function, [2.0]), [1.0])

    def outer_inside(x: Any) -> Any:
        return jacobian_of(
            lambda v: jacobian_of(lambda w: (v[0] - w[0]) / (w[0] * v[0]) - v[0] / w[0], v)[1], x
        )[1]

    # d/dw at w = v is (v - 1)/v^2.
    assert_close(evaluate(outer_inside, [3.0]), [[1 / 9 - 4 / 27]])


def test_there_is_no_branching() -> None:
    with pytest.raises(TypeError, match='no truth value'):
        jacobian_of(lambda x: x[0] if x[0] else 0, [1.0])
    with pytest.raises(TypeError):
        jacobian_of(lambda x: x[0] ** 0.5, [1.0])


def test_derivative_of_the_mass_matrix_is_the_equations(
    evaluate: Evaluate, arm: RobotModel, rng: np.random.Generator, assert_close: Any
) -> None:
    q = rng.uniform(-1, 1, arm.n)
    made = evaluate(derivative(lambda x: dynamics.mass_matrix(arm, x)), q)
    expected = dynamics.mass_matrix_derivative(arm, q)
    assert_close(made.reshape(arm.n, -1), expected)


def test_second_derivative_of_the_potential_energy_is_symmetric_and_that_of_gravity(
    evaluate: Evaluate, arm: RobotModel, rng: np.random.Generator, assert_close: Any
) -> None:
    q = rng.uniform(-1, 1, arm.n)
    once = derivative(lambda x: dynamics.potential_energy(arm, x))
    assert_close(evaluate(once, q), dynamics.gravity_vector(arm, q))
    twice = evaluate(derivative(once), q)
    assert_close(twice, twice.T)
    assert_close(twice, evaluate(derivative(lambda x: dynamics.gravity_vector(arm, x)), q))


def test_derivative_along_the_motion_is_the_rate_of_change(
    evaluate: Evaluate, arm: RobotModel, rng: np.random.Generator, assert_close: Any
) -> None:
    """d(acceleration)/dt of a frame is its jerk, which has an equation of its own."""
    q, qd, qdd, qddd = rng.uniform(-1, 1, (4, arm.n))
    link = arm.tip_link
    made = rate(lambda *state: kinematics.frame_acceleration(arm, *state, link))
    expected = kinematics.frame_jerk(arm, q, qd, qdd, qddd, link)
    assert_close(evaluate(made, q, qd, qdd, qd, qdd, qddd), expected)


def test_torque_rate_against_differences(
    evaluate: Evaluate, arm: RobotModel, rng: np.random.Generator
) -> None:
    q, qd, qdd, qddd = rng.uniform(-1, 1, (4, arm.n))
    made = rate(lambda *state: dynamics.inverse_dynamics(arm, *state))

    def tau(t: float) -> Any:
        return dynamics.inverse_dynamics(
            arm,
            q + qd * t + qdd * t**2 / 2 + qddd * t**3 / 6,
            qd + qdd * t + qddd * t**2 / 2,
            qdd + qddd * t,
        )

    h = 1e-4
    expected = (8 * (tau(h) - tau(-h)) - (tau(2 * h) - tau(-2 * h))) / (12 * h)
    got = evaluate(made, q, qd, qdd, qd, qdd, qddd)
    np.testing.assert_allclose(got, expected, atol=1e-8 * np.abs(expected).max())
