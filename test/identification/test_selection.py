# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Structures are chosen by what they predict: how sharply friction turns at a reversal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.dynamics.friction import friction_coefficients
from kron_dynamics.identification.motion import Motion
from kron_dynamics.identification.selection import choose_structure
from kron_dynamics.identification.structure import Structure

pytestmark = pytest.mark.interpreted

STEP = 0.01
TERMS = ('coulomb', 'viscous', 'offset')


def moved(
    robot: kd.Robot, rng: np.random.Generator, sharpness: float, coulomb: float, by_load: float
) -> Motion:
    """Slow motion, a good part of which is near a reversal, with friction and 5 % of noise.

    Args:
        robot: the robot.
        rng: of the noise.
        sharpness: friction passes through zero over this multiple of the usual speed.
        coulomb: friction as a share of the efforts.
        by_load: friction as a share of the weight that a joint holds.
    """
    t = STEP * np.arange(1500)[:, None]
    w = 2.0 * np.pi * np.array([0.31, 0.47, 0.38])
    passage = friction_coefficients(robot.model)[:, 2]
    top = 20.0 * passage
    q, qd, qdd = top / w * np.sin(w * t), top * np.cos(w * t), -top * w * np.sin(w * t)
    tau = robot.inverse_dynamics(q, qd, qdd)
    size = np.sqrt(np.mean(tau**2, axis=0))
    level = coulomb * size + by_load * np.abs(robot.inverse_dynamics(q, 0.0 * q, 0.0 * q))
    tau += level * np.tanh(qd / (sharpness * passage))
    tau += 0.05 * size * rng.standard_normal(tau.shape)
    return Motion(t[:, 0], q, qd, tau)


@pytest.mark.parametrize(('sharpness', 'least', 'most'), [(1.0, 1.0, 1.0), (0.02, 0.1, 0.3)])
def test_the_speed_over_which_friction_turns_is_found(
    sharpness: float, least: float, most: float, robot_text: Any, rng: np.random.Generator
) -> None:
    robot = kd.loads(robot_text('rrp'))
    motion = moved(robot, rng, sharpness, 1.0, 0.0)
    found, told = choose_structure(robot, [motion], Structure(3.0 * STEP), terms=TERMS)
    assert least <= found.passage <= most
    assert any('passes through zero' in line for line in told) == (sharpness != 1.0)


@pytest.mark.parametrize('by_load', [0.0, 0.01])
def test_a_little_friction_by_load_is_found_where_it_is(by_load: float, robot_text: Any) -> None:
    """It need not pay as much as terms of the speed, which a faster motion takes far off."""
    robot = kd.loads(robot_text('rrp'))
    motion = moved(robot, np.random.default_rng(0), 1.0, 0.2, by_load)
    found, _ = choose_structure(robot, [motion], Structure(3.0 * STEP), terms=None)
    assert ('load' in found.terms) == (by_load > 0.0)
