# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""A description comes by parameter, by file or by topic; a bad one gives one clear error."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from long_runs import some_of
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

import kron_dynamics as kd
from kron_dynamics.ros.description import (
    _with_parameter,
    publish_constraints,
    robot_from_parameters,
)

pytestmark = [pytest.mark.ros, pytest.mark.interpreted]

URDF = Path(__file__).parents[1] / 'robots' / 'planar_2r.urdf'
GOOD = URDF.read_text()
NODES = ('dynamics_node', 'simulator_node')
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def spoilt(old, new):
    assert old in GOOD
    return GOOD.replace(old, new, 1)


# (text, what the message must name); no text stands for a file that does not exist
BAD = {
    'missing file': (None, 'nowhere.urdf'),
    'broken XML': (spoilt('</robot>', '</robto>'), 'XML'),
    'two roots': (spoilt('<link name="hand"/>', '<link name="hand"/><link name="foot"/>'), 'foot'),
    'floating joint': (spoilt('type="revolute"', 'type="floating"'), 'shoulder'),
    'zero axis': (spoilt('<axis xyz="0 0 1"/>', '<axis xyz="0 0 0"/>'), 'shoulder'),
    'negative mass': (spoilt('<mass value="4"/>', '<mass value="-4"/>'), 'upper_arm'),
    'triangle inequality': (spoilt('ixx="0.25"', 'ixx="2.5"'), 'upper_arm'),
    'NaN limits': (spoilt('lower="-3"', 'lower="nan"'), 'shoulder'),
    'warning': (
        spoilt('lower="-3"', 'lower="4"'),
        "add 'limits_reversed' to the parameter allowed_model_warnings",
    ),
    'xacro': (
        spoilt('</robot>', '<xacro:if xmlns:xacro="http://www.ros.org/wiki/xacro"/></robot>'),
        'xacro',
    ),
}
# What a node says of parameters that do not fit the description.
WRONG = {
    'unknown kind': ({'allowed_model_warnings': ['limits']}, 'allowed_model_warnings'),
    'another kind': ({'allowed_model_warnings': ['zero_limit']}, 'limits_reversed'),
    'no assignment': ({'xacro_args': ['joint']}, "'joint', expected name:=value"),
    'nothing to give it to': (
        {'xacro_args': ['joint:=swivel']},
        "'xacro_args' is {'joint': 'swivel'}, and no robot_description_file is read",
    ),
}
FLOATING = spoilt(
    '</robot>',
    '<link name="world"/><joint name="free" type="floating"><parent link="world"/>'
    '<child link="base"/></joint></robot>',
)


WAYS = [
    (way, kind, node)
    for way in ('file', 'parameter')
    for kind, (text, _) in BAD.items()
    for node in NODES
    if way == 'file' or text is not None
]
# Every kind in both ways and for both nodes, and two kinds in each way for each node.
PAIRS = [
    (way, kind, node)
    for way, kind, node in WAYS
    if (way == 'file') == (node == 'dynamics_node') or kind in ('missing file', 'broken XML')
]


@pytest.fixture(scope='module')
def ends(request, run_to_end, tmp_path_factory):
    """How each node ends that is given each of the bad descriptions."""
    folder = tmp_path_factory.mktemp('descriptions')
    cases = {}
    for way, kind, node in WAYS if request.config.getoption('--long') else PAIRS:
        text = BAD[kind][0]
        file = folder / ('nowhere.urdf' if text is None else f'{kind}.urdf'.replace(' ', '_'))
        if text is not None:
            file.write_text(text)
        given = {'robot_description_file': str(file)}
        if way == 'parameter':
            given = {'robot_description': text}
        cases[f'{node} {way} {kind}'] = node, given
    for node in NODES:
        for kind, (parameters, _) in WRONG.items():
            given = {'robot_description': BAD['warning'][0], **parameters}
            cases[f'{node} {kind}'] = node, given
        cases[f'{node} floating'] = node, {'robot_description': FLOATING}
    return run_to_end(cases)


@pytest.mark.parametrize(('way', 'kind', 'node'), some_of(WAYS, PAIRS))
def test_a_bad_description_ends_the_node_with_one_line(ends, kind, way, node):
    code, output = ends[f'{node} {way} {kind}']
    assert code == 1, output
    (line,) = output.splitlines()
    assert line.startswith('[FATAL]')
    assert BAD[kind][1] in line


@pytest.mark.parametrize('node', NODES)
@pytest.mark.parametrize('kind', WRONG)
def test_kinds_of_warnings_that_do_not_let_it_pass(ends, kind, node):
    code, output = ends[f'{node} {kind}']
    assert code == 1
    (line,) = output.splitlines()
    assert line.startswith('[FATAL]')
    assert WRONG[kind][1] in line


@pytest.mark.parametrize('node', NODES)
def test_floating_base_names_the_parameter(ends, node):
    code, output = ends[f'{node} floating']
    assert code == 1
    (line,) = output.splitlines()
    assert "'free'" in line
    assert 'the parameter hold_base' in line


@pytest.mark.parametrize(
    ('name', 'text', 'published'),
    [
        ('loops.yaml', 'constraints: {}\n', True),
        ('loops.yaml', 'constraints: {}\nfrom: loops.xml\n', False),
        ('loops.xml', '<mujoco/>', False),
    ],
)
def test_constraints_that_a_recording_will_lack_are_announced(tmp_path, name, text, published):
    file, sent, said = tmp_path / name, [], []
    file.write_text(text)
    node = SimpleNamespace(
        create_publisher=lambda *topic: SimpleNamespace(publish=lambda m: sent.append(m.data)),
    )
    logger = SimpleNamespace(info=said.append)
    parameters = SimpleNamespace(value={'constraints_file': str(file)}.get, logger=logger)
    publish_constraints(node, parameters)
    assert sent == ([text] if published else [])
    assert [name in line and 'robot_constraints' in line for line in said] == [True] * (not sent)


def test_only_a_base_is_advised_to_be_held():
    """A joint that others move cannot be held, and no parameter does that."""
    advice = 'set the parameter hold_base'
    elbow = spoilt('name="elbow" type="revolute"', 'name="elbow" type="floating"')
    for text, words in ((FLOATING, advice), (elbow, 'cannot be held')):
        with pytest.raises(kd.UnsupportedJointError) as raised:
            kd.loads(text)
        told = str(_with_parameter(raised.value))
        assert words in told
        assert (advice in told) == (text == FLOATING)


def test_allowed_warnings_are_logged_and_a_base_is_held(start, connect):
    text = FLOATING.replace('lower="-3"', 'lower="4"', 1)
    assert text != FLOATING
    allowed = ['limits_reversed', 'joint_held']
    simulator = start(
        'simulator_node',
        'sloppy',
        robot_description=text,
        hold_base=True,
        allowed_model_warnings=allowed,
        joints={'initial_position.shoulder': 3.5},
    )
    client = connect('sloppy')
    states = client.hear(JointState, 'joint_states')
    client.wait_for(lambda: states, 'joint states')
    assert list(states[0].name) == ['shoulder', 'elbow']
    for kind in allowed:
        assert f'[{kind}]' in simulator.output
    simulator.stop()


def test_a_file_in_xacro_takes_arguments(start, connect, tmp_path):
    pytest.importorskip('xacro')
    file = tmp_path / 'arm.urdf.xacro'
    tag = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '
    text = GOOD.replace('<robot ', tag, 1).replace('"shoulder"', '"$(arg joint)"')
    file.write_text(text.replace('<link', '<xacro:arg name="joint" default="x"/><link', 1))
    arguments = ['joint:=swivel']
    start('simulator_node', 'xacro', robot_description_file=str(file), xacro_args=arguments)
    client = connect('xacro')
    states = client.hear(JointState, 'joint_states')
    client.wait_for(lambda: states, 'joint states')
    assert list(states[0].name) == ['swivel', 'elbow']


class Parameters(dict):
    """Values of a node's parameters."""

    def value(self, name):
        return self.get(name, '')

    def declare(self, parameters):
        self.update({parameter.name: -1.0 for parameter in parameters})


def test_arguments_of_the_constraints_alone(tmp_path):
    pytest.importorskip('xacro')
    loops = tmp_path / 'loops.xml'
    loops.write_text(
        '<mujoco xmlns:xacro="http://ros.org/wiki/xacro"><xacro:arg name="ratio" default="1"/>'
        '<worldbody><body name="a"><joint name="shoulder"/><body name="b"><joint name="elbow"/>'
        '</body></body></worldbody><equality><joint joint1="elbow" joint2="shoulder" '
        'polycoef="0 $(arg ratio)"/></equality><actuator><motor joint="shoulder"/></actuator>'
        '</mujoco>'
    )
    given = Parameters(
        {
            'robot_description': GOOD,
            'constraints_file': str(loops),
            'xacro_args': ['ratio:=3'],
            **{f'gravity.{axis}': 0.0 for axis in 'xyz'},
            'hold_base': False,
        }
    )
    robot = robot_from_parameters(given)
    assert robot.tree_coordinates([0.1]).tolist() == pytest.approx([0.1, 0.3])
    given['xacro_args'] = ['ratoi:=3']
    with pytest.raises(kd.ModelError, match="'ratoi': is given, and the file has ratio only"):
        robot_from_parameters(given)
    del given['constraints_file']
    with pytest.raises(kd.ParameterError, match='no robot_description_file is read'):
        robot_from_parameters(given)


@pytest.mark.parametrize('node', NODES)
def test_the_executable_itself_ends_so(start, node):
    process = start(node, robot_description_file='nowhere.urdf', forked=False)
    assert process.wait() == 1
    (line,) = process.output.splitlines()
    assert line.startswith('[FATAL]')
    assert "'nowhere.urdf' does not exist" in line


def test_a_description_by_topic_may_come_late_and_may_come_wrong(start, connect):
    """Both nodes wait; a bad description is refused with the reason, a good one then works."""
    # Gravity as in the other tests of this robot, whose kernels are there.
    gravity = {'gravity.x': 9.0, 'gravity.z': 0.0}
    remap = {'~/commands': 'dynamics_node/commands'}
    simulator = start('simulator_node', 'late', joints=gravity, remap=remap)
    gains = {f'gains.{j}.k{k}': 4.0 for j in ('shoulder', 'elbow') for k in 'pd'}
    controller = start('dynamics_node', 'late', joints={**gravity, **gains}, state_timeout=2.0)
    client = connect('late')
    client.wait_for(lambda: 'waiting for' in simulator.output, 'simulator that waits')
    client.next_status()
    assert client.lifecycle_state() == 'unconfigured'
    topic = client.publisher(String, 'robot_description', LATCHED)
    for kind, (text, named) in BAD.items():
        if text is None:
            continue
        topic.publish(String(data=text))
        for process in (simulator, controller):

            def refused(process=process, named=named):
                lines = [line for line in process.output.splitlines() if named in line]
                return [line for line in lines if 'robot_description refused' in line]

            client.wait_for(refused, f'refusal of {kind}')
            assert process.running
            assert 'Traceback' not in process.output
    assert client.lifecycle_state() == 'unconfigured'
    topic.publish(String(data=GOOD))
    states = client.hear(JointState, 'joint_states')
    client.wait_for(lambda: states, 'joint states')
    assert list(states[0].name) == ['shoulder', 'elbow']
    client.wait_for(lambda: client.lifecycle_state() == 'active', 'activation')
    # Another machine's description does not disturb the one that runs.
    topic.publish(String(data=spoilt('<mass value="4"/>', '<mass value="5"/>')))
    for process in (simulator, controller):
        client.wait_for(
            lambda process=process: 'another robot_description arrived' in process.output, 'word'
        )
    assert client.lifecycle_state() == 'active'
    for process in (controller, simulator):
        process.stop(trouble=['robot_description refused'])


def test_autostart_goes_on_with_the_description_that_comes_after_a_wrong_one(start, connect):
    """One that can be read, but not be configured; and one that is replaced before it moves."""
    gains = {f'gains.{j}.k{k}': 4.0 for j in ('shoulder', 'elbow') for k in 'pd'}
    node = start('dynamics_node', 'another', joints=gains, tip_frame='hand')
    client = connect('another')
    client.wait_for(lambda: 'waiting for' in node.output, 'node that waits')
    topic = client.publisher(String, 'robot_description', LATCHED)
    topic.publish(String(data=GOOD.replace('"hand"', '"claw"')))
    client.wait_for(lambda: 'cannot configure: ' in node.output, 'refusal')
    assert "'hand'" in node.output
    assert client.lifecycle_state() == 'unconfigured'
    topic.publish(String(data=GOOD))
    client.wait_for(lambda: client.lifecycle_state() == 'inactive', 'configured node')
    first = node.output.partition('; model ')[2][:12]
    topic.publish(String(data=spoilt('<mass value="4"/>', '<mass value="5"/>')))
    client.wait_for(lambda: node.output.count('configured for') == 2, 'node configured anew')
    assert node.output.rpartition('; model ')[2][:12] != first
    client.wait_for(lambda: client.lifecycle_state() == 'inactive', 'configured node')
    node.stop(trouble=['cannot configure'])
