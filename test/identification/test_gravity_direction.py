# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A base that does not stand level is told by the efforts of the weight."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sampled_runs import machine

import kron_dynamics as kd
from kron_dynamics.identification import Motion, identify
from kron_dynamics.identification.gravity_direction import (
    tilt_axes,
    tilt_notes,
    tilt_regressor,
    tilted_gravity,
)

pytestmark = pytest.mark.interpreted

DEGREE = np.pi / 180.0


def swung(robot: kd.Robot, seed: int) -> Motion:
    """Sines of all joints; efforts with friction and noise of 0.5 %."""
    rng = np.random.default_rng(seed)
    t = np.arange(0.0, 20.0, 0.02)
    w = 2.0 * np.pi * rng.uniform(0.1, 0.5, (3, robot.n))
    phase = rng.uniform(0.0, 2.0 * np.pi, (3, robot.n))
    angle = w * t[:, None, None] + phase
    q = (0.4 * np.sin(angle)).sum(axis=1) + 0.3
    qd, qdd = (0.4 * w * np.cos(angle)).sum(axis=1), (-0.4 * w**2 * np.sin(angle)).sum(axis=1)
    tau = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
    tau += 0.005 * np.sqrt(np.mean(tau**2, axis=0)) * rng.standard_normal(tau.shape)
    return Motion(t, q, qd, tau)


@pytest.mark.parametrize('gravity', [(0.0, 0.0, -9.81), (0.0, 9.81, 0.0), (1.0, -2.0, 3.0)])
def test_axes_lie_across_gravity(gravity: tuple[float, ...]) -> None:
    axes = tilt_axes(np.array(gravity))
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-15)
    np.testing.assert_allclose(axes @ gravity, 0.0, atol=1e-14)


def test_efforts_of_tilted_gravity_are_linear_in_the_tilt() -> None:
    robot = machine('ur5')
    level = robot.model.gravity
    q = np.random.default_rng(1).uniform(-3.0, 3.0, (20, robot.n))
    across = np.array([0.3, -0.2])
    gravity = tilted_gravity(level, across)
    assert np.linalg.norm(gravity) == pytest.approx(np.linalg.norm(level), rel=1e-14)
    tilted = kd.Robot(replace(robot.model, gravity=gravity))
    left = gravity @ level / (level @ level)
    expected = left * robot.gravity_vector(q) + tilt_regressor(robot, q) @ across
    np.testing.assert_allclose(tilted.gravity_vector(q), expected, atol=1e-11)


def test_the_tilt_of_a_base_is_found_and_explains_the_efforts() -> None:
    described = machine('ur5')
    gravity = tilted_gravity(described.model.gravity, 9.81 * DEGREE * np.array([0.6, -0.4]))
    true = machine('ur5', coulomb=0.03)
    true = kd.Robot(replace(true.model, gravity=gravity))
    found = identify(described, [swung(true, 1)], [swung(true, 2)])
    assert found.structure.tilt
    off = np.arccos(found.gravity @ gravity / np.linalg.norm(gravity) ** 2)
    assert off < 0.02 * DEGREE
    across = [item for item in found.parameters if item.name.startswith('gravity across')]
    truth = tilt_axes(described.model.gravity) @ gravity
    assert len(across) == 2
    for item, value in zip(across, truth, strict=True):
        assert abs(item.after - value) < 0.05 and item.high - item.low < 0.1
    assert found.unfiltered['identified'].total < 0.0075


def test_a_level_base_is_found_level() -> None:
    described, true = machine('ur5'), machine('ur5', mass=1.1)
    found = identify(described, [swung(true, 3)], [swung(true, 4)])
    level = described.model.gravity
    off = np.linalg.norm(np.cross(found.gravity, level)) / (level @ level)
    assert off < 0.01 * DEGREE


def test_gravity_that_is_described_wrongly_is_told_with_the_option() -> None:
    level = np.array([0.0, 0.0, -9.81])
    assert tilt_notes(level, 9.81 * np.sin(5.0 * DEGREE) * np.array([0.6, -0.8])) == []
    # As estimated for an arm on a wall, whose masses are a few per cent heavier than described.
    (note,) = tilt_notes(level, np.array([10.05, -0.17]))
    assert note.startswith('gravity is 90 deg off') and note.endswith('--gravity 9.81 -0.166 0')
