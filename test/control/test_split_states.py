# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Two publishers that share the joints, with one stamp: as if one had published all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sampled_runs import PERIOD, POSE, ROBOTS, Swing, machine

import kron_dynamics as kd
from kron_dynamics.control import ControlSettings, assembled_controller
from kron_dynamics.demo.controllers import AtOnce

ROOT = Path(__file__).parents[2]
START = 50.0


@pytest.fixture
def make(kernel_cache):
    """Make two controllers of a machine, each started at its pose, with limits that it meets."""

    def build(name, damping):
        rigid = flexible = machine(name)
        if damping:
            description = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
            flexible = kd.load(ROOT / 'urdf' / 'stacker_reclaimer.urdf', flexible=description)
        ones = np.ones(rigid.n)
        settings = ControlSettings(
            kp=3.0 * ones,
            kd=3.0 * ones,
            ki=None if damping else 0.5 * ones,
            effort_limit=rigid.model.effort_limit,
            rate_limit=0.2 * rigid.model.effort_limit,
            start_tolerance=ones,
            resolution=1e-4 * ones,
            period=PERIOD[name],
            state_timeout=0.2,
            damping=damping,
        )
        q = POSE[name]
        made = [assembled_controller(settings, rigid, flexible, q, AtOnce()) for _ in range(2)]
        for controller in made:
            controller.start(q, rigid.gravity_vector(q))
        return rigid, made

    return build


@pytest.mark.parametrize(
    ('name', 'damping'), [*((name, False) for name in ROBOTS), ('stacker', True)]
)
def test_the_last_answer_to_a_stamp_is_that_to_a_whole_state(make, name, damping):
    """Limits, integral and filter go on by one period, whatever the number of messages."""
    robot, (whole, split) = make(name, damping)
    period, swing = PERIOD[name], Swing.within(robot, POSE[name], 0.05, rate=1.0)
    first = np.arange(robot.n) < robot.n // 2
    q, qd = POSE[name], np.zeros(robot.n)
    different = 0
    for k in range(40):
        time = START + k * period
        before, rate = q, qd
        q, qd, _ = swing(k * period)
        expected = whole.update(q, qd, time, time)
        partial = split.update(np.where(first, q, before), np.where(first, qd, rate), time, time)
        answer = split.update(q, qd, time, time)
        np.testing.assert_array_equal(answer.effort, expected.effort)
        if damping:
            np.testing.assert_array_equal(answer.deflection, expected.deflection)
        different += (partial.effort != answer.effort).any()
    assert different > 30
    assert damping or whole.guard.rate_saturations.any()
