# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The loop of a controller and a simulated machine: its times."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.demo.closed_loop import ClosedLoop

pytestmark = pytest.mark.interpreted


def loop_without_efforts(robot: kd.Robot, told: list[Any], **options: Any) -> ClosedLoop:
    """A loop of a robot with two joints; the times of its states are added to a list."""

    def update(q: Any, qd: Any, stamp: float, now: float) -> Any:
        told.append((stamp, now))
        return SimpleNamespace(effort=np.zeros(2), q_ref=q, deflection=())

    controller: Any = SimpleNamespace(start=lambda *_: None, update=update)
    return ClosedLoop(robot, controller, [0.0, 0.0], **options)


def test_a_settling_time_needs_a_later_state(robot_text: Any) -> None:
    loop = loop_without_efforts(kd.loads(robot_text('planar_2r')), [], period=0.01)
    loop.plant.qd = np.ones(2)
    loop.advance(0.03)
    name, (before, last) = loop.plant.robot.joint_names[0], loop.times[-2:]
    assert loop.settling_time(name, before, 0.1) == np.inf  # it moves on
    with pytest.raises(kd.ParameterError, match=r'no state after 0\.02 s'):
        loop.settling_time(name, last, 0.1)


@pytest.mark.parametrize('start', [0.0, 7.0])
def test_periods_of_no_whole_microseconds_do_not_drift(start: float, robot_text: Any) -> None:
    """The controller is told the time that the machine has moved for."""
    told = list[Any]()
    robot = kd.loads(robot_text('planar_2r'))
    loop = loop_without_efforts(robot, told, period=1 / 300, start_time=start)
    loop.advance(0.1)
    loop.advance(0.1)
    np.testing.assert_allclose(told, start + np.arange(60)[:, None] / 300 * [1, 1], atol=1e-14)
    assert loop.times.tolist() == [now for _, now in told]
    assert loop.time == pytest.approx(start + 0.2, abs=1e-14)
