# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator behaves as a machine does: stamps, limits, brakes, sensors, and its own clock."""

from __future__ import annotations

import functools
import math
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rcl_interfaces.srv import GetParameters
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

import kron_dynamics as kd
from kron_dynamics.ros.conversions import seconds
from kron_dynamics.ros.simulator_node import SimulatorNode
from kron_dynamics.simulation import JointSensors

pytestmark = pytest.mark.ros

URDF = Path(__file__).parents[1] / 'robots' / 'planar_2r.urdf'
JOINTS = ('shoulder', 'elbow')
PERIOD = 0.02
# Hanging along x: the arm, whose joints turn about z, carries weight.
GRAVITY = {'gravity.x': 9.0, 'gravity.y': 0.0, 'gravity.z': 0.0}
START = {'initial_position.shoulder': 0.5, 'initial_position.elbow': -0.25}
ROBOT = kd.load(URDF, gravity=(9.0, 0.0, 0.0))
# Prints the stamps of 650 states of a topic, s.
LISTENER = """
import sys
import rclpy
from sensor_msgs.msg import JointState

rclpy.init()
node, stamps = rclpy.create_node('listener'), []


def hear(state):
    if not stamps:
        print('listening', flush=True)
    stamps.append(state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec)


node.create_subscription(JointState, sys.argv[1], hear, 1000)
while len(stamps) < 650:
    rclpy.spin_once(node)
print(*stamps)
"""


class Simulator:
    """A running simulator and what it says."""

    def __init__(self, start, connect, namespace, *, joints=None, **settings):
        self.client = connect(namespace)
        self.states = self.client.hear(JointState, 'joint_states')
        self.clocks = self.client.hear(Clock, 'clock')
        self._commands = self.client.publisher(Float64MultiArray, 'simulator_node/commands')
        self.answers = self.client.publisher(JointState, 'simulator_node/command_state')
        settings = {'publish_rate': 1.0 / PERIOD, 'step': 0.01, **settings}
        settings['robot_description_file'] = str(URDF)
        joints = {**GRAVITY, **START, **(joints or {})}
        # Simulated time is kept from the other nodes of these tests.
        remap = {'/clock': f'/{namespace}/clock'}
        self.process = start('simulator_node', namespace, joints=joints, remap=remap, **settings)

    def command(self, *effort):
        self._commands.publish(Float64MultiArray(data=effort))

    def commanding_until(self, effort, predicate, what):
        """Send a command at 50 Hz until something is so; return the last state then."""
        timer = self.client.node.create_timer(PERIOD, lambda: self.command(*effort))
        self.client.wait_for(lambda: self.states and predicate(self.states[-1]), what)
        self.client.node.destroy_timer(timer)
        return self.states[-1]

    def collect(self, count):
        """The next states, as arrays (count, n) of position, velocity and effort."""
        self.states.clear()
        self.client.wait_for(lambda: len(self.states) >= count, 'states')
        rows = list(self.states)[:count]
        return tuple(
            np.array([getattr(row, field) for row in rows])
            for field in ('position', 'velocity', 'effort')
        )


PACE, SEED, RESOLUTION = 4.0, 7, 0.01
# Standard deviations of the noise.
NOISE = {
    'position': np.array([0.0, 0.05]),
    'velocity': np.array([0.2, 0.0]),
    'effort': np.array([0.0, 3.0]),
}


@pytest.fixture(scope='module')
def noisy(launcher, connect):
    """A braked arm with poor sensors, in simulated time."""
    joints = {'position_resolution.shoulder': RESOLUTION}
    for quantity, deviations in NOISE.items():
        for joint, deviation in zip(JOINTS, deviations.tolist(), strict=True):
            joints[f'{quantity}_noise.{joint}'] = deviation
    machine = Simulator(
        launcher,
        connect,
        'noisy',
        joints=joints,
        seed=SEED,
        publish_clock=True,
        real_time_factor=PACE,
        publish_rate=40.0,
    )
    machine.client.wait_for(lambda: machine.states, 'first state')
    machine.client.wait_for(lambda: len(machine.states) > 300, 'states')
    yield machine
    machine.process.stop()


def test_clock_and_stamps_are_one_time_at_the_pace_asked_for(noisy):
    stamps = [seconds(state.header.stamp) for state in noisy.states]
    periods = np.diff(stamps) * 40.0
    np.testing.assert_allclose(periods, np.round(periods))
    assert stamps[0] > 0.0
    # The clock tells the stamps; a busy computer may lose a few of either.
    clocks = {seconds(message.clock) for message in noisy.clocks}
    assert len(clocks.intersection(stamps)) > 0.8 * max(len(clocks), len(stamps))
    # It may fall behind, too, but not for ever, and is never ahead.
    paces = []

    def as_asked_for():
        """Over 2 s of its time."""
        began, first = time.monotonic(), noisy.states[-1]
        noisy.client.wait_for(lambda: passed(first) > 2.0, 'states')
        paces.append(passed(first) / (time.monotonic() - began))
        return len(paces) >= 3 and paces[-1] > 1.5

    def passed(first):
        return seconds(noisy.states[-1].header.stamp) - seconds(first.header.stamp)

    noisy.client.wait_for(as_asked_for, 'the pace')
    assert min(paces) < 1.2 * PACE


def test_sensor_errors_are_those_of_the_parameters_and_of_the_seed(noisy):
    """At each moment, whatever was published in between."""
    plant = SimpleNamespace(
        q=np.array([0.5, -0.25]), qd=np.zeros(2), effort=ROBOT.gravity_vector([0.5, -0.25])
    )
    sensors = JointSensors(
        position_resolution=np.array([RESOLUTION, 0.0]),
        **{f'{quantity}_noise': deviations for quantity, deviations in NOISE.items()},
        seed=SEED,
    )
    last = seconds(noisy.states[-1].header.stamp)
    expected = [sensors.measure(plant) for _ in range(round(last * 40.0))]
    for state in noisy.states:
        sample = expected[round(seconds(state.header.stamp) * 40.0) - 1]
        np.testing.assert_allclose(state.position, sample.position, atol=1e-12)
        np.testing.assert_allclose(state.velocity, sample.velocity, atol=1e-12)
        np.testing.assert_allclose(state.effort, sample.effort, atol=1e-9)


@pytest.fixture(scope='module')
def coasting(launcher, connect):
    """An arm without brakes."""
    machine = Simulator(launcher, connect, 'coasting', command_timeout=1.0, timeout_action='coast')
    yield machine
    machine.process.stop(signal.SIGTERM)


def test_commands_are_the_efforts_and_the_limits_are_the_urdfs(coasting):
    coasting.commanding_until((3.0, -2.0), lambda s: list(s.effort) == [3.0, -2.0], 'effort')
    coasting.commanding_until((1e6, -1e6), lambda s: list(s.effort) == [100.0, -50.0], 'limit')


def test_a_command_that_cannot_be_meant_is_dropped(coasting):
    """The good one before it goes on."""
    said = 'command dropped: [1.0], expected 2 finite numbers'

    def told():
        coasting.command(1.0)
        return said in coasting.process.output

    coasting.client.wait_for(told, 'the first refusal, which is logged')
    for bad in ((1.0,), (1.0, 2.0, 3.0), (), (math.nan, 0.0), (0.0, math.inf)):
        coasting.commanding_until((1.0, 2.0), lambda s: list(s.effort) == [1.0, 2.0], 'effort')
        coasting.states.clear()
        for _ in range(5):
            coasting.command(1.0, 2.0)
            coasting.command(*bad)
            coasting.client.wait_for(lambda: coasting.states, 'state')
        assert all(list(state.effort) == [1.0, 2.0] for state in coasting.states)


def test_without_commands_a_coasting_machine_has_no_effort(coasting):
    coasting.commanding_until((5.0, 0.0), lambda s: s.velocity[0] > 0.05, 'motion')
    last_command = seconds(coasting.states[-1].header.stamp)
    coasting.client.wait_for(lambda: list(coasting.states[-1].effort) == [0.0, 0.0], 'release')
    released = seconds(coasting.states[-1].header.stamp)
    assert 0.7 < released - last_command < 1.5
    assert abs(coasting.states[-1].velocity[0]) > 1e-3


def test_brakes_carry_the_machine_from_the_start_and_stop_it(start, connect):
    machine = Simulator(start, connect, 'braked', command_timeout=0.3)
    q, qd, effort = machine.collect(10)
    assert (q == [0.5, -0.25]).all()
    assert not qd.any()
    np.testing.assert_allclose(effort, np.tile(ROBOT.gravity_vector([0.5, -0.25]), (10, 1)))
    # Released by a command, the arm falls; without more commands it is stopped and held.
    machine.commanding_until((0.0, 0.0), lambda s: abs(s.velocity[0]) > 0.5, 'fall')

    def held():
        return abs(machine.states[-1].velocity[0]) < 1e-3

    machine.client.wait_for(held, 'brakes')
    q, _, effort = machine.collect(10)
    assert np.ptp(q, axis=0).max() < 1e-3
    np.testing.assert_allclose(effort[-1], ROBOT.gravity_vector(q[-1]), atol=0.5)


def test_in_lockstep_time_waits_for_the_answer(start, connect):
    machine = Simulator(
        start,
        connect,
        'lockstep',
        lockstep=True,
        publish_clock=True,
        real_time_factor=10.0,
        command_timeout=1.5,
    )
    client, states = machine.client, machine.states
    hear_all = functools.partial(
        client.call, GetParameters, 'simulator_node/get_parameters', names=['seed']
    )
    hear_all()
    client.wait_for(lambda: states, 'state before anybody answers')

    def answer():
        """Answer the newest state; return those that follow."""
        heard = len(states)
        machine.answers.publish(JointState(header=states[-1].header))
        client.wait_for(lambda: len(states) > heard, 'a state after the answer')
        hear_all()
        return list(states)[heard:]

    followers = []

    def in_step():
        """Fifteen answers in a row, each with one state; those sent before may come among them."""
        followers.append(answer())
        return [len(sent) for sent in followers[-15:]] == [1] * 15

    client.wait_for(in_step, 'one state for each of 15 answers')
    np.testing.assert_allclose(
        np.diff([seconds(one.header.stamp) for (one,) in followers[-15:]]), PERIOD
    )
    answered_at, waiting = time.monotonic(), len(states)
    # 500 periods at this pace; what is heard later on a busy computer may have been sent later.
    while time.monotonic() < answered_at + 1.0:
        hear_all()
        heard = len(states)
        assert heard == waiting or time.monotonic() > answered_at + 1.5
    # Nobody answers any more: time runs on, at the simulator's pace.
    began = time.monotonic()
    client.wait_for(lambda: len(states) > waiting + 20, 'states without answers')
    assert time.monotonic() - began < 60.0


def test_a_reliable_listener_that_was_held_up_misses_no_state(start, connect):
    """A recorder on a busy computer; the simulator does not wait for it."""
    machine = Simulator(start, connect, 'heard', publish_clock=True, real_time_factor=4.0)
    # What comes while nobody listens here must fit, too: starting the other may take seconds.
    states = machine.client.hear(JointState, 'joint_states', qos=5000)
    machine.client.wait_for(lambda: states, 'states')
    listener = subprocess.Popen(
        [sys.executable, '-c', LISTENER, '/heard/joint_states'], stdout=subprocess.PIPE, text=True
    )
    try:
        assert listener.stdout.readline() == 'listening\n'
        listener.send_signal(signal.SIGSTOP)
        heard = len(states)
        # More than is kept on the way in shared memory, 512 messages.
        machine.client.wait_for(lambda: len(states) > heard + 560, 'states')
        listener.send_signal(signal.SIGCONT)
        stamps, _ = listener.communicate(timeout=60.0)
    finally:
        listener.kill()
    late = [float(stamp) for stamp in stamps.split()]
    machine.client.wait_for(lambda: seconds(states[-1].header.stamp) > late[-1], 'states')
    in_time = [seconds(state.header.stamp) for state in states]
    first = int(np.searchsorted(in_time, late[0] - 0.5 * PERIOD))
    np.testing.assert_allclose(late, in_time[first : first + len(late)])


def test_in_lockstep_the_efforts_of_the_answer_count(start, connect):
    """Those on ~/commands come by another topic, which may be earlier or later."""
    machine = Simulator(start, connect, 'paired', lockstep=True, command_timeout=20.0)
    client, states = machine.client, machine.states
    client.wait_for(lambda: states, 'state before anybody answers')

    def follower(*efforts):
        """The first state after an answer to the newest one."""
        heard = len(states)
        machine.command(0.3, 0.3)
        names, header = ['elbow', 'shoulder'], states[-1].header
        machine.answers.publish(JointState(header=header, name=names, effort=efforts))
        client.wait_for(lambda: len(states) > heard, 'a state after the answer')
        return list(states[-1].effort)

    # Until the answers are discovered, time runs by itself.
    client.wait_for(lambda: follower(1.0, 2.0) == [2.0, 1.0], 'the efforts of the answer')
    for k in range(20):
        assert follower(0.1 * k, 2.0) == [2.0, 0.1 * k]


def test_lockstep_without_answers_is_said(start, connect):
    """Commands arrive, but what lockstep goes by is not connected: time runs as it would."""
    space = 'unanswered'
    settings = {'joints': {**GRAVITY, **START}, 'robot_description_file': str(URDF)}
    client = connect(space)
    commands = client.publisher(Float64MultiArray, 'simulator_node/commands')
    process = start('simulator_node', space, lockstep=True, **settings)

    def warned():
        commands.publish(Float64MultiArray(data=[0.0, 0.0]))
        return f'nobody publishes on /{space}/simulator_node/command_state' in process.output

    client.wait_for(warned, 'warning')
    assert process.output.count('not in lockstep') == 1


@pytest.mark.parametrize(
    ('lockstep', 'answered', 'publishers', 'doubted'),
    [(True, None, 0, 1), (True, None, 1, 0), (True, 2.9, 0, 0), (False, None, 0, 0)],
)
def test_only_lockstep_that_nobody_can_answer_is_doubted(lockstep, answered, publishers, doubted):
    """Commands may arrive before the first answer of a controller that is connected."""
    said, taken = [], []
    answers = SimpleNamespace(get_publisher_count=lambda: publishers, topic_name='/answers')
    node = SimpleNamespace(
        **{'_lockstep': lockstep, '_answered': answered, '_answers': answers},
        **{'_commands_in_answers': False, '_is_usable': lambda *_: True},
        _take=lambda command: taken.append(command.tolist()),
        get_logger=lambda: SimpleNamespace(warning=lambda text, **_: said.append(text)),
    )
    SimulatorNode._on_command(node, Float64MultiArray(data=[1.0, 2.0]))
    assert ['nobody publishes on /answers' in text for text in said] == [True] * doubted
    assert taken == [[1.0, 2.0]]


STIFF = """<robot name="stiff"><link name="base"/>
  <link name="arm"><inertial><mass value="2"/><origin xyz="0.5 0 0"/>
    <inertia ixx="0.01" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/><dynamics damping="300000"/></joint></robot>"""


def test_a_step_that_is_too_long_is_said(run_to_end):
    settings = {'robot_description': STIFF, 'timeout_action': 'coast', 'step': 0.1}
    pace = {'publish_rate': 5.0, 'publish_clock': True, 'real_time_factor': 10.0}
    code, output = run_to_end({'long': ('simulator_node', {**settings, **pace})})['long']
    assert code == 1
    assert "joint 'hinge': friction stops it at" in output
    # On a busy computer it also says that it cannot keep up.
    logged = [line for line in output.splitlines() if line.startswith('[')]
    lines = [line for line in logged if 'cannot keep up' not in line]
    assert len(lines) == 2, output
    begin, fatal = lines
    assert "simulating 'stiff'" in begin
    assert fatal.startswith('[FATAL]')
    assert 'the step of 0.1 s is too long for this machine' in fatal
