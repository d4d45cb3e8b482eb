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

STEP = 0.01
TERMS = ('coulomb', 'viscous', 'offset')


@pytest.mark.parametrize(('sharpness', 'least', 'most'), [(1.0, 1.0, 1.0), (0.02, 0.1, 0.3)])
def test_the_speed_over_which_friction_turns_is_found(
    sharpness: float, least: float, most: float, robot_text: Any, rng: np.random.Generator
) -> None:
    robot = kd.loads(robot_text('rrp'))
    t = STEP * np.arange(1500)[:, None]
    w = 2.0 * np.pi * np.array([0.31, 0.47, 0.38])
    passage = friction_coefficients(robot.model)[:, 2]
    top = 20.0 * passage  # slow motion: a good part of it is near a reversal
    q, qd, qdd = top / w * np.sin(w * t), top * np.cos(w * t), -top * w * np.sin(w * t)
    tau = robot.inverse_dynamics(q, qd, qdd)
    size = np.sqrt(np.mean(tau**2, axis=0))
    tau += size * np.tanh(qd / (sharpness * passage))
    tau += 0.05 * size * rng.standard_normal(tau.shape)
    motion = Motion(t[:, 0], q, qd, tau)
    found, told = choose_structure(robot, [motion], Structure(3.0 * STEP), terms=TERMS)
    assert least <= found.passage <= most
    assert any('passes through zero' in line for line in told) == (sharpness != 1.0)
