# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Deflection and tip of a robot with links that bend; control goes by the rigid robot."""

from __future__ import annotations

import numpy as np
import pytest
from kron_dynamics_msgs.srv import InverseDynamics
from scipy.spatial.transform import Rotation

from kron_dynamics.equilibrium import quasi_static_equilibrium

pytestmark = pytest.mark.ros

Q, QD = np.array([0.1, 0.2, 0.05]), np.array([0.3, -0.2, 0.1])
EFFORT = np.array([10.0, 40.0, -20.0])


def xyz(vector):
    return np.array([vector.x, vector.y, vector.z])


@pytest.mark.parametrize('source', ['reference', 'model'])
def test_deflection_and_tip(flexible_bench, flexible_robot, assert_close, source):
    """With the accelerations that there are: those of the model, or none without a reference."""
    bench = flexible_bench
    bench.configure(acceleration_source=source)
    bench.acknowledge()
    told = bench.answer(bench.deflections, Q, QD, EFFORT)
    qdd = None
    if source == 'model':
        qdd = bench.robot.forward_dynamics(Q, QD, EFFORT - bench.robot.joint_friction(QD))
    q = quasi_static_equilibrium(flexible_robot, Q, QD, qdd)
    assert tuple(told.name) == ('beam/v1', 'beam/w1')
    assert_close(told.position, q[3:], rel=1e-9)
    assert abs(told.position[1]) > 1e-3
    pose = bench.answer_to(told, bench.poses)
    assert pose.header.frame_id == 'base'
    bent = flexible_robot.frame('nozzle').pose(q)
    assert_close(xyz(pose.pose.position), bent[:3, 3])
    turned = pose.pose.orientation
    rotation = Rotation.from_quat([turned.x, turned.y, turned.z, turned.w]).as_matrix()
    assert_close(rotation, bent[:3, :3])
    correction = bench.answer_to(told, bench.corrections)
    assert correction.header.frame_id == 'base'
    stiff = bench.robot.frame('nozzle').pose(Q)
    assert_close(xyz(correction.vector), bent[:3, 3] - stiff[:3, 3], rel=1e-9)


def test_commands_and_other_services_are_those_of_the_rigid_robot(flexible_bench, assert_close):
    bench = flexible_bench
    bench.prepare(q=Q)
    assert_close(bench.command(Q), bench.robot.gravity_vector(Q))
    request = dict(zip(('position', 'velocity', 'acceleration'), (Q, QD, QD), strict=True))
    answer = bench.client.call(
        InverseDynamics,
        'dynamics_node/inverse_dynamics',
        **{name: values.tolist() for name, values in request.items()},
    )
    assert answer.success
    assert_close(answer.effort, bench.robot.inverse_dynamics(Q, QD, QD))


@pytest.mark.parametrize(
    ('turning', 'said'),
    [(30.0, 'their stiffness does not carry this load'), (1e300, '')],
    ids=['gives way', 'overflow'],
)
def test_a_beam_that_does_not_hold_is_told_and_stops_nothing(flexible_bench, turning, said):
    """Upright, the beam turns faster than a shaft may; or there are no such numbers."""
    bench, upright = flexible_bench, (0.1, 1.4, 0.05)
    bench.configure(linearized_model_rate=200.0)
    bench.acknowledge(Q)
    before = len(bench.process.output)
    absurd = []

    def send():
        absurd.append(bench.answer(bench.twists, upright, [turning, 0.0, 0.0]).header.stamp)

    def warned():
        send()
        lines = bench.process.output[before:].splitlines()
        return all(
            any(f'no {what}' in line and said in line for line in lines)
            for what in ('deflection', 'linearized model')
        )

    send()
    if said:  # and then not again at once
        bench.client.wait_for(warned, 'warnings')
    told = bench.answer(bench.deflections, Q)
    bench.answer_to(told, bench.linear_models)
    for heard in (bench.deflections, bench.linear_models):
        assert not [message for message in heard if message.header.stamp in absurd]


def test_a_flexible_description_that_cannot_be_used_ends_the_node(run_to_end, bench_settings):
    file = '/no/such/flexible.yaml'
    urdf = bench_settings['robot_description_file']
    parameters = {'robot_description_file': urdf, 'flexible_description_file': file}
    ((code, output),) = run_to_end({'flexible': ('dynamics_node', parameters)}).values()
    assert code == 1, output
    assert file in output
    assert 'Traceback' not in output
