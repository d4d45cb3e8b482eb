# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Single terms of [K] (60)-(62) and [T] (93), (94), (98), (99), and their sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pinocchio_oracle import arm_text

import kron_dynamics as kd
from kron_dynamics import dynamics
from kron_dynamics.model import RobotModel

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope='module', params=['ur5', 'panda', 'flexible'])
def robot(request: pytest.FixtureRequest) -> RobotModel:
    if request.param == 'flexible':
        flexible = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
        return kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=flexible).model
    file = {'ur5': 'ur5_robot.urdf', 'panda': 'panda.urdf'}[request.param]
    return kd.loads(arm_text(file)).model


@pytest.fixture
def motion(robot: RobotModel, rng: np.random.Generator) -> Any:
    states = rng.uniform(-1, 1, (3, robot.n))
    states[:, robot.joint_count :] *= 0.01
    return states


def close(found: Any, expected: Any, rel: float = 1e-10) -> None:
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=rel, atol=rel * scale)


def test_terms_add_up_to_the_linearization(robot: RobotModel, motion: Any) -> None:
    terms = dynamics.linearization_terms(robot, *motion)
    linear = dynamics.linearization(robot, *motion)
    close(terms.inertia.by_y, linear.mass_matrix)
    close(terms.coriolis.by_y, linear.damping_matrix)
    stiffness = terms.inertia.by_x + terms.coriolis.by_x + terms.gravity_slope
    close(stiffness, linear.stiffness_matrix)
    close(terms.inertia.value + terms.coriolis.value + terms.gravity, linear.effort)


@pytest.mark.parametrize('term', ['inertia', 'coriolis', 'gravity'])
def test_each_term_leaves_the_second_order(robot: RobotModel, motion: Any, term: str) -> None:
    """Halving the deviations divides by four what is left of each term by itself."""
    q, qd, qdd = motion
    terms = dynamics.linearization_terms(robot, q, qd, qdd)
    directions = np.random.default_rng(4).uniform(-1, 1, (3, robot.n))
    directions[:, robot.joint_count :] *= 0.01

    def left(h: float) -> float:
        y, yd, ydd = h * directions
        if term == 'inertia':
            exact = dynamics.mass_matrix(robot, q + y) @ (qdd + ydd)
            linear = terms.inertia(y, ydd)
        elif term == 'coriolis':
            exact = dynamics.coriolis_matrix(robot, q + y, qd + yd) @ (qd + yd)
            linear = terms.coriolis(y, yd)
        else:
            exact = dynamics.gravity_vector(robot, q + y)
            linear = terms.gravity + terms.gravity_slope @ y
        return float(np.abs(exact - linear).max())

    assert np.log2(left(0.02) / left(0.01)) == pytest.approx(2, abs=0.15)


def test_kinetic_energy_of_the_stacked_mass_matrix(robot: RobotModel, motion: Any) -> None:
    q, qd, _ = motion
    T = dynamics.kinetic_energy(robot, q, qd)
    assert dynamics.vec_kinetic_energy(robot, q, qd) == pytest.approx(T, rel=1e-12)


def test_terms_of_lagranges_equations(robot: RobotModel, motion: Any, derivative: Any) -> None:
    """(98) is the rate of M qd along the motion, (99) the gradient of the kinetic energy."""
    q, qd, qdd = motion
    terms = dynamics.lagrange_terms(robot, q, qd, qdd)
    gradient = derivative(lambda x: np.array([dynamics.kinetic_energy(robot, x, qd)]), q)
    close(terms.energy_gradient, gradient[0], 1e-7)

    def momentum(t: Any) -> Any:
        return dynamics.mass_matrix(robot, q + qd * t[0] + qdd * t[0] ** 2 / 2) @ (qd + qdd * t[0])

    close(terms.momentum_rate, derivative(momentum, np.zeros(1))[:, 0], 1e-7)
    C = dynamics.lagrange_velocity_free_matrix(robot, q)
    M = dynamics.mass_matrix(robot, q)
    expected = M @ qdd + C @ np.kron(qd, qd)
    close(terms.momentum_rate - terms.energy_gradient, expected)
