# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""One dynamics_node that many tests set up anew, with the machine's side played by the test."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import yaml

import kron_dynamics as kd

with contextlib.suppress(ImportError):  # then these tests are not collected
    from geometry_msgs.msg import AccelStamped, PoseStamped, TwistStamped, Vector3Stamped
    from kron_dynamics_msgs.msg import LinearizedModel
    from model_services import SERVICES
    from rclpy.lifecycle import TransitionCallbackReturn
    from rclpy.parameter import Parameter
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import JointState
    from std_msgs.msg import Float64MultiArray
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from kron_dynamics.ros.conversions import joint_state, stamp_from
    from kron_dynamics.ros.dynamics_node import DynamicsNode

URDF = Path(__file__).parents[2] / 'robots' / 'rrp.urdf'
# Not the default, so that a node that ignores its parameter is found out.
GRAVITY = (0.6, -1.1, -9.5)
KP, KD = (4.0, 9.0, 16.0), (3.0, 5.0, 7.0)
JOINTS = ('turn', 'lift', 'slide')
# The beam of that robot bends.
FLEXIBLE = {
    'flexible_links': {
        'beam': {
            'length': 0.5,
            'mass_per_length': 1.0,
            'bending_stiffness': {'v': 90.0, 'w': 60.0},
            'modes': {'v': 1, 'w': 1},
            'damping_ratio': {'v': 0.03, 'w': 0.02},
        }
    }
}
# The tests send states one by one: without hurry, unless it is about time.
SETTINGS = {
    'state_timeout': 60.0,
    'effort_lead': 0.0,
    'tip_frame': '',
    'acceleration_source': 'reference',
    'filter_cutoff': 2.0,
    'linearized_model_rate': 1.0,
    'linearization_point': 'measured',
    'control_law': 'computed_torque',
    'terms': ['inertia', 'coriolis', 'gravity', 'friction', 'flexible'],
    'drive_terms': [''],
    'hand_guiding_damping': 0.0,
    'hand_guiding_speed': 0.25,
    'hand_guiding_friction': 0.0,
    'external_effort_bandwidth': 5.0,
    'external_effort_source': 'auto',
    'reference_shaping': 'none',
    'vibration_damping': False,
    'state_period': 0.02,
    'effort_limit_scale': 1.0,
    'velocity_fault_factor': 1e15,
    'fault_action': 'hold_gravity',
    'hold_damping': 1.0,
    'max_batch_size': 500_000,
    'allow_commands_in_sim_time': False,
    'use_sim_time': False,
}


def per_joint(pattern, values):
    """Parameters of all joints, by a pattern with {} in it."""
    values = values if isinstance(values, tuple) else (values,) * len(JOINTS)
    return {pattern.format(joint): value for joint, value in zip(JOINTS, values, strict=True)}


JOINT_SETTINGS = {
    **per_joint('gains.{}.kp', KP),
    **per_joint('gains.{}.kd', KD),
    **per_joint('gains.{}.ki', 0.0),
    **per_joint('collision_threshold.{}', 1e15),
    **per_joint('reference_start_tolerance.{}', 0.01),
    **per_joint('position_resolution.{}', 1e-5),
    **per_joint('effort_limit.{}', 1e6),
    **per_joint('effort_rate_limit.{}', 1e9),
    # The machine here is where a test wants it, from one state to the next.
    **per_joint('position_jump.{}', 1e15),
    **per_joint('position_margin.{}', 1e15),
    **per_joint('following_error.{}', 1e9),
    **per_joint('following_error_velocity.{}', 1e9),
    **per_joint('goal_tolerance.{}', 1e9),
}


class Machine:
    """The machine's side of the topics of a dynamics_node, played by the test, state by state."""

    def __init__(self, client, robot, process, node='dynamics_node'):
        self.client = client
        self.robot = robot
        self.process = process
        self.time = 100.0
        self.q = np.zeros(robot.n)
        self._states = client.publisher(JointState, 'joint_states')
        self._references = client.publisher(JointTrajectory, f'{node}/reference')
        self.commands = client.hear(Float64MultiArray, f'{node}/commands')
        self.command_states = client.hear(JointState, f'{node}/command_state')
        self.twists = client.hear(TwistStamped, f'{node}/tip_twist')
        self.accelerations = client.hear(AccelStamped, f'{node}/tip_acceleration')
        self.linear_models = client.hear(LinearizedModel, f'{node}/linearized_model')
        self.deflections = client.hear(JointState, f'{node}/deflection')
        self.poses = client.hear(PoseStamped, f'{node}/tip_pose')
        self.corrections = client.hear(Vector3Stamped, f'{node}/tip_correction')
        self._heard = [
            *(self.commands, self.command_states, self.twists, self.accelerations),
            *(self.linear_models, self.deflections, self.poses, self.corrections),
        ]

    def send(self, names=None, position=None, velocity=None, effort=None, after=0.02):
        """Publish a joint state, its stamp a while after the last; return its message."""
        self.time = round(self.time + after, 6)
        arrays = (
            None if values is None else np.array(values, dtype=float)
            for values in (position, velocity, effort)
        )
        message = joint_state(
            stamp_from(self.time), self.robot.joint_names if names is None else names, *arrays
        )
        self._states.publish(message)
        return message

    def _state(self, q, qd, effort, after):
        self.q = self.q if q is None else np.array(q, dtype=float)
        qd = np.zeros(self.robot.n) if qd is None else qd
        return self.send(None, self.q, qd, effort, after)

    def acknowledge(self, q=None, qd=None, effort=None, after=0.02):
        """Send states until the node, which must be configured, has taken one."""
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            stamp = self._state(q, qd, effort, after).header.stamp
            again = time.monotonic() + 0.25
            while time.monotonic() < again:
                self.client.spin()
                if any(twist.header.stamp == stamp for twist in self.twists):
                    return
        raise AssertionError(f'the node takes no states\n{self.process.output}')

    def answer(self, heard, q=None, qd=None, effort=None, after=0.02):
        """Send a state and return the message on a topic that answers it."""
        message = self._state(q, qd, effort, after)
        return self.answer_to(message, heard)

    def answer_to(self, message, heard):
        """Return the message on a topic with the stamp of a state that was sent."""

        def found():
            return [m for m in heard if m.header.stamp == message.header.stamp]

        deadline = time.monotonic() + 20.0
        while time.monotonic() < deadline:
            again = time.monotonic() + 1.0
            while time.monotonic() < again:
                if found():
                    return found()[0]
                self.client.spin()
            # States travel best effort; one that comes twice does no harm.
            self._states.publish(message)
        raise AssertionError(f'no answer to the state at {self.time} s\n{self.process.output}')

    @contextlib.contextmanager
    def sending(self, q=None, qd=None, effort=None):
        """Send states at 50 Hz wall time while the client waits for something."""
        timer = self.client.node.create_timer(0.02, lambda: self._state(q, qd, effort, 0.02))
        yield
        self.client.node.destroy_timer(timer)

    def forget(self):
        """Drop the messages heard so far."""
        for heard in self._heard:
            heard.clear()

    def command(self, q=None, qd=None, effort=None, after=0.02):
        """Send a state and return the efforts that answer it, shape (n,)."""
        return np.array(self.answer(self.command_states, q, qd, effort, after).effort)

    def refer(self, times, positions, velocities=None, accelerations=None, start=None, names=None):
        """Send a reference; return None if it is accepted, else why it is refused."""
        message = JointTrajectory(joint_names=list(names or self.robot.joint_names))
        if start is not None:
            message.header.stamp = stamp_from(start)
        for k, moment in enumerate(times):
            point = JointTrajectoryPoint(positions=list(map(float, positions[k])))
            if velocities is not None:
                point.velocities = list(map(float, velocities[k]))
            if accelerations is not None:
                point.accelerations = list(map(float, accelerations[k]))
            whole = stamp_from(moment)
            point.time_from_start.sec = whole.sec
            point.time_from_start.nanosec = whole.nanosec
            message.points.append(point)
        before = len(self.process.output.splitlines())
        self._references.publish(message)

        def verdict():
            for line in self.process.output.splitlines()[before:]:
                for text in ('following a reference', 'reference refused: '):
                    if text in line:
                        return line.partition(text)
            return None

        _, text, reason = self.client.wait_for(verdict, 'verdict on a reference')
        return reason if text.startswith('reference refused') else None


class Bench(Machine):
    """A machine whose node can be brought into any setting."""

    _purpose = None

    def keep(self, purpose, prepare):
        """Prepare the node unless it is as it was left by a test of the same purpose.

        Tests of a purpose change nothing in the node; all others configure it anew.
        """
        if self._purpose != purpose:
            prepare()
        self._purpose = purpose
        self.forget()

    def refer(self, *reference, **more):
        """Send a reference; return None if it is accepted, else why it is refused."""
        refused = super().refer(*reference, **more)
        if refused is None:
            self._purpose = None
        return refused

    def unconfigure(self):
        """Bring the node back to where it knows neither model nor states."""
        self._purpose = None
        state = self.client.lifecycle_state()
        if state == 'active':
            assert self.client.transition('deactivate')
        if state != 'unconfigured':
            assert self.client.transition('cleanup')

    def configure(self, *, joints=None, **changes):
        """Give the node settings and configure it; it has seen no state then.

        Args:
            joints: parameters of the joints that are not as in JOINT_SETTINGS.
            changes: parameters that are not as in SETTINGS.
        """
        assert changes.keys() <= SETTINGS.keys()
        assert (joints or {}).keys() <= JOINT_SETTINGS.keys()
        self.unconfigure()
        assert self.client.set_parameters({**SETTINGS, **changes}) == ''
        assert self.client.transition('configure'), self.process.output
        # The node has these once it knows the joints.
        assert self.client.set_parameters({**JOINT_SETTINGS, **(joints or {})}) == ''
        self.forget()

    def prepare(self, q=(0.1, 0.2, 0.05), effort=None, **settings):
        """Configure the node, give it a state, activate it; messages start afresh."""
        self.configure(**settings)
        self.acknowledge(q, effort=effort)
        assert self.client.transition('activate'), self.process.output
        self.forget()


@pytest.fixture(scope='session')
def bench_robot(kernel_cache):
    """The robot on the bench, as the node must see it."""
    return kd.load(URDF, gravity=GRAVITY)


@pytest.fixture(scope='session')
def bench_settings():
    """Arguments of the launcher for a node of the robot on the bench."""
    gravity = {f'gravity.{axis}': value for axis, value in zip('xyz', GRAVITY, strict=True)}
    return {
        'robot_description_file': str(URDF),
        'diagnostics_period': 0.05,
        'joints': {**gravity, **JOINT_SETTINGS},
        **SETTINGS,
    }


@pytest.fixture(scope='session')
def play():
    """Make the machine's side of other nodes."""
    return Machine


@pytest.fixture(scope='session')
def the_bench(launcher, connect, bench_robot, bench_settings):
    """One process for the session, interrupted at its end."""
    bench_robot.prepare()
    bench_robot.frame('nozzle').prepare()
    process = launcher('dynamics_node', 'bench', autostart=False, forked=False, **bench_settings)
    yield Bench(connect('bench'), bench_robot, process)
    process.stop(trouble=['[ERROR]'])


@pytest.fixture
def bench(the_bench):
    """The bench; each test prepares it as it needs it."""
    yield the_bench
    assert the_bench.process.running, the_bench.process.output


@pytest.fixture
def local(ros, bench):
    """An active node in this process, where something can come between two states.

    The machine rests; its states are 20 ms apart, or have the stamp that is given.
    """
    bench.unconfigure()
    node, seen = DynamicsNode(), [10.0]

    def state(q, stamp=None):
        seen[0] += 0.02
        stamp = stamp_from(seen[0] if stamp is None else stamp)
        message = joint_state(stamp, JOINTS, np.array(q), np.zeros(3), None)
        node._on_joint_state(bytes(serialize_message(message)), {})

    try:
        node.set_parameters([Parameter('state_timeout', value=60.0)])
        node._descriptions.robot = bench.robot
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
        gains = [f'gains.{joint}.k{k}' for joint in JOINTS for k in 'pd']
        node.set_parameters([Parameter(name, value=4.0) for name in gains])
        state((0.1, 0.2, 0.05))
        assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
        yield SimpleNamespace(node=node, state=state)
    finally:
        node.destroy_node()


@pytest.fixture(scope='session')
def flexible_robot(kernel_cache):
    """The robot on the bench with a beam that bends."""
    return kd.load(URDF, gravity=GRAVITY, flexible=FLEXIBLE)


@pytest.fixture(scope='session')
def the_flexible_bench(launcher, connect, bench_robot, bench_settings, tmp_path_factory):
    """One process for the session whose node knows that the beam bends."""
    description = tmp_path_factory.mktemp('flexible') / 'rrp_flexible.yaml'
    description.write_text(yaml.safe_dump(FLEXIBLE), encoding='utf-8')
    process = launcher(
        'dynamics_node',
        'flexible',
        autostart=False,
        flexible_description_file=str(description),
        **bench_settings,
    )
    yield Bench(connect('flexible'), bench_robot, process)
    process.stop(trouble=['[ERROR]'])


@pytest.fixture
def flexible_bench(the_bench, the_flexible_bench):
    """The bench with a beam that bends; each test prepares it as it needs it.

    Neither bench goes on talking while nobody hears it.
    """
    the_bench.unconfigure()
    yield the_flexible_bench
    assert the_flexible_bench.process.running, the_flexible_bench.process.output
    the_flexible_bench.unconfigure()


@pytest.fixture
def call(bench):
    """Call one of the services of a configured node with arrays (N, n)."""
    if bench.client.lifecycle_state() == 'unconfigured':
        bench.configure()

    def request(name, **fields):
        kind, _ = SERVICES[name]
        flat = {
            field: np.ravel(value).tolist() if isinstance(value, np.ndarray) else value
            for field, value in fields.items()
        }
        return bench.client.call(kind, f'dynamics_node/{name}', **flat)

    return request
