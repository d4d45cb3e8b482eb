# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads that are set while the node runs: where they count, and what ends their way there."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import numpy as np
import pytest
from geometry_msgs.msg import Point
from kron_dynamics_msgs.srv import Linearize, SetPayload
from rclpy.executors import SingleThreadedExecutor

import kron_dynamics as kd
from kron_dynamics.control.reference.stop import acceleration_limits
from kron_dynamics.payload_kernels import PayloadKernels
from kron_dynamics.ros import payload_service
from kron_dynamics.ros.payload_service import PayloadService

pytestmark = pytest.mark.ros

Q = (0.1, 0.2, 0.05)
SERVICE = 'dynamics_node/set_payload'


def weight(robot, q, mass):
    """What a mass at the nozzle adds to g, shape (n,)."""
    loaded = kd.CarryingRobot(robot, 'nozzle')
    loaded.set_payload('nozzle', mass)
    return loaded.gravity_vector(np.array(q)) - robot.gravity_vector(np.array(q))


def told(client):
    return {v.key: v.value for v in client.next_status().values if v.key.startswith('payload')}


@pytest.mark.parametrize(
    ('asked', 'parameter', 'link'),
    [('boom', 'beam', 'boom'), ('', 'beam', 'beam'), ('', '', 'nozzle')],
)
def test_the_link_of_a_request_is_before_that_of_the_parameter_and_the_tip(asked, parameter, link):
    parameters = SimpleNamespace(value={'payload.link': parameter}.get)
    service, present = SimpleNamespace(_parameters=parameters), SimpleNamespace(tip_frame='nozzle')
    assert PayloadService._link(service, SetPayload.Request(link=asked), present) == link


def test_a_payload_set_while_inactive_is_in_the_first_command(bench, bench_robot):
    bench.configure()
    bench.acknowledge(Q)
    assert bench.client.call(SetPayload, SERVICE, link='nozzle', mass=2.0).success
    assert bench.client.transition('activate')
    expected = bench_robot.gravity_vector(np.array(Q)) + weight(bench_robot, Q, 2.0)
    np.testing.assert_allclose(bench.command(Q), expected, atol=1e-9)
    # Another replaces it, and none takes it away.
    assert bench.client.call(SetPayload, SERVICE, link='nozzle', mass=0.0).success
    np.testing.assert_allclose(
        bench.command(Q), bench_robot.gravity_vector(np.array(Q)), atol=1e-9
    )
    assert told(bench.client) == {}


def test_limits_derived_at_activation_are_those_of_the_payload(bench, bench_robot):
    bench.prepare(Q)

    def shown():
        values = {v.key: v.value for v in bench.client.next_status().values}
        return [values[f'acceleration limit of {joint}'] for joint in bench_robot.joint_names]

    loaded = kd.CarryingRobot(bench_robot, 'nozzle')
    loaded.set_payload('nozzle', 2.0)
    limit = np.minimum(bench_robot.model.effort_limit, 1e6)
    before, after = (
        [f'{value:.4g}' for value in acceleration_limits(robot, limit)]
        for robot in (bench_robot, loaded)
    )
    assert before != after
    assert shown() == before
    assert bench.client.call(SetPayload, SERVICE, link='nozzle', mass=2.0).success
    bench.client.wait_for(lambda: shown() == after, 'limits of the loaded machine')


def test_hand_guiding_refuses_a_payload_that_it_cannot_brake(bench):
    # With this period the machine alone can just be braked.
    bench.prepare(Q, control_law='gravity', fault_action='zero', state_period=0.096)
    below = Point(z=-0.3)
    refused = bench.client.call(SetPayload, SERVICE, link='nozzle', mass=2.0, center_of_mass=below)
    assert not refused.success
    assert "control law 'gravity' cannot brake" in refused.message


def test_deactivation_puts_what_is_under_way_into_effect(bench, bench_robot):
    client = bench.client
    bench.configure()
    bench.acknowledge(Q)
    assert client.call(SetPayload, SERVICE, link='nozzle', mass=0.0).success
    assert client.set_parameters({'payload.ramp_time': 60.0}) == ''
    assert client.transition('activate')
    before = bench.command(Q)
    service = client.node.create_client(SetPayload, SERVICE)
    client.wait_for(service.service_is_ready, 'service')
    future = service.call_async(SetPayload.Request(link='nozzle', mass=2.0))
    share = client.wait_for(lambda: told(client).get('payload change in effect [%]'), 'a change')
    assert 0 <= int(share) < 100
    # A second one has to wait for its turn.
    answer = client.call(SetPayload, SERVICE, link='nozzle', mass=1.0)
    assert not answer.success
    assert 'another payload is being set' in answer.message
    assert client.transition('deactivate')
    client.wait_for(future.done, 'answer')
    assert future.result().success
    # The last effort stands until somebody else takes over: it carries all of the weight.
    last = before + weight(bench_robot, Q, 2.0)
    client.wait_for(
        lambda: np.allclose(bench.command_states[-1].effort, last, atol=1e-9), 'last effort'
    )
    assert client.set_parameters({'payload.ramp_time': 1.0}) == ''
    client.node.destroy_client(service)


def test_joint_states_are_read_in_the_thread_that_receives_them(local, monkeypatch):
    """Reading is no mere look: another thread would spoil the state that is being stored."""
    node, readers = local.node, set()
    read = node._assembler.state

    def state(now):
        readers.add(threading.current_thread())
        return read(now)

    monkeypatch.setattr(node._assembler, 'state', state)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    request = SetPayload.Request(link='nozzle', mass=2.0)
    answer = executor.create_task(node._payloads._answer(request, SetPayload.Response()))
    executor.spin_until_future_complete(answer, 60.0)
    executor.remove_node(node)
    assert answer.result().success
    assert readers == {threading.current_thread()}


def test_the_fault_action_carries_the_payload(bench, bench_robot):
    bench.prepare(Q)
    assert bench.client.call(SetPayload, SERVICE, link='nozzle', mass=2.0).success
    bench.send(None, Q, np.zeros(3), after=-5.0)  # a stamp that steps back is a fault
    bench.client.wait_for(lambda: bench.client.status().message.startswith('fault'), 'fault')
    expected = bench_robot.gravity_vector(np.array(Q)) + weight(bench_robot, Q, 2.0)
    np.testing.assert_allclose(bench.command(Q), expected, atol=1e-9)
    # It may be taken off then, too: what is there is to be carried.
    assert bench.client.call(SetPayload, SERVICE, link='nozzle', mass=0.0).success
    np.testing.assert_allclose(
        bench.command(Q), bench_robot.gravity_vector(np.array(Q)), atol=1e-9
    )


def test_linear_models_of_flexible_links_have_the_payload(flexible_bench, flexible_robot):
    flexible_bench.configure()
    request = {'position': list(Q), 'velocity': [0.0] * 3, 'acceleration': [0.0] * 3}
    loaded = kd.CarryingRobot(flexible_robot, 'nozzle')
    for mass in (0.0, 0.3):
        assert flexible_bench.client.call(SetPayload, SERVICE, link='nozzle', mass=mass).success
        loaded.set_payload('nozzle', mass)
        model = flexible_bench.client.call(Linearize, 'dynamics_node/linearize', **request)
        assert model.success, model.message
        bent = np.array(model.position)
        expected = loaded.linearization(bent, np.zeros(5), np.zeros(5))
        np.testing.assert_allclose(
            np.reshape(model.mass_matrix, (5, 5)), expected.mass_matrix, atol=1e-9
        )
        np.testing.assert_allclose(
            np.reshape(model.stiffness_matrix, (5, 5)), expected.stiffness_matrix, atol=1e-7
        )
    refused = flexible_bench.client.call(SetPayload, SERVICE, link='beam', mass=1.0)
    assert not refused.success
    assert "link 'beam' bends" in refused.message


@pytest.mark.interpreted
def test_no_step_of_a_change_compiles_kernels(local, bench, monkeypatch):
    """Also not those that a service was the first to need while the request was checked."""
    node, service = local.node, local.node._payloads
    configured, controller, q = node._configured, node._controller, np.array(Q)
    robot = configured.flexible
    before = robot.gravity_vector(q)
    request = SetPayload.Request(link='beam', mass=2.0)
    checked = payload_service.require_strength

    def meanwhile(*arguments):
        robot.inverse_dynamics_rate(*np.zeros((4, 3)))
        return checked(*arguments)

    monkeypatch.setattr(payload_service, 'require_strength', meanwhile)
    change, adopted = service._prepared(request, configured, controller, q)
    np.testing.assert_allclose(robot.gravity_vector(q), before, rtol=1e-12)
    robot.forward_jerk(*np.zeros((4, 3)))
    monkeypatch.setattr(PayloadKernels, '_calls_for', None)
    service._start(change, adopted)
    service._advance()
    service.finish()
    monkeypatch.undo()
    loaded = kd.CarryingRobot(bench.robot, 'beam')
    loaded.set_payload('beam', 2.0)
    np.testing.assert_allclose(robot.gravity_vector(q), loaded.gravity_vector(q), atol=1e-9)
