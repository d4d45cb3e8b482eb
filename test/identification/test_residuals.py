# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What is left of efforts, and the friction that explains most of it, where both are known."""

from __future__ import annotations

import numpy as np
import pytest
from sampled_runs import machine

import kron_dynamics as kd
from kron_dynamics.identification.described_friction import described_friction
from kron_dynamics.identification.friction import BASIC_TERMS, friction_regressor
from kron_dynamics.identification.residuals import residual_of, with_described_rotors
from kron_dynamics.identification.rows import Rows

pytestmark = pytest.mark.interpreted


@pytest.fixture(scope='module')
def robot() -> kd.Robot:
    return machine('ur5', coulomb=0.03)


def test_what_is_left_is_a_share_of_what_was_recorded(rng: np.random.Generator) -> None:
    effort = rng.standard_normal((40, 3)) * [1.0, 5.0, 20.0]
    shares = np.array([0.1, 0.5, 1.0])
    sizes = np.linalg.norm(effort, axis=0)
    found = residual_of(effort, effort * (1.0 - shares))
    np.testing.assert_allclose(found.joints, shares)
    assert found.total == pytest.approx(np.linalg.norm(shares * sizes) / np.linalg.norm(sizes))
    # Where either is not known, neither counts.
    some, guess = effort.copy(), effort * (1.0 - shares)
    some[::2, 0], guess[1::4, 1] = np.nan, np.nan
    guess[:, 2] = np.nan
    partly = residual_of(some, guess)
    np.testing.assert_allclose(partly.joints[:2], shares[:2])
    assert np.isnan(partly.joints[2])
    assert partly.total < shares[1]


def rows_with(
    robot: kd.Robot, friction: np.ndarray, rng: np.random.Generator
) -> tuple[Rows, np.ndarray]:
    """Rows of a robot with other friction, (n, 3), and its inertial parameters."""
    q, qd, qdd = rng.uniform(-1.0, 1.0, (3, 80, robot.n))
    inertial = robot.inertial_parameters()
    matrix = np.concatenate(
        [robot.regressor(q, qd, qdd), friction_regressor(robot.model, qd, BASIC_TERMS)], axis=2
    )
    effort = matrix @ np.concatenate([inertial, friction.ravel()])
    return Rows(np.arange(80.0), matrix, effort, np.zeros(80)), inertial


def test_friction_beside_known_inertia_is_found_and_offsets_are_left_out(
    robot: kd.Robot, rng: np.random.Generator
) -> None:
    friction = np.column_stack(
        [rng.uniform(1.0, 5.0, (robot.n, 2)), np.resize([-3.0, 4.0], robot.n)]
    )
    rows, inertial = rows_with(robot, friction, rng)
    rows.effort[::3, 0] = np.nan
    found = described_friction(robot, rows, inertial, np.ones((80, robot.n)))
    np.testing.assert_allclose(found, friction[:, :2], rtol=1e-8)
    # Rows without weight do not count, and joints without any keep their description.
    rows.effort[40:] += 100.0
    weights = np.where(np.arange(80)[:, None] < 40, 2.0, 0.0) * np.ones(robot.n)
    weights[:, 1] = 0.0
    found = described_friction(robot, rows, inertial, weights)
    expected = friction[:, :2].copy()
    expected[1] = robot.model.friction[1], robot.model.damping[1]
    np.testing.assert_allclose(found, expected, rtol=1e-8)


def test_friction_that_drives_is_none(robot: kd.Robot, rng: np.random.Generator) -> None:
    friction = np.tile([2.0, -0.5, 0.0], (robot.n, 1))
    rows, inertial = rows_with(robot, friction, rng)
    found = described_friction(robot, rows, inertial, np.ones((80, robot.n)))
    np.testing.assert_allclose(found[:, 1], 0.0, atol=1e-12)
    assert (found[:, 0] > 0.0).all()


def test_rotors_are_those_of_the_description(robot: kd.Robot) -> None:
    own = robot.inertial_parameters()
    found = with_described_rotors(robot, np.arange(len(own) + 30.0))
    np.testing.assert_array_equal(found[: -robot.n], np.arange(len(own) - robot.n))
    np.testing.assert_array_equal(found[-robot.n :], own[-robot.n :])
