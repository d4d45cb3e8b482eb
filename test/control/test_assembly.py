# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Settings that contradict each other are refused: none is ignored, none replaces another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sampled_runs import POSE, ROBOTS, machine
from settings_of_controllers import settings

from kron_dynamics.control import assembled_controller
from kron_dynamics.control.law import unused_settings
from kron_dynamics.exceptions import ParameterError

pytestmark = pytest.mark.interpreted


@pytest.fixture(scope='module', params=ROBOTS)
def assemble(request, kernel_cache):
    """Makes a controller of a machine with stiff links; has the machine."""
    name, robot = request.param, machine(request.param)
    one = np.ones(robot.n)

    def make(**changes):
        given = settings(robot, **{'kp': 9.0 * one, 'kd': 6.0 * one, **changes})
        with ThreadPoolExecutor(1) as background:
            return assembled_controller(given, robot, robot, POSE[name], background)

    make.robot, make.name = robot, name
    return make


@pytest.mark.parametrize('law', ['pd', 'gravity'])
@pytest.mark.parametrize(
    ('asked', 'words'),
    [
        ({'shaping': 'zv'}, "reference_shaping is 'zv'"),
        ({'damping': True}, 'vibration_damping is True'),
        (
            {'shaping': 'ei', 'damping': True},
            "reference_shaping is 'ei' and vibration_damping is True",
        ),
    ],
)
def test_laws_that_do_not_know_the_links_neither_shape_nor_damp(assemble, law, asked, words):
    with pytest.raises(ParameterError) as refusal:
        assemble(law=law, **asked)
    assert str(refusal.value) == (f'{words}, which needs control_law computed_torque, got {law!r}')
    assert assemble(law=law).law.follows_references == (law == 'pd')


@pytest.mark.parametrize(
    ('law', 'lead', 'ki', 'told'),
    [
        ('computed_torque', 0.02, 5.0, None),
        ('pd', 0.0, 5.0, None),
        ('pd', 0.02, 5.0, 'effort_lead is 0.02 s, which'),
        ('gravity', 0.0, 0.0, None),
        ('gravity', 0.0, 5.0, 'gains.<joint>.ki are not all 0, which'),
        ('gravity', 0.02, 5.0, 'effort_lead is 0.02 s and gains.<joint>.ki are not all 0, which'),
    ],
)
def test_settings_that_a_law_does_not_use_are_told(law, lead, ki, told):
    expected = None if told is None else f'{told} control_law {law!r} does not use'
    assert unused_settings(law, lead, np.array([0.0, ki])) == expected


@pytest.mark.parametrize('law', ['computed_torque', 'pd'])
def test_an_integral_needs_the_effort_limit_of_its_own_joint(assemble, law):
    robot = assemble.robot
    limit, ki = robot.model.effort_limit.copy(), np.full(robot.n, 0.5)
    limit[0] = np.inf
    first = robot.joint_names[0]
    with pytest.raises(ParameterError) as refusal:
        assemble(law=law, ki=ki, effort_limit=limit)
    assert str(refusal.value) == (
        f"effort_limit of joint '{first}' is inf, expected a finite one: it limits the integral "
        f'of gains.{first}.ki'
    )
    ki[0] = 0.0
    assert np.isfinite(assemble(law=law, ki=ki, effort_limit=limit).law.limit[1:]).all()


@pytest.mark.parametrize(
    ('law', 'ki'),
    [('computed_torque', 0.0), ('computed_torque', 0.5), ('pd', 0.5), ('gravity', 0)],
)
@pytest.mark.filterwarnings('error')
def test_no_measured_state_warns_or_becomes_an_effort_that_is_not_finite(assemble, law, ki):
    robot, pose = assemble.robot, POSE[assemble.name]
    changes = {'effort_lead': 0.01} if law == 'computed_torque' else {}
    limit, zero = np.full(robot.n, 1e9), np.zeros(robot.n)
    for bad in (np.nan, np.inf, -np.inf, 1e308, -1.7e308):
        beyond = np.append(pose[:-1], bad)
        for q, qd in ((beyond, zero), (pose, np.full(robot.n, bad))):
            controller = assemble(law=law, ki=zero + ki, effort_limit=limit, **changes)
            controller.start(pose, zero)
            command = controller.update(q, qd, 10.0, 1.0)
            if np.isfinite(bad) and command is not None:
                assert np.isfinite(command.effort).all()
            else:
                assert command is None
                assert controller.latch.reason
