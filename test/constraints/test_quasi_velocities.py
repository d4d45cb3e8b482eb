# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Speeds that are linear in the rates, of a sleigh on its blade."""

from __future__ import annotations

from typing import Any

import numpy as np
from mechanisms import sleigh_text
from uncompiled import ConstrainedOnFloats

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import BladeConstraint
from kron_dynamics.elementary import cos, sin


def test_quasi_velocities(assert_close: Any) -> None:
    """Speed along the blade and turning rate of a sleigh: B as it is known."""
    robot = ConstrainedRobot(
        kd.loads(sleigh_text(2.0, 0.3, 0.15)),
        [BladeConstraint('blade', 'sleigh', (0.0, 1.0, 0.0))],
        independent=lambda q, t: np.array([[cos(q[2]), sin(q[2]), 0], [0, 0, 1]]),
    )
    q, u = np.array([0.3, -0.2, 0.7]), np.array([1.2, -0.8])
    speeds = robot.speeds(q, robot.velocities(q, u))
    c, s = np.cos(0.7), np.sin(0.7)
    assert_close(speeds.B, [[c, 0], [s, 0], [0, 1]], 1e-14)
    assert_close(speeds.B_dot, [[0.8 * s, 0], [-0.8 * c, 0], [0, 0]], 1e-14)
    assert_close(speeds.gamma, speeds.B_dot @ u, 1e-14)
    assert robot.independent == ('u1', 'u2')


def test_constant_quasi_velocities_are_those_of_the_accelerations(assert_close: Any) -> None:
    """U qd stays as it is where qdd is gamma, also for speeds that grow with the turn."""

    def rows(q: Any, t: Any) -> Any:
        return np.array([[(1 + q[2]) * cos(q[2]), (1 + q[2]) * sin(q[2]), 0], [0, 0, 1]])

    robot = ConstrainedOnFloats(
        kd.loads(sleigh_text(2.0, 0.3, 0.15)),
        [BladeConstraint('blade', 'sleigh', (0.0, 1.0, 0.0))],
        independent=rows,
    )
    q, u = np.array([0.3, -0.2, 0.7]), np.array([1.2, -0.8])
    qd = robot.velocities(q, u)
    assert_close(rows(q, 0.0) @ qd, u, 1e-13)
    change = 1e-6 * np.array([-1.0, 1.0])
    before, after = (rows(q + h * qd, 0.0) @ (qd + h * robot.speeds(q, qd).gamma) for h in change)
    assert_close((after - before) / 2e-6, [0.0, 0.0], 1e-8)
