# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`~/set_payload`: machines that carry more than their description tells, as a user runs them."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from kron_dynamics_msgs.srv import InverseDynamics, SetPayload
from long_runs import some_of
from pinocchio_oracle import example_robots
from sensor_msgs.msg import JointState

import kron_dynamics as kd
from kron_dynamics.ros.conversions import seconds

pytestmark = [pytest.mark.ros, pytest.mark.interpreted]

ROOT = Path(__file__).parents[2]
PERIOD = 0.02
RAMP = 0.5


class Loaded:
    """A machine in its simulator with a load that its node does not know of."""

    def __init__(self, launcher, client, path, link, load, start, gain, rate):
        self.client, self.path, self.link, self.load = client, path, link, load
        self.robot = kd.load(path)
        self.truth = kd.load(path, payload={link: load})
        self.start, self.gain, self.rate = np.array(start), gain, rate
        joints = self.robot.joint_names
        xx, xy, xz, yy, yz, zz = load.inertia[np.triu_indices(3)]
        place = ' '.join(map(repr, load.center_of_mass.tolist()))
        body = (
            f'<link name="load"><inertial><origin xyz="{place}"/><mass value="{load.mass}"/>'
            f'<inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" iyz="{yz}" izz="{zz}"/>'
            f'</inertial></link><joint name="load" type="fixed"><parent link="{link}"/>'
            '<child link="load"/></joint></robot>'
        )
        described = path.read_text('utf-8')
        pose = {f'initial_position.{j}': q for j, q in zip(joints, start, strict=True)}
        self.simulator = launcher(
            'simulator_node',
            client.namespace,
            remap={'~/commands': 'dynamics_node/commands'},
            joints=pose,
            robot_description=described.replace('</robot>', body),
            publish_rate=1.0 / PERIOD,
            command_timeout=20.0,
        )
        gains = {f'gains.{joint}.kp': gain**2 for joint in joints}
        gains |= {f'gains.{joint}.kd': 2.0 * gain for joint in joints}
        if rate is not None:
            gains |= {f'effort_rate_limit.{j}': r for j, r in zip(joints, rate, strict=True)}
        self.states = client.hear(JointState, 'joint_states')
        self.commands = client.hear(JointState, 'dynamics_node/command_state')
        self.node = launcher(
            'dynamics_node',
            client.namespace,
            joints=gains,
            robot_description=described,
            tip_frame=link,
            payload__ramp_time=RAMP,
            state_period=PERIOD,
            state_timeout=5.0,
            diagnostics_period=0.1,
        )
        self.wait_until_active()

    def wait_until_active(self):
        def active():
            status = self.client.status()
            return status is not None and status.message == 'active'

        self.client.wait_for(active, 'active node')

    def rest(self):
        """Wait for a machine at rest; return how far it is off its start, shape (n,)."""
        # The node may be active before states are heard here, and few of them show no motion.
        self.client.wait_for(lambda: self.states, 'a joint state')
        begun = seconds(self.states[-1].header.stamp)

        def resting():
            if seconds(self.states[-1].header.stamp) < begun + 3.0:
                return None
            recent = [np.array(state.position) for state in list(self.states)[-50:]]
            return recent if np.ptp(recent, axis=0).max() < 2e-5 else None

        return self.client.wait_for(resting, 'rest', 60.0)[-1] - self.start

    def set_payload(self, link=None, mass=None):
        request = SetPayload.Request(link=self.link if link is None else link)
        request.mass = self.load.mass if mass is None else mass
        place = request.center_of_mass
        place.x, place.y, place.z = self.load.center_of_mass
        request.inertia = self.load.inertia[np.triu_indices(3)]
        return self.client.call(
            SetPayload,
            'dynamics_node/set_payload',
            **{f: getattr(request, f) for f in request.get_fields_and_field_types()},
        )

    def told(self):
        """What the diagnostics say of payloads."""
        values = {v.key: v.value for v in self.client.next_status().values}
        return {key: value for key, value in values.items() if key.startswith('payload')}

    def inverse_dynamics(self, q):
        answer = self.client.call(
            InverseDynamics,
            'dynamics_node/inverse_dynamics',
            position=list(map(float, q)),
            velocity=[0.1] * self.robot.n,
            acceleration=[0.2] * self.robot.n,
        )
        assert answer.success, answer.message
        return np.array(answer.effort)

    def expected(self, robot, q):
        ones = np.ones(robot.n)
        return robot.inverse_dynamics(np.array(q), 0.1 * ones, 0.2 * ones)


def arm(name, link, start, mass=2.0):
    (path,) = (path for path in example_robots().values() if path.name == name)
    tool = kd.RigidPayload(mass, np.array([0.01, 0.0, 0.05]), np.diag([4e-3, 4e-3, 2e-3]))
    return path, link, tool, start, 10.0, None


MACHINES = {
    'stacker': lambda: (
        ROOT / 'urdf' / 'stacker_reclaimer.urdf',
        'bucket_wheel',
        kd.RigidPayload(5e3, np.array([0.5, 0.0, -0.4]), np.diag([4e3, 5e3, 4e3])),
        [0.0, 0.3, -0.05],
        3.0,
        (6e5, 5e6, 2e7),
    ),
    'ur5': lambda: arm('ur5_robot.urdf', 'tool0', [0.0, -1.2, 1.4, -0.5, 0.4, 0.0]),
    # With 2 kg its fault action would need states less than 20 ms apart.
    'panda': lambda: arm(
        'panda.urdf', 'panda_hand', [0.0, -0.4, 0.2, -1.8, 0.3, 1.6, 0.2, 0.02], 1.5
    ),
}


@pytest.fixture(params=some_of(sorted(MACHINES), ['stacker']))
def machine(request, launcher, connect):
    made = Loaded(launcher, connect(f'loaded_{request.param}'), *MACHINES[request.param]())
    yield made
    made.node.stop(trouble=['set_payload refused', 'fault: joint states are not fresh'])
    made.simulator.stop()


def test_set_payload_removes_the_error_without_a_leap(machine):
    client, robot = machine.client, machine.robot
    off = machine.rest()
    joint = int(np.abs(off).argmax())
    assert abs(off[joint]) > 3e-4
    q = np.array(machine.states[-1].position)
    np.testing.assert_allclose(machine.inverse_dynamics(q), machine.expected(robot, q), rtol=1e-9)

    # What cannot be carried changes nothing.
    for link, mass, words in (
        ('hook', None, "link 'hook' does not exist"),
        (robot.model.root_link, None, 'does not move'),
        (None, -1.0, 'mass is -1 kg'),
        (None, float('nan'), 'mass holds a NaN'),
        (None, 1e7, 'more than its effort limit'),
    ):
        answer = machine.set_payload(link, mass)
        assert not answer.success
        assert words in answer.message
        assert '\n' not in answer.message
    assert machine.told() == {}

    first = seconds(machine.commands[-1].header.stamp)
    # Not by stamps of commands: a busy machine may deliver those after the answer.
    asked = time.monotonic()
    assert machine.set_payload().success
    answered = time.monotonic()
    left = machine.rest()
    # But for where friction holds it: none is compensated at rest.
    inertia = machine.truth.mass_matrix(q).diagonal()
    stuck = (robot.model.friction / (machine.gain**2 * inertia))[joint]
    assert abs(left[joint]) < min(0.3 * abs(off[joint]), 0.1 * abs(off[joint]) + stuck)
    sent = [c for c in machine.commands if seconds(c.header.stamp) >= first - 0.5]
    times = np.array([seconds(c.header.stamp) for c in sent])
    efforts = np.array([c.effort for c in sent])
    slopes = np.abs(np.diff(efforts, axis=0)) / np.maximum(np.diff(times), PERIOD)[:, None]
    weight = np.abs(machine.truth.gravity_vector(q) - robot.gravity_vector(q))
    moved = (weight > 0.1 * weight.max()).nonzero()[0]
    assert answered - asked > 0.8 * RAMP
    # The whole of the weight in the time of the ramp; feedback takes back what it carried, at
    # about the same rate. A leap would be fifty times that.
    assert (slopes[:, moved].max(axis=0) < 6.0 * weight[moved] / RAMP).all()
    if machine.rate is not None:
        assert (slopes.max(axis=0) <= np.array(machine.rate) * 1.5).all()

    x, y, z = machine.load.center_of_mass
    key, value = (
        f'payload of {machine.link}',
        f'{machine.load.mass:g} kg at ({x:g}, {y:g}, {z:g}) m',
    )
    assert machine.told() == {key: value}
    expected = machine.expected(machine.truth, q)
    np.testing.assert_allclose(machine.inverse_dynamics(q), expected, rtol=1e-9)

    # It stays until cleanup.
    assert client.transition('deactivate')
    assert machine.told() == {key: value}
    np.testing.assert_allclose(machine.inverse_dynamics(q), expected, rtol=1e-9)
    assert client.transition('activate')
    machine.wait_until_active()
    assert np.abs(machine.rest() - left).max() < 2e-3
    for label in ('deactivate', 'cleanup'):
        assert client.transition(label)
    assert not machine.set_payload().success
    assert client.transition('configure')
    assert machine.told() == {}
    np.testing.assert_allclose(machine.inverse_dynamics(q), machine.expected(robot, q), rtol=1e-9)

    # No link is that of the parameters, or the tip's.
    assert machine.set_payload('').success
    assert machine.told().keys() == {f'payload of {machine.link}'}
    assert machine.set_payload('', 0.0).success
    # Another link has its kernels compiled; parameters are taken up by configure.
    link = next(n for n, f in robot.model.frames.items() if f.body == 1)
    assert machine.set_payload(link).success
    both = kd.load(machine.path, payload={link: machine.load})
    np.testing.assert_allclose(machine.inverse_dynamics(q), machine.expected(both, q), rtol=1e-9)
    assert client.transition('cleanup')
    mass, place = machine.load.mass, machine.load.center_of_mass.tolist()
    assert (
        client.set_parameters(
            {
                'payload.mass': mass,
                'payload.center_of_mass': place,
                'payload.inertia': machine.load.inertia[np.triu_indices(3)].tolist(),
            }
        )
        == ''
    )
    assert client.transition('configure')
    assert machine.told() == {key: value}
    np.testing.assert_allclose(machine.inverse_dynamics(q), expected, rtol=1e-9)


def test_armature_by_parameter_counts_as_described(launcher, connect):
    path = ROOT / 'test' / 'robots' / 'planar_2r.urdf'
    client = connect('rotors')
    process = launcher(
        'dynamics_node',
        client.namespace,
        joints={'armature.elbow': 3.0},
        robot_description_file=str(path),
        autostart=False,
    )
    assert client.transition('configure'), process.output
    answer = client.call(
        InverseDynamics,
        'dynamics_node/inverse_dynamics',
        joint_names=['shoulder', 'elbow'],
        position=[0.1, 0.2],
        velocity=[0.0, 0.0],
        acceleration=[0.5, 2.0],
    )
    robot = kd.load(path)
    assert robot.joint_names == ('shoulder', 'elbow')
    without = robot.inverse_dynamics([0.1, 0.2], [0.0, 0.0], [0.5, 2.0])
    np.testing.assert_allclose(np.array(answer.effort) - without, [0.0, 6.0], atol=1e-9)
    process.stop()
