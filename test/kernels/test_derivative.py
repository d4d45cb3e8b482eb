# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Derivatives of traces against differences, identities and the equations' own derivatives."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from kron_dynamics import dynamics, kinematics
from kron_dynamics.kernels.derivative import derivative, directional_derivative
from kron_dynamics.kernels.interpreted import interpret
from kron_dynamics.kernels.trace import Trace
from kron_dynamics.kinematics.scalars import cos, sin, tanh
from kron_dynamics.model import RobotModel, load_model


def evaluate(trace: Trace, *arguments: Any) -> Any:
    outs = [np.empty(shape) for shape in trace.shapes]
    interpret(trace)(1, [np.asarray(x, dtype=float) for x in arguments], outs)
    return outs[0] if len(outs) == 1 else outs


@pytest.fixture(params=['rrp', 'branched', 'gripper'])
def arm(request: pytest.FixtureRequest, robot_text: Any) -> RobotModel:
    return load_model(robot_text(request.param))


def test_rules_of_differentiation(assert_close: Any) -> None:
    def function(x: Any, y: Any) -> Any:
        return [sin(x[0]) * cos(x[1]) / (x[1] + 3), tanh(x[0] * y[0]) - x[1], -x[0] * x[0], 7.0]

    x, y = [0.3, -0.7], [1.9]
    s, c, S, C, t = np.sin(0.3), np.cos(0.3), np.sin(-0.7), np.cos(-0.7), np.tanh(0.57)
    expected = [
        [c * C / 2.3, -s * S / 2.3 - s * C / 2.3**2],
        [1.9 * (1 - t**2), -1],
        [-0.6, 0],
        [0, 0],
    ]
    trace = Trace(function, [2, 1])
    made = derivative(trace, 0)
    assert (made.shapes, made.sizes) == (((4, 2),), (2, 1))
    assert_close(evaluate(made, x, y), expected)
    assert_close(evaluate(derivative(trace, 1), x, y), [[0], [0.3 * (1 - t**2)], [0], [0]])


def test_derivative_of_the_mass_matrix_is_the_equations(
    arm: RobotModel, rng: np.random.Generator, assert_close: Any
) -> None:
    q = rng.uniform(-1, 1, arm.n)
    made = derivative(Trace(partial(dynamics.mass_matrix, arm), [arm.n]), 0)
    expected = dynamics.mass_matrix_derivative(arm, q)
    assert_close(evaluate(made, q).reshape(arm.n, -1), expected)


def test_second_derivative_of_the_potential_energy_is_symmetric_and_that_of_gravity(
    arm: RobotModel, rng: np.random.Generator, assert_close: Any
) -> None:
    q = rng.uniform(-1, 1, arm.n)
    energy = Trace(partial(dynamics.potential_energy, arm), [arm.n])
    once = derivative(energy, 0)
    assert_close(evaluate(once, q), dynamics.gravity_vector(arm, q))
    twice = evaluate(derivative(once, 0), q)
    assert_close(twice, twice.T)
    gravity = Trace(partial(dynamics.gravity_vector, arm), [arm.n])
    assert_close(twice, evaluate(derivative(gravity, 0), q))


def test_directional_derivative_along_the_motion_is_the_rate_of_change(
    arm: RobotModel, rng: np.random.Generator, assert_close: Any
) -> None:
    """d(acceleration)/dt of a frame is its jerk, which has an equation of its own."""
    q, qd, qdd, qddd = rng.uniform(-1, 1, (4, arm.n))
    link = arm.tip_link
    acceleration = Trace(
        lambda *state: kinematics.frame_acceleration(arm, *state, link), [arm.n] * 3
    )
    rate = directional_derivative(acceleration)
    assert rate.sizes == (arm.n,) * 6
    expected = kinematics.frame_jerk(arm, q, qd, qdd, qddd, link)
    assert_close(evaluate(rate, q, qd, qdd, qd, qdd, qddd), expected)


def test_torque_rate_against_differences(arm: RobotModel, rng: np.random.Generator) -> None:
    q, qd, qdd, qddd = rng.uniform(-1, 1, (4, arm.n))
    rate = directional_derivative(Trace(partial(dynamics.inverse_dynamics, arm), [arm.n] * 3))
    made = evaluate(rate, q, qd, qdd, qd, qdd, qddd)

    def tau(t: float) -> Any:
        return dynamics.inverse_dynamics(
            arm,
            q + qd * t + qdd * t**2 / 2 + qddd * t**3 / 6,
            qd + qdd * t + qddd * t**2 / 2,
            qdd + qddd * t,
        )

    h = 1e-4
    expected = (8 * (tau(h) - tau(-h)) - (tau(2 * h) - tau(-2 * h))) / (12 * h)
    np.testing.assert_allclose(made, expected, atol=1e-8 * np.abs(expected).max())


def test_several_results_have_their_derivatives() -> None:
    trace = Trace(lambda x: (x[0] * x[1], np.array([x[0], 2 * x[1]])), [2])
    first, second = evaluate(directional_derivative(trace), [3.0, 4.0], [1.0, 10.0])
    np.testing.assert_array_equal(first, 34.0)
    np.testing.assert_array_equal(second, [1.0, 20.0])
