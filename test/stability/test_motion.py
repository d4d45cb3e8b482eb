# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Stability of periodic motions: Khang's manipulator swinging, linear against nonlinear."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kron_dynamics as kd
from kron_dynamics.exceptions import ParameterError, ShapeError
from kron_dynamics.resources import resource_path
from kron_dynamics.stability import motion_stability, stability_map


@pytest.fixture(scope='module')
def manipulator() -> kd.Robot:
    return kd.load(
        resource_path('urdf', 'flexible_manipulator.urdf'),
        flexible=resource_path('config', 'flexible_manipulator_flexible.yaml'),
    )


def swing(speed: float, amplitude: float) -> Callable[[Any], tuple[np.ndarray, ...]]:
    """q_a = amplitude sin(speed t), as columns."""

    def motion(t: Any) -> tuple[np.ndarray, ...]:
        t = np.asarray(t)[..., None]
        s, c = amplitude * np.sin(speed * t), amplitude * np.cos(speed * t)
        return s, speed * c, -(speed**2) * s

    return motion


def perturbed(robot: kd.Robot, speed: float, amplitude: float, start: np.ndarray) -> np.ndarray:
    """State (e, ed) one period on, the hub held on its motion, links bent from it: nonlinear.

    The forces that would keep the link straight act on it, so that straight is a motion too.
    """
    motion = swing(speed, amplitude)

    def rate(t: float, x: np.ndarray) -> np.ndarray:
        q, qd, qdd = (np.concatenate([part, [0.0]]) for part in motion(t))
        straight = robot.inverse_dynamics(q, qd, qdd)[1]
        q[1], qd[1] = x
        needed = robot.inverse_dynamics(q, qd, qdd)[1]
        return np.array([x[1], (straight - needed) / robot.mass_matrix(q)[1, 1]])

    run = solve_ivp(rate, (0, 2 * pi / speed), start, 'DOP853', rtol=1e-11, atol=1e-15)
    return np.asarray(run.y[:, -1])


@pytest.mark.parametrize(
    ('speed', 'amplitude', 'stable'), [(9.0, 0.8, True), (11.5, 0.8, False), (5.5, 1.2, False)]
)
def test_the_monodromy_matrix_is_that_of_the_nonlinear_motion(
    manipulator: kd.Robot, speed: float, amplitude: float, stable: bool
) -> None:
    found = motion_stability(manipulator, swing(speed, amplitude), 2 * pi / speed, held=['q_a'])
    assert found.is_stable() == stable
    size = 1e-4
    columns = [
        (
            perturbed(manipulator, speed, amplitude, size * unit)
            - perturbed(manipulator, speed, amplitude, -size * unit)
        )
        / (2 * size)
        for unit in np.eye(2)
    ]
    scale = np.abs(found.monodromy).max()
    np.testing.assert_allclose(np.column_stack(columns), found.monodromy, atol=1e-6 * scale)


def test_without_motion_the_exponents_are_the_poles(manipulator: kd.Robot) -> None:
    def still(t: Any) -> tuple[np.ndarray, ...]:
        return (np.full((len(t), 1), 0.4), np.zeros((len(t), 2)), np.zeros((len(t), 1)))

    gains = ([30.0], [2.0])
    found = motion_stability(manipulator, still, 0.05, gains=gains)
    linear = manipulator.linearize([0.4, 0.0], [0, 0], [0, 0])
    springs, dampers = np.diag([30.0, 0.0]), np.diag([2.0, 0.0])
    lower = -np.linalg.solve(
        linear.mass, np.hstack([linear.stiffness + springs, linear.damping + dampers])
    )
    poles = np.linalg.eigvals(np.vstack([np.eye(4)[2:], lower]))
    np.testing.assert_allclose(np.sort_complex(found.exponents), np.sort_complex(poles), rtol=1e-8)


def test_shortening_holds_a_fast_swing(manipulator: kd.Robot) -> None:
    """Without it the link softens with speed, and beyond some speed every swing is unstable."""
    text = resource_path('urdf', 'flexible_manipulator.urdf').read_text(encoding='utf-8')
    entry = {
        'length': 1.3,
        'mass_per_length': 0.9,
        'bending_stiffness': {'w': 14.0},
        'modes': {'w': 1},
        'mode_shapes': 'clamped_free',
        'geometric_stiffness': False,
    }
    printed = kd.loads(text, flexible={'flexible_links': {'link_oe': entry}})

    def margins(robot: kd.Robot) -> np.ndarray:
        return stability_map(
            lambda speed, amplitude: motion_stability(
                robot, swing(speed, amplitude), 2 * pi / speed, held=['q_a']
            ),
            [9.0, 13.0, 16.0],
            [0.8, 1.0],
        )

    natural = manipulator.linearize([0, 0], [0, 0], [0, 0])
    assert sqrt(natural.stiffness[1, 1] / natural.mass[1, 1]) == pytest.approx(5.15, abs=0.01)
    assert (margins(printed)[:, 1:] < -1).all()
    # Of the real link some swings resonate, slowly growing; no swing throws it aside.
    assert (margins(manipulator) > -0.5).all()
    assert margins(manipulator).max() == pytest.approx(0, abs=1e-6)


def test_what_is_no_motion_or_drive_is_refused(manipulator: kd.Robot) -> None:
    motion = swing(3.0, 0.1)
    with pytest.raises(ParameterError, match=r"held names \['q_b'\], expected some of q_a, link"):
        motion_stability(manipulator, motion, 1.0, held=['q_b'])
    with pytest.raises(ParameterError, match='nothing is left'):
        motion_stability(manipulator, motion, 1.0, held=manipulator.joint_names)
    with pytest.raises(ShapeError, match=r'kd has shape \(2,\), expected \(1,\)'):
        motion_stability(manipulator, motion, 1.0, gains=([1.0], [1.0, 1.0]))
    with pytest.raises(ShapeError, match='qd of the motion has shape'):
        motion_stability(manipulator, lambda t: (np.zeros((len(t), 1)), t, t), 1.0)
