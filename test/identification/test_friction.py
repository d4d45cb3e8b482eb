# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Friction terms: each joint's own, what each multiplies, and what a reversal does."""

from __future__ import annotations

import numpy as np
import pytest
from sampled_runs import machine

import kron_dynamics as kd
from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.exceptions import ParameterError
from kron_dynamics.identification.friction import (
    TERMS,
    URDF_TERMS,
    friction_names,
    friction_regressor,
    presliding_state,
)

pytestmark = pytest.mark.interpreted


@pytest.fixture(scope='module')
def robot() -> kd.Robot:
    return machine('ur5', coulomb=0.03)


def passages(robot: kd.Robot) -> np.ndarray:
    return friction_coefficients(robot.model)[:, 2]


def test_described_coefficients_give_the_friction_of_the_robot(
    robot: kd.Robot, rng: np.random.Generator
) -> None:
    qd = rng.uniform(-1.0, 1.0, (20, robot.n))
    coefficients = np.column_stack([robot.model.friction, robot.model.damping])
    assert robot.model.friction.all()
    found = friction_regressor(robot.model, qd, ('coulomb', 'viscous')) @ coefficients.ravel()
    np.testing.assert_allclose(found, robot.joint_friction(qd), rtol=1e-12)


@pytest.mark.parametrize('passage', [1.0, 0.3])
def test_every_term_is_what_it_says_at_its_joint_alone(
    passage: float, robot: kd.Robot, rng: np.random.Generator
) -> None:
    v = passage * passages(robot)
    qd, load = v * rng.uniform(-8.0, 8.0, (30, robot.n)), rng.normal(size=(30, robot.n))
    found = friction_regressor(robot.model, qd, tuple(TERMS), load, passage=passage)
    s = np.tanh(qd / v)
    expected = {
        'coulomb': s,
        'viscous': qd,
        'offset': np.ones_like(qd),
        'asymmetry': np.abs(s),
        'stribeck': s * np.exp(-((qd / (5.0 * v)) ** 2)),
        'cubic': qd**3,
        'load': s * np.abs(load),
    }
    assert list(expected) == list(TERMS)
    full = np.zeros((30, robot.n, robot.n, len(TERMS)))
    for joint in range(robot.n):
        for place, values in enumerate(expected.values()):
            full[:, joint, joint, place] = values[:, joint]
    np.testing.assert_allclose(found, full.reshape(found.shape), rtol=1e-12)
    state = rng.uniform(-1.0, 1.0, qd.shape)
    held = friction_regressor(robot.model, qd, ('viscous', 'coulomb'), state=state)
    np.testing.assert_allclose(
        held @ np.tile([0.5, 2.0], robot.n), 0.5 * qd + 2.0 * state, rtol=1e-12
    )


def test_only_terms_that_turn_around_with_the_motion_have_a_sign(
    robot: kd.Robot, rng: np.random.Generator
) -> None:
    """With a joint's axis reversed the other coefficients have the opposite sign."""
    qd, load = rng.uniform(0.1, 1.0, (5, robot.n)), rng.normal(size=(5, robot.n))
    for term, above_zero in TERMS.items():
        there, back = (friction_regressor(robot.model, v, (term,), load) for v in (qd, -qd))
        if above_zero:
            np.testing.assert_array_equal(back, -there)
        if term in URDF_TERMS:  # these take up work in every motion
            assert above_zero


def test_a_load_has_to_be_given_for_its_term(robot: kd.Robot) -> None:
    with pytest.raises(ParameterError, match="'load' needs the load"):
        friction_regressor(robot.model, np.zeros((2, robot.n)), ('load',))


def test_names_are_in_the_order_of_the_columns() -> None:
    names = friction_names(['a', 'b'], ('coulomb', 'viscous'))
    assert names == ('a coulomb', 'a viscous', 'b coulomb', 'b viscous')


@pytest.mark.parametrize('parts', [1, 7])
def test_friction_builds_up_anew_over_a_displacement_however_it_is_sampled(
    robot: kd.Robot, parts: int
) -> None:
    # Dahl: ds/dx = (sign - s) / d, so that s = 1 - exp(-x / d) from rest, and after a reversal
    # s = -1 + (s0 + 1) exp(-x / d).
    time, d = 0.3, 0.3 * passages(robot)
    there, back = 1.3, 0.4
    way = np.array([0.0, there, there - back])
    steps = np.interp(np.linspace(0.0, 2.0, 2 * parts + 1), np.arange(3.0), way)
    state = presliding_state(robot.model, d * steps[:, None], time)
    turned = 1.0 - np.exp(-there)
    np.testing.assert_allclose(state[0], 0.0)
    np.testing.assert_allclose(state[parts], turned, rtol=1e-9)
    np.testing.assert_allclose(state[-1], -1.0 + (turned + 1.0) * np.exp(-back), rtol=1e-9)
