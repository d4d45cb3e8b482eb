# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the rates of efforts, and of the jerk that they cause."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kron_dynamics as kd
from kron_dynamics.dynamics import (
    appell_rate_terms,
    effort_rate_terms,
    forward_jerk,
    inverse_dynamics,
    inverse_dynamics_rate,
    linearization,
)
from kron_dynamics.model import load_model


def check_slopes(model: Any, s: Any, assert_close: Any) -> None:
    """Along a motion the linear model gives the change, by equations of its own."""
    near = linearization(model, s.q, s.qd, s.qdd)
    by_slopes = near.mass_matrix @ s.qddd + near.damping_matrix @ s.qdd
    by_slopes += near.stiffness_matrix @ s.qd
    rate = inverse_dynamics_rate(model, s.q, s.qd, s.qdd, s.qddd)
    assert_close(rate, by_slopes, 1e-11, floor=model.total_mass)


def test_rate_is_the_derivative_of_the_efforts(
    model: Any, state: Any, assert_close: Any, derivative: Any
) -> None:
    check_slopes(model, state, assert_close)
    q, qd, qdd, qddd = state.q, state.qd, state.qdd, state.qddd

    def efforts(t: float) -> Any:
        motion = q + t * qd + t**2 / 2 * qdd + t**3 / 6 * qddd, qd + t * qdd + t**2 / 2 * qddd
        return inverse_dynamics(model, *motion, qdd + t * qddd)

    rate = inverse_dynamics_rate(model, q, qd, qdd, qddd)
    assert_close(rate, derivative(efforts), 1e-8, floor=model.total_mass)


@given(data=st.data())
def test_random_trees(random_robots: Any, assert_close: Any, data: Any) -> None:
    check_slopes(*data.draw(random_robots), assert_close)


def test_armatures_count(robot_text: Any, assert_close: Any, rng: np.random.Generator) -> None:
    armature = {'shoulder': 0.4, 'elbow': 0.07}
    bare, geared = (
        load_model(robot_text('planar_2r'), armature=each) for each in (None, armature)
    )
    motion = rng.uniform(-1, 1, (4, 2))
    added = inverse_dynamics_rate(geared, *motion) - inverse_dynamics_rate(bare, *motion)
    assert_close(added, np.array([0.4, 0.07]) * motion[3])


def test_terms_in_kronecker_products(model: Any, state: Any, assert_close: Any) -> None:
    motion = state.q, state.qd, state.qdd, state.qddd
    terms = effort_rate_terms(model, *motion)
    rate = inverse_dynamics_rate(model, *motion)
    assert_close(sum(terms), rate, 1e-11, floor=model.total_mass)


def test_terms_by_the_energies_of_acceleration(model: Any, state: Any, assert_close: Any) -> None:
    """[N] eqs. (64), (65), with the complete energy of first order."""
    motion = state.q, state.qd, state.qdd, state.qddd
    rate = inverse_dynamics_rate(model, *motion)
    terms = appell_rate_terms(model, *motion)
    assert_close(sum(terms), rate, 1e-11, floor=model.total_mass)
    in_products = effort_rate_terms(model, *motion)
    assert_close(terms.gravity, in_products.gravity, 1e-11, floor=model.total_mass)


def test_jerk_is_what_the_rates_of_the_efforts_cause(
    model: Any, state: Any, assert_close: Any
) -> None:
    q, qd, qdd, qddd = state.q, state.qd, state.qdd, state.qddd
    tau = inverse_dynamics(model, q, qd, qdd)
    rate = inverse_dynamics_rate(model, q, qd, qdd, qddd)
    assert_close(forward_jerk(model, q, qd, tau, rate), qddd, 1e-9, floor=1.0)


def test_without_mass_there_is_no_jerk(robot_text: Any) -> None:
    tip = (
        '<link name="more"/><joint name="loose" type="revolute"><parent link="tool"/>'
        '<child link="more"/><axis xyz="0 0 1"/>'
        '<limit lower="-1" upper="1" velocity="1" effort="1"/></joint></robot>'
    )
    text = robot_text('spatial_3r').replace('</robot>', tip)
    with pytest.warns(kd.ModelWarning):
        robot = kd.loads(text)
    with pytest.raises(kd.InvalidInertiaError, match='loose'):
        robot.forward_jerk(*np.zeros((4, 4)))
    assert robot.inverse_dynamics_rate(*np.ones((4, 4))).shape == (4,)


@pytest.mark.parametrize('terms', [effort_rate_terms, appell_rate_terms])
def test_wrong_shapes_are_named(terms: Any, robot_text: Any) -> None:
    model = load_model(robot_text('planar_2r'))
    with pytest.raises(kd.ShapeError, match=r'qdd has shape \(3,\), expected \(2,\)'):
        terms(model, np.zeros(2), np.zeros(2), np.zeros(3), np.zeros(2))
    with pytest.raises(kd.ArgumentTypeError, match='qddd'):
        terms(model, np.zeros(2), np.zeros(2), np.zeros(2), ['a', 'b'])
