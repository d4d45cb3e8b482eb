# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Twist and acceleration of the tip are the facade's, at the state's stamp."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rclpy.serialization import serialize_message

import kron_dynamics as kd
from kron_dynamics.ros.conversions import joint_state, stamp_from
from kron_dynamics.ros.dynamics_node import DynamicsNode

pytestmark = pytest.mark.ros

Q, QD = np.array([0.1, 0.2, 0.05]), np.array([0.3, -0.2, 0.1])
EFFORT = np.array([10.0, 40.0, -20.0])
# A joint for a tool that is not there.
BARE = """<robot name="bare"><link name="base"/><link name="flange"/>
  <joint name="wrist" type="continuous"><parent link="base"/><child link="flange"/></joint>
  </robot>"""


def twist_of(message):
    linear, angular = message.twist.linear, message.twist.angular
    return [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]


def acceleration_of(message):
    linear, angular = message.accel.linear, message.accel.angular
    return [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]


@pytest.mark.parametrize(('parameter', 'link'), [('', 'nozzle'), ('beam', 'beam')])
def test_twist_of_the_frame_of_the_parameter(bench, assert_close, parameter, link):
    bench.configure(tip_frame=parameter)
    bench.acknowledge()
    answer = bench.answer(bench.twists, Q, QD)
    assert answer.header.frame_id == 'base'
    assert_close(twist_of(answer), bench.robot.frame(link).velocity(Q, QD))


def test_an_unknown_tip_is_refused(bench):
    bench.unconfigure()
    assert bench.client.set_parameters({'tip_frame': 'crane'}) == ''
    assert not bench.client.transition('configure')
    assert 'crane' in bench.process.output.splitlines()[-1]
    assert bench.client.lifecycle_state() == 'unconfigured'


def test_acceleration_of_the_reference(bench, assert_close):
    """Half a second into a move from rest over 1 rad in 2 s, by the quintic's formula."""
    bench.prepare(q=Q, acceleration_source='reference')
    bench.command()
    rest = np.zeros((2, 3))
    goal = Q + [1.0, 0.0, 0.0]
    start = bench.time + 0.5
    assert bench.refer([0.0, 2.0], [Q, goal], rest, rest, start=start) is None
    answer = bench.answer(bench.accelerations, Q, QD, after=start + 0.5 - bench.time)
    s = 0.25
    qdd = np.array([(60 * s - 180 * s**2 + 120 * s**3) / 4.0, 0.0, 0.0])
    assert answer.header.frame_id == 'base'
    expected = bench.robot.frame('nozzle').acceleration(Q, QD, qdd)
    assert_close(acceleration_of(answer), expected, rel=1e-9)


def test_without_a_reference_its_acceleration_is_not_made_up(bench):
    bench.configure(acceleration_source='reference')
    for _ in range(3):
        bench.acknowledge(Q, QD)
    assert not bench.accelerations


def test_acceleration_of_the_model(bench, assert_close):
    bench.configure(acceleration_source='model')
    bench.acknowledge()
    # Without a measured effort there is nothing to say.
    bench.answer(bench.twists, Q, QD)
    assert not bench.accelerations
    bench.client.wait_for(
        lambda: bench.acknowledge(Q, QD, EFFORT) or bench.accelerations, 'tip acceleration'
    )
    answer = bench.answer(bench.accelerations, Q, QD, EFFORT)
    qdd = bench.robot.forward_dynamics(Q, QD, EFFORT - bench.robot.joint_friction(QD))
    assert_close(acceleration_of(answer), bench.robot.frame('nozzle').acceleration(Q, QD, qdd))


@pytest.mark.parametrize('cutoff', [0.5, 4.0])
def test_acceleration_of_the_filtered_velocity(bench, assert_close, cutoff):
    """A step of velocity decays through the low pass with its own time constant."""
    bench.configure(acceleration_source='filtered', filter_cutoff=cutoff)
    bench.acknowledge(Q)
    bench.client.wait_for(lambda: bench.acknowledge(Q) or bench.accelerations, 'tip acceleration')
    rate, after = 2.0 * np.pi * cutoff, 0.04
    for steps in (1, 2, 3):
        answer = bench.answer(bench.accelerations, Q, QD, after=after)
        # Its mean over the step before.
        qdd = QD * np.exp(-rate * after * (steps - 1)) * -np.expm1(-rate * after) / after
        expected = bench.robot.frame('nozzle').acceleration(Q, QD, qdd)
        assert_close(acceleration_of(answer), expected, rel=1e-9)


@pytest.mark.interpreted
def test_a_joint_that_moves_no_mass_has_no_acceleration_and_does_not_end_the_node(ros):
    """It ended the process, as soon as a state had efforts."""
    node, published, said = DynamicsNode(), [], []
    try:
        for name, value in (('acceleration_source', 'model'), ('fault_action', 'zero')):
            node.set_parameters([Parameter(name, value=value)])
        with pytest.warns(kd.ModelWarning, match='moves no mass'):
            node._descriptions.robot = kd.loads(BARE)
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        node._outputs._tip.publish = lambda stamp, state, qdd: published.append(qdd)
        node.get_logger = lambda: SimpleNamespace(warning=lambda line, **_: said.append(line))
        rest, effort = np.zeros(1), np.ones(1)
        for time in (10.0, 10.02):
            message = joint_state(stamp_from(time), ['wrist'], rest, rest, effort)
            node._on_joint_state(bytes(serialize_message(message)), {})
    finally:
        node.destroy_node()
    assert published == [None, None]
    assert all("no acceleration: joint 'wrist' moves no mass" in line for line in said)
    assert said
