# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Simulated motion of closed loops: no drift, right order, energy and work."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from constrained_robots import spatial_loop
from mechanisms import sleigh_text

import kron_dynamics as kd
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import BladeConstraint
from kron_dynamics.simulation.constrained_motion import simulate_constrained

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[2]


@functools.cache
def four_bar() -> ConstrainedRobot:
    robot = kd.load(ROOT / 'urdf' / 'four_bar.urdf')
    return ConstrainedRobot.described(robot, ROOT / 'config' / 'four_bar_constraints.yaml')


def energy(q: Any, qd: Any) -> float:
    robot = four_bar().robot
    return float(robot.kinetic_energy(q, qd) + robot.potential_energy(q))


def test_loops_stay_closed_and_energy_is_work() -> None:
    """A motor torque and friction at the crank: the balance of energy after a full swing."""
    closed = four_bar()
    torque = np.array([6.0, 0.0, 0.0])
    found = simulate_constrained(
        closed,
        closed.start,
        closed.velocities(closed.start, [2.0]),
        lambda t, q, qd: torque,
        duration=0.6,
        step=4e-3,
        friction=True,
    )
    assert found.times[-1] == pytest.approx(0.6) and len(found.times) == 151
    assert max(np.abs(closed.residual(q)).max() for q in found.q) < 1e-12
    rates = [closed.terms(q, qd).A @ qd for q, qd in zip(found.q, found.qd, strict=True)]
    assert np.abs(rates).max() < 1e-12
    assert np.ptp(found.q[:, 0]) > 1.0
    power = [(torque - closed.robot.joint_friction(qd)) @ qd for qd in found.qd]
    h = found.times[1]
    # Simpson's rule.
    work = h / 3 * (power[0] + power[-1] + 4 * sum(power[1::2]) + 2 * sum(power[2:-1:2]))
    gained = energy(found.q[-1], found.qd[-1]) - energy(found.q[0], found.qd[0])
    assert gained == pytest.approx(work, rel=1e-5)


def test_errors_fall_with_the_fourth_power_of_the_step() -> None:
    closed = four_bar()
    qd = closed.velocities(closed.start, [3.0])
    ends = [
        simulate_constrained(closed, closed.start, qd, duration=0.16, step=step).q[-1]
        for step in (0.02, 0.01, 0.0025)
    ]
    coarse, fine = (np.abs(end - ends[2]).max() for end in ends[:2])
    assert 10 < coarse / fine < 26


def test_a_redundant_loop_moves_in_any_step() -> None:
    """Bennett's linkage: within a step its five conditions on three joints differ slightly."""
    robot = spatial_loop(1.0)
    qd = robot.velocities(robot.start, [2.0])
    ends = []
    for step in (1e-3, 1e-2):
        found = simulate_constrained(robot, robot.start, qd, duration=0.01, step=step)
        np.testing.assert_allclose(found.q[:, 0], -found.q[:, 2], atol=1e-7)
        ends.append(found.q[-1])
    np.testing.assert_allclose(*ends, atol=1e-6)
    np.testing.assert_allclose(ends[0] - robot.start, 0.01 * qd, rtol=0.1)


def test_a_sleigh_turns_until_its_mass_leads() -> None:
    """Chaplygin's: energy is kept, and backward motion turns into forward."""
    robot = ConstrainedRobot(
        kd.loads(sleigh_text(2.0, 0.3, 0.15), gravity=(0, 0, 0)),
        [BladeConstraint('blade', 'sleigh', (0.0, 1.0, 0.0))],
    )
    qd = np.array([-1.0, 0.0, 0.3])
    found = simulate_constrained(robot, np.zeros(3), qd, duration=1.5, step=0.03)
    kinetic = [robot.robot.kinetic_energy(*s) for s in zip(found.q, found.qd, strict=True)]
    assert np.ptp(kinetic) < 1e-6 * kinetic[0]
    heading = np.cos(found.q[:, 2]), np.sin(found.q[:, 2])
    along = heading[0] * found.qd[:, 0] + heading[1] * found.qd[:, 1]
    across = heading[0] * found.qd[:, 1] - heading[1] * found.qd[:, 0]
    assert along[0] == -1.0 and (np.diff(along) > 0).all()
    assert np.abs(across).max() < 1e-12


@pytest.mark.parametrize(
    ('changes', 'error', 'words'),
    [
        ({'duration': 0.0}, kd.ParameterError, 'duration is 0.0 s'),
        ({'step': -1.0}, kd.ParameterError, 'step is -1.0 s'),
        ({'time': np.nan}, kd.ParameterError, 'time is nan s, expected a finite number'),
        ({'time': 'now'}, kd.ArgumentTypeError, "time is or holds 'now'"),
        ({'step': 1e-12}, kd.ParameterError, 'at most 10000000'),
        ({'efforts': lambda t, q, qd: [1.0]}, kd.KronDynamicsError, r'tau has shape \(1,\)'),
        (
            {'efforts': lambda t, q, qd: [1.0], 'friction': True},
            kd.ShapeError,
            r'tau has shape \(1,\), expected \(3,\)',
        ),
        ({'efforts': lambda t, q, qd: [np.nan] * 3}, kd.NonFiniteError, 'tau holds a NaN'),
        ({'robot': None}, kd.ArgumentTypeError, 'expected a ConstrainedRobot'),
    ],
)
def test_what_cannot_be_simulated_is_refused(changes: Any, error: Any, words: str) -> None:
    robot = four_bar()
    arguments = {
        **{'robot': robot, 'q': robot.start, 'qd': np.zeros(3), 'duration': 0.01},
        **changes,
    }
    with pytest.raises(error, match=words):
        simulate_constrained(**arguments)
