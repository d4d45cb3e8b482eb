# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What a controller derives from masses follows a change of the payload; given values stay."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sampled_runs import PERIOD, POSE, ROBOTS, machine

import kron_dynamics as kd
from kron_dynamics.carrying import CarryingRobot, PayloadChange
from kron_dynamics.control import (
    ControlSettings,
    FaultAction,
    ReferenceBounds,
    assembled_controller,
)
from kron_dynamics.control.gravity_hold import damping_range
from kron_dynamics.control.payload_quantities import PayloadQuantities
from kron_dynamics.control.sample_poses import poses_within_limits
from kron_dynamics.exceptions import ParameterError

LOAD = {
    'stacker': kd.RigidPayload(8e3, np.array([0.5, 0.0, -0.4]), np.diag([4e3, 5e3, 4e3])),
    'ur5': kd.RigidPayload(4.0, np.array([0.05, 0.0, 0.1]), np.diag([4e-3, 4e-3, 2e-3])),
    'panda': kd.RigidPayload(2.0, np.array([0.05, 0.0, 0.1]), np.diag([4e-3, 4e-3, 2e-3])),
}


@pytest.fixture(scope='module', params=ROBOTS)
def loaded(request, kernel_cache):
    """Name, machine without a payload, and the same with one."""
    robot = machine(request.param)
    empty = CarryingRobot(robot, robot.model.tip_link)
    return request.param, empty, empty.with_payload(robot.model.tip_link, LOAD[request.param])


def settings(name, robot, **changes):
    n, limit = robot.n, robot.model.effort_limit
    given = {
        'kp': np.full(n, 9.0),
        'kd': np.full(n, 6.0),
        'effort_limit': limit,
        'rate_limit': 10.0 * limit,
        'start_tolerance': np.full(n, 0.01),
        'resolution': np.full(n, 1e-5),
        'period': PERIOD[name],
        'state_timeout': 0.2,
    }
    return ControlSettings(**{**given, **changes})


def assembled(chosen, robot, name):
    with ThreadPoolExecutor(1) as background:
        return assembled_controller(chosen, robot, robot, POSE[name], background)


def changed(name, empty, after, **changes):
    """A controller of the empty machine after the change, and one made for the loaded machine."""
    chosen = settings(name, empty, **changes)
    carrying = empty.with_payloads({})  # the module's machine stays as it is
    controller = assembled(chosen, carrying, name)
    PayloadChange(carrying, after).advance(1.0)
    PayloadQuantities.of(chosen, after, after).adopt(controller)
    return controller, assembled(chosen, after, name)


def test_derived_limits_are_those_of_the_loaded_machine(loaded):
    name, empty, after = loaded
    changes = {'ki': np.full(empty.n, 0.5)}
    controller, wanted = changed(name, empty, after, **changes)
    before = assembled(settings(name, empty, **changes), empty, name)
    for got, expected, old in (
        (
            controller.references.acceleration_limit,
            wanted.references.acceleration_limit,
            before.references.acceleration_limit,
        ),
        (controller.law.limit, wanted.law.limit, before.law.limit),
    ):
        np.testing.assert_allclose(got, expected, rtol=1e-12)
        assert np.abs(got / old - 1.0).max() > 1e-3
    assert controller.hold.range == wanted.hold.range


def test_given_limits_stay(loaded):
    name, empty, after = loaded
    given = np.linspace(0.1, 0.2, empty.n)
    controller, _ = changed(name, empty, after, bounds=ReferenceBounds(acceleration=given))
    np.testing.assert_array_equal(controller.references.acceleration_limit, given)


def test_hand_guiding_has_the_damping_of_the_loaded_machine(loaded):
    name, empty, after = loaded
    controller, wanted = changed(name, empty, after, law='gravity')
    assert controller.law.damping == wanted.law.damping
    zero, speeds = np.zeros(empty.n), 0.4 * empty.model.velocity_limit  # between s = 1 and s = 2
    for qd in (zero, speeds):
        reference, efforts = (POSE[name], zero, zero), []
        for each in (controller.law, wanted.law):
            efforts.append(each(POSE[name], qd, reference, each.start(POSE[name]), PERIOD[name]))
        np.testing.assert_allclose(*efforts, rtol=1e-9, atol=1e-9)
    lowest = damping_range(after, PERIOD[name]).lowest
    assert controller.law.damping == lowest
    given = 2.0 * lowest
    controller, _ = changed(name, empty, after, law='gravity', guiding_damping=given)
    assert controller.law.damping == given


def test_a_payload_with_which_no_damping_is_stable_is_refused(loaded):
    name, empty, after = loaded
    # The range is empty from the period on at which its lower end meets k T = 1/4. Where the lower
    # end is that of every machine, 0.5 1/s, the payload makes no difference.
    ends = [damping_range(robot, PERIOD[name]).lowest / PERIOD[name] for robot in (empty, after)]
    same = ends[0] == ends[1]
    assert same == (name == 'stacker')
    period = 0.49 if same else float(np.sqrt(0.25 / np.sqrt(ends[0] * ends[1])))
    chosen = settings(name, empty, law='gravity', period=period, fault_action=FaultAction.ZERO)
    PayloadQuantities.of(chosen, empty, empty)
    if same:
        PayloadQuantities.of(chosen, after, after)
        chosen = settings(name, empty, law='gravity', period=0.51, fault_action=FaultAction.ZERO)
    with pytest.raises(ParameterError, match="control law 'gravity' cannot brake"):
        PayloadQuantities.of(chosen, after, after)


def test_a_payload_that_leaves_nothing_for_the_integral_is_refused(loaded):
    name, empty, after = loaded
    weights = [
        np.abs(robot.gravity_vector(poses_within_limits(robot))).max(axis=0)
        for robot in (empty, after)
    ]
    added = weights[1] - weights[0]
    joint = int(np.abs(added).argmax())
    # The load of the stacker balances its counterweight.
    light, heavy = (empty, after) if added[joint] > 0.0 else (after, empty)
    limit = empty.model.effort_limit.copy()
    limit[joint] = 0.5 * (weights[0] + weights[1])[joint]
    chosen = settings(name, empty, ki=np.full(empty.n, 0.5), effort_limit=limit)
    PayloadQuantities.of(chosen, light, light)
    with pytest.raises(ParameterError, match=f"'{empty.joint_names[joint]}' needs .* gravity"):
        PayloadQuantities.of(chosen, heavy, heavy)
    kept = chosen._replace(ki=np.where(np.arange(empty.n) == joint, 0.0, 0.5))
    assert PayloadQuantities.of(kept, heavy, heavy).integral_limit[joint] == 0.0
