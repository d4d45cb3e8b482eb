# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The linear models told are the facade's, about the motion that the parameters say."""

from __future__ import annotations

import time

import numpy as np
import pytest
from kron_dynamics_msgs.srv import Linearize
from scipy.linalg import eigh

from kron_dynamics.equilibrium import quasi_static_equilibrium

pytestmark = pytest.mark.ros

Q, QD = np.array([0.1, 0.2, 0.05]), np.array([0.3, -0.2, 0.1])
EFFORT = np.array([10.0, 40.0, -20.0])
# As soon as there is a state.
SOON = {'linearized_model_rate': 200.0}
JOINTS, MODES = ('turn', 'lift', 'slide'), ('beam/v1', 'beam/w1')


def check_model(told, model, assert_close):
    """The message says what the linear model says."""
    assert tuple(told.joint_names) == model.joint_names
    n = model.n
    for name in ('mass', 'damping', 'stiffness'):
        expected = getattr(model, name)
        assert_close(np.reshape(getattr(told, f'{name}_matrix'), (n, n)), expected, rel=1e-9)
    for name, expected in (('position', model.q), ('velocity', model.qd)):
        assert_close(getattr(told, name), expected, rel=1e-9)
    assert_close(told.acceleration, model.qdd, rel=1e-9)
    poles = model.poles()
    poles = poles[poles.imag > 0.0]
    assert len(poles)
    assert_close(told.frequencies, np.abs(poles), rel=1e-6)
    assert_close(told.damping_ratios, -poles.real / np.abs(poles), rel=1e-6)


def about(robot, q, qd, qdd):
    """Linear model of a robot, links bent but not vibrating, about a motion of the joints."""
    rest = np.zeros(robot.n - len(q))
    return robot.linearize(
        quasi_static_equilibrium(robot, q, qd, qdd), [*qd, *rest], [*qdd, *rest]
    )


def test_a_rigid_robot_has_joints_alone(bench, assert_close):
    bench.configure(**SOON)
    bench.acknowledge()
    told = bench.answer(bench.linear_models, Q, QD, EFFORT)
    assert told.header.frame_id == 'base'
    model = bench.robot.linearize(Q, QD, np.zeros(3))
    check_model(told, model, assert_close)
    friction = bench.robot.joint_friction(QD)
    balance = EFFORT - friction - bench.robot.inverse_dynamics(Q, QD, np.zeros(3))
    assert_close(told.residual_force, balance)
    status = bench.client.next_status()
    assert not [item.key for item in status.values if 'frequency' in item.key]
    assert not bench.deflections


def test_about_the_measured_motion(flexible_bench, flexible_robot, assert_close):
    bench = flexible_bench
    bench.configure(acceleration_source='model', **SOON)
    bench.acknowledge()
    told = bench.answer(bench.linear_models, Q, QD, EFFORT)
    assert told.header.frame_id == 'base'
    assert tuple(told.joint_names) == JOINTS + MODES
    qdd = bench.robot.forward_dynamics(Q, QD, EFFORT - bench.robot.joint_friction(QD))
    model = about(flexible_robot, Q, QD, qdd)
    check_model(told, model, assert_close)
    effort = flexible_robot.inverse_dynamics(model.q, model.qd, model.qdd)
    scale = np.abs(effort).max()
    friction = bench.robot.joint_friction(QD)
    assert_close(told.residual_force[:3], EFFORT - friction - effort[:3], floor=scale, rel=1e-9)
    assert_close(told.residual_force[3:], [0.0, 0.0], floor=scale)


def test_about_the_reference(flexible_bench, flexible_robot, assert_close):
    """Measured until one is followed; then its rates and accelerations, wherever the robot is."""
    bench = flexible_bench
    bench.configure(linearization_point='reference', **SOON)
    bench.acknowledge(Q)
    told = bench.answer(bench.linear_models, Q, QD)
    check_model(told, about(flexible_robot, Q, QD, np.zeros(3)), assert_close)
    # Nobody has measured or commanded an effort.
    assert np.isnan(told.residual_force[:3]).all()
    assert np.isfinite(told.residual_force[3:]).all()

    bench.acknowledge(Q)
    assert bench.client.transition('activate'), bench.process.output
    bench.command()
    # Half a second into a move from rest over 1 rad in 2 s, by the quintic's formula.
    rest, start = np.zeros((2, 3)), bench.time + 0.5
    assert bench.refer([0.0, 2.0], [Q, Q + [1.0, 0.0, 0.0]], rest, rest, start=start) is None
    away = Q + 0.01
    told = bench.answer(bench.linear_models, away, QD, after=start + 0.5 - bench.time)
    s = 0.25
    shares = (
        10 * s**3 - 15 * s**4 + 6 * s**5,
        (30 * s**2 - 60 * s**3 + 30 * s**4) / 2.0,
        (60 * s - 180 * s**2 + 120 * s**3) / 4.0,
    )
    motion = np.zeros((3, 3))
    motion[0], motion[:, 0] = Q, shares
    motion[0, 0] += Q[0]
    model = about(flexible_robot, *motion)
    check_model(told, model, assert_close)
    # Without a measured effort it is the commanded one, that of the rigid robot.
    commanded = bench.answer_to(told, bench.command_states).effort
    balance = commanded - bench.robot.joint_friction(motion[1]) - model.effort[:3]
    assert_close(told.residual_force[:3], balance, rel=1e-9)


def test_one_model_for_a_state_and_no_more_than_the_rate(flexible_bench):
    bench = flexible_bench
    bench.configure(**SOON)
    bench.acknowledge(Q)
    bench.answer(bench.linear_models, Q)
    bench.forget()
    for _ in range(3):
        bench.client.next_status()
    assert not bench.linear_models
    bench.configure(linearized_model_rate=4.0)
    bench.acknowledge(Q)
    bench.forget()
    began = time.monotonic()
    with bench.sending(Q):
        bench.client.wait_for(lambda: len(bench.linear_models) > 2, 'linear models')
    assert len(bench.linear_models) <= 4.0 * (time.monotonic() - began) + 2.0
    bench.configure(linearized_model_rate=0.0)
    topic = f'/{bench.client.namespace}/dynamics_node/linearized_model'
    bench.client.wait_for(
        lambda: not bench.client.node.count_publishers(topic), 'end of the topic'
    )
    # The other outputs are there all the same.
    bench.acknowledge(Q)
    bench.answer(bench.deflections, Q)


def test_frequencies_with_the_joints_held_are_in_the_diagnostics(flexible_bench, flexible_robot):
    bench = flexible_bench
    bench.configure(**SOON)

    def told():
        return {
            item.key: float(item.value)
            for item in bench.client.next_status().values
            if item.key.startswith('beam/')
        }

    assert told() == {}
    bench.acknowledge(Q)
    bench.answer(bench.linear_models, Q)
    model = about(flexible_robot, Q, np.zeros(3), np.zeros(3))
    blocks = [array[3:, 3:] for array in (model.stiffness, model.mass, model.damping)]
    squares, shapes = eigh((blocks[0] + blocks[0].T) / 2.0, blocks[1])
    assert squares[0] < 0.8 * squares[1]  # w is the softer one
    names = [MODES[k] for k in np.abs(shapes).argmax(axis=0)]
    assert names == ['beam/w1', 'beam/v1']
    values = told()
    assert len(values) == 4
    for name, square, shape in zip(names, squares, shapes.T, strict=True):
        frequency = np.sqrt(square)
        assert values[f'{name} frequency [Hz]'] == pytest.approx(frequency / 2 / np.pi, rel=1e-3)
        ratio = shape @ blocks[2] @ shape / 2.0 / frequency
        assert values[f'{name} damping ratio'] == pytest.approx(ratio, rel=1e-2)


@pytest.fixture
def linearize(flexible_bench):
    """Call the service of a configured node with states (N, columns)."""
    if flexible_bench.client.lifecycle_state() == 'unconfigured':
        flexible_bench.configure()

    def call(names, *states):
        fields = zip(('position', 'velocity', 'acceleration'), states, strict=True)
        flat = {field: np.ravel(values).tolist() for field, values in fields}
        name = 'dynamics_node/linearize'
        return flexible_bench.client.call(Linearize, name, joint_names=names, **flat)

    return call


def test_the_service_bends_the_links_of_joint_states(linearize, flexible_robot, assert_close, rng):
    states = rng.uniform(-0.5, 0.5, (3, 2, 3))
    for names in ([], ['slide', 'turn', 'lift']):
        order = [JOINTS.index(name) for name in names or JOINTS]
        answer = linearize(names, *states[:, :, order])
        assert (answer.success, answer.message) == (True, '')
        assert list(answer.joint_names) == [*(JOINTS[k] for k in order), *MODES]
        kept = [*order, 3, 4]
        square = np.ix_(kept, kept)
        for k, motion in enumerate(states.swapaxes(0, 1)):
            model = about(flexible_robot, *motion)
            M, K = (
                np.reshape(x, (2, 5, 5))[k] for x in (answer.mass_matrix, answer.stiffness_matrix)
            )
            assert_close(M, model.mass[square], rel=1e-9)
            assert_close(K, model.stiffness[square], rel=1e-9)
            assert_close(np.reshape(answer.position, (2, 5))[k], model.q[kept], rel=1e-9)
            # What the motion takes; nothing is left to set the links swinging.
            scale = np.abs(model.effort).max()
            assert_close(np.reshape(answer.effort, (2, 5))[k], model.effort[kept], floor=scale)
            assert np.abs(np.reshape(answer.effort, (2, 5))[k, 3:]).max() < 1e-9 * scale


def test_the_service_takes_any_state_of_all_coordinates(
    linearize, flexible_robot, assert_close, rng
):
    states = rng.uniform(-0.3, 0.3, (3, 2, 5))
    states[0, :, 3:] *= 0.1
    names = ['beam/w1', 'slide', 'beam/v1', 'turn', 'lift']
    order = [flexible_robot.joint_names.index(name) for name in names]
    answer = linearize(names, *states[:, :, order])
    assert (answer.success, answer.message) == (True, '')
    assert list(answer.joint_names) == names
    square = np.ix_(order, order)
    for k, motion in enumerate(states.swapaxes(0, 1)):
        model = flexible_robot.linearize(*motion)
        D = np.reshape(answer.damping_matrix, (2, 5, 5))[k]
        assert_close(D, model.damping[square])
        assert_close(np.reshape(answer.velocity, (2, 5))[k], motion[1][order])
        assert_close(np.reshape(answer.effort, (2, 5))[k], model.effort[order])


@pytest.mark.parametrize(
    ('names', 'turning', 'said'),
    [
        (['turn', 'lift', 'slide', 'beam/w1'], 0.0, "missing: 'beam/v1'"),
        (['turn', 'lift', 'boom'], 0.0, "unknown: 'boom'"),
        ([], 30.0, 'their stiffness does not carry this load'),
    ],
    ids=['half of the modes', 'unknown', 'too fast'],
)
def test_the_service_says_what_is_wrong(linearize, names, turning, said):
    states = np.zeros((3, len(names) or 3))
    states[0, 1], states[1, 0] = 1.4, turning  # upright
    answer = linearize(names, *states)
    assert not answer.success
    assert said in answer.message
    assert len(answer.mass_matrix) == 0
