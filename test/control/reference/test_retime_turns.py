# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Retimed paths on which a joint turns many times between two waypoints."""

from __future__ import annotations

import numpy as np
import pytest
from single_carts import cart

import kron_dynamics as kd
from kron_dynamics.control import retime

pytestmark = pytest.mark.interpreted

WEIGHT = """<robot name="winch"><link name="frame"/>
  <joint name="turn" type="continuous"><parent link="frame"/><child link="arm"/>
    <axis xyz="0 1 0"/><limit effort="10" velocity="20"/></joint>
  <link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="2"/><inertia ixx="0.001"
    iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


@pytest.mark.parametrize('goal', [10.0, 500.0, 1000.0])
def test_a_weight_that_goes_round_and_round(kernel_cache, goal):
    """Its moment changes sign twice a turn: that counts, however few the waypoints are."""
    robot = kd.loads(WEIGHT)
    found = retime(robot, [[0.0], [goal]], effort_rate_limit=[200.0])
    times = np.arange(0.0, found.duration, 1e-3)
    motion = found.trajectory.samples(times)
    tau = robot.inverse_dynamics(*motion)
    assert np.abs(tau).max() <= 10.0
    assert np.abs(np.diff(tau, axis=0)).max() <= 200.0 * 1e-3
    assert np.abs(motion[1]).max() <= 20.0 * (1.0 + 1e-9)
    # At 20 rad/s it would be there sooner, and a little more is spent at both ends.
    assert goal / 20.0 < found.duration < goal / 20.0 + 1.0


@pytest.mark.filterwarnings('error::RuntimeWarning')
@pytest.mark.parametrize('velocity', [100.0, 1.0])
def test_a_way_back_along_the_same_path_is_nearly_as_quick_as_with_a_rest(velocity):
    """Where all joints turn back, no limit bounds the speed along the path."""
    points, robot = [[0.0], [1.0], [0.0]], cart(velocity=velocity)
    through, rest = (retime(robot, points, rests=rests).duration for rests in ((), (1,)))
    assert through == pytest.approx(rest, rel=2e-3)
