# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Retimed paths of joints with friction: what drives have left of it is used, both ways."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from single_carts import cart

import kron_dynamics as kd
from kron_dynamics.control import check_trajectory, retime
from kron_dynamics.exceptions import TrajectoryError

ARM = Path(__file__).parents[2] / 'robots' / 'planar_2r.urdf'
_ROUNDING = 1.0 + 1e-9

pytestmark = pytest.mark.interpreted


def arm():
    """Two joints without weight; friction takes nearly half of what the shoulder's drive has."""
    friction = ('damping="0.5" friction="0.25"', 'damping="0.5" friction="20"')
    text = ARM.read_text()
    assert friction[0] in text
    return kd.loads(text.replace(*friction))


MACHINES = {
    # Way, and each joint's effort limit, damping, Coulomb friction and velocity limit.
    'cart': (
        lambda: cart(velocity=4.0, damping=0.5, friction=2.0),
        [[0.0], [3.0]],
        ([6.0], [0.5], [2.0], [4.0]),
    ),
    'arm': (
        arm,
        [[0.0, 0.0], [0.6, 0.5], [1.0, -0.4]],
        ([45.0, 30.0], [0.5, 0.25], [20.0, 0.0], [4.0, 6.0]),
    ),
}


def shares_of_drives(machine):
    """Efforts and friction over the limits in 19999 samples, by the description's numbers."""
    make, way, numbers = machine
    robot, (limit, damping, coulomb, speed) = make(), map(np.array, numbers)
    none = np.full(robot.n, np.inf)
    found = retime(robot, way, velocity_limit=none, effort_limit=limit, friction=True)
    q, qd, qdd = found.trajectory.samples(np.linspace(0.0, found.duration, 20001)[1:-1])
    friction = damping * qd + coulomb * np.tanh(qd / (0.01 * speed))
    return (robot.inverse_dynamics(q, qd, qdd) + friction) / limit, friction / limit


@pytest.mark.parametrize('name', MACHINES)
def test_a_drive_gives_all_it_has_while_friction_holds_back_and_while_it_brakes(name):
    # A wrong friction violates no limit, because the motion is slowed to its limits afterwards.
    # But too little leaves effort unused where friction brakes, too much where it holds back.
    shares, friction = shares_of_drives(MACHINES[name])
    assert 0.999 < np.abs(shares).max() <= _ROUNDING
    k, most = np.arange(len(shares)), np.abs(shares).argmax(axis=1)
    used, braked = np.abs(shares)[k, most] > 0.99, (shares * friction)[k, most] < 0.0
    assert 0.2 < braked.mean() < 0.4
    assert used[braked].mean() > 0.8
    assert used[~braked].mean() > 0.95


@pytest.mark.parametrize('way', [[0.6, 0.5], [0.6, 0.0]], ids=['both turn back', 'one does'])
def test_steps_of_coulomb_friction_are_no_effort_rates(way):
    """Where drives have plenty of effort, a joint that turns back is as quick as without it."""
    points = np.array([[0.0, 0.0], way, [0.2, -0.4]])
    limits = {'effort_limit': [1e3, 1e3], 'effort_rate_limit': [500.0, 200.0]}
    robot = arm()
    found, free = (
        retime(robot, points, friction=friction, **limits) for friction in (True, False)
    )
    assert found.duration == pytest.approx(free.duration, rel=5e-3)
    # That of damping counts.
    t = np.linspace(0.0, found.duration, 20001)
    q, qd, qdd = found.trajectory.samples(t)
    tau = robot.inverse_dynamics(q, qd, qdd) + qd * robot.model.damping
    rates = (np.abs(np.diff(tau, axis=0)) / t[1]).max(axis=0) / limits['effort_rate_limit']
    assert 0.98 < rates.max() <= _ROUNDING


def test_only_with_friction_a_motion_passes_the_check_of_those_that_follow_it():
    robot, limit = arm(), np.array([45.0, 30.0])
    for rates in (None, [500.0, 200.0]):
        with_friction, without = (
            retime(
                robot,
                [[0.0, 0.0], [1.5, 0.5]],
                effort_limit=limit,
                effort_rate_limit=rates,
                friction=friction,
            ).trajectory
            for friction in (True, False)
        )
        check_trajectory(with_friction, robot, effort_limit=limit)
        with pytest.raises(TrajectoryError, match="joint 'shoulder': effort"):
            check_trajectory(without, robot, effort_limit=limit)
