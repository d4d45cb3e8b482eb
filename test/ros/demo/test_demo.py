# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The demonstration from end to end, and how it stops when it is told to.

Every run of the tests makes one scenario of it with short moves, the long ones all as they are.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import rclpy

from kron_dynamics.bag import analyze_bag, read_bag

pytestmark = pytest.mark.ros

JOINTS = ('travel', 'slew', 'luff')
RUNS = {
    'tracking': ('computed_torque', 'pd'),
    'vibration': ('unshaped', 'shaped'),
    'cylinder': ('luff_torque', 'luff_cylinder'),
}
PATIENCE = 500.0
SHORT_MOVES = (
    'from kron_dynamics.demo.bench_reclaiming import DISTANCE; '
    'DISTANCE.update({joint: way / 32 for joint, way in DISTANCE.items()}); '
)


@pytest.fixture(scope='module')
def begin(ros):
    """Start the demonstration, which chooses a domain of its own."""
    environment = {key: value for key, value in os.environ.items() if key != 'ROS_DOMAIN_ID'}
    # Tests that run in the background of a shell hand an ignored SIGINT down to their children.
    signals = 'import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); '

    def start(folder, domain=None, *arguments, before=''):
        own = {} if domain is None else {'ROS_DOMAIN_ID': domain}
        script = f'{signals}{before}from kron_dynamics.cli import main; sys.exit(main())'
        return subprocess.Popen(
            [sys.executable, '-c', script, 'demo']
            + ['--output', str(folder), '--real-time-factor', '8', *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**environment, **own},
        )

    return start


def end_with_its_nodes(process):
    """What takes too long is interrupted, so that it stops its nodes, before it is killed."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(60.0)
    process.kill()


def to_its_end(begin, folder, *arguments, before=''):
    """Output folder, printed lines, and errors of a demonstration that ran to its end."""
    process = begin(folder, None, *arguments, before=before)
    try:
        printed, errors = process.communicate(timeout=PATIENCE)
    finally:
        end_with_its_nodes(process)
    assert process.returncode == 0, printed + errors
    return folder, printed.splitlines(), errors


@pytest.fixture(scope='module')
def vibration(begin, tmp_path_factory):
    """Moves of an eighth: their ends, at the same accelerations, make the boom vibrate as much."""
    folder = tmp_path_factory.mktemp('demo') / 'output'
    return to_its_end(begin, folder, '--only', 'vibration', before=SHORT_MOVES)


@pytest.fixture(scope='module')
def demo(begin, tmp_path_factory):
    return to_its_end(begin, tmp_path_factory.mktemp('demo') / 'output')


def assert_passed(demonstration, runs):
    folder, lines, errors = demonstration
    assert errors == ''
    assert lines[-1].startswith('demo passed in ')
    for scenario in runs:
        assert f'plot      {folder / scenario}.png' in lines
        assert (folder / f'{scenario}.png').read_bytes().startswith(b'\x89PNG')
        for run in runs[scenario]:
            assert f'{run:<16} starting' in lines
            assert f'{run:<16} done' in lines
    for log in folder.glob('*.log'):
        assert not re.search(r'\[(WARN|ERROR|FATAL)\]|Traceback', log.read_text()), log


def test_one_scenario_passes_and_tells_where_everything_is(vibration):
    assert_passed(vibration, {'vibration': RUNS['vibration']})
    assert not (vibration[0] / 'tracking.png').exists()


@pytest.mark.long
def test_a_cylinder_luffs_the_boom_as_a_torque_does(begin, tmp_path):
    demonstration = to_its_end(begin, tmp_path / 'output', '--only', 'cylinder')
    assert_passed(demonstration, {'cylinder': RUNS['cylinder']})
    rows = [
        re.fullmatch(r'a (torque|cylinder) +(\S+) urad RMS +(\S+) to (\S+) MN.*', line)
        for line in demonstration[1]
    ]
    torque, cylinder = (row for row in rows if row)
    assert float(torque[2]) < 1.0 and float(cylinder[2]) < 1.0
    (loops,) = [line for line in demonstration[1] if line.startswith('loops open by at most')]
    assert float(loops.split()[-2]) < 1e-12
    # The bag holds two robots, each with its description; README has them analysed.
    analysis = analyze_bag(demonstration[0] / 'bag')
    found = {run.replay.run.topic: run.joints for run in analysis.runs}
    assert set(found) == {f'/{run}/joint_states' for run in RUNS['cylinder']}
    assert [joint.name for joint in found['/luff_cylinder/joint_states']] == [
        *('travel', 'slew', 'cylinder')
    ]
    for joints in found.values():
        assert joints[2].ratio < 0.05


@pytest.mark.long
def test_the_demonstration_passes_and_tells_where_everything_is(demo):
    assert_passed(demo, RUNS)
    for law in RUNS['tracking']:
        (rates,) = [line for line in demo[1] if line.startswith(f'{law}: joint states')]
        assert min(map(float, re.findall(r'([0-9.]+) Hz', rates))) > 45.0


@pytest.mark.long
def test_computed_torque_is_ten_times_better_on_every_joint(demo):
    _, lines, _ = demo
    for joint in JOINTS:
        (row,) = [line for line in lines if line.startswith(joint) and 'RMS' in line]
        match = re.fullmatch(rf'{joint} +(\S+) (m\w+) RMS +(\S+) \2 RMS +(\d+)x', row)
        assert match, row
        own, other, ratio = float(match[1]), float(match[3]), float(match[4])
        assert other / own > 10.0
        np.testing.assert_allclose(ratio, other / own, rtol=0.02)


def test_a_shaped_reference_leaves_a_tenth_of_the_vibration_at_most(vibration):
    folder, lines, _ = vibration
    # What each node said that it follows.
    unshaped, shaped = (
        float(re.search('following a reference of (\\S+) s', log.read_text())[1])
        for log in (folder / f'{run}_dynamics_node.log' for run in ('unshaped', 'shaped'))
    )
    for joint, direction in (('slew', 'sideways'), ('luff', 'up and down')):
        (row,) = [line for line in lines if line.startswith(f'{joint:<5} {direction}')]
        numbers = r' +(\S+) mm +(\S+) mm +\S+ mm +(\d+)x +(\S+) s'
        match = re.fullmatch(f'{joint} +{direction}{numbers}', row)
        assert match, row
        before, after, ratio, later = map(float, match.groups())
        assert before / after > 10.0
        np.testing.assert_allclose(ratio, before / after, rtol=0.02)
        assert before > 0.1  # it vibrates at all
        # Half a period of each mode, 0.46 s and 0.61 s, as the node has it, which rounds to 0.1 s.
        np.testing.assert_allclose(later, 1.07, atol=0.01)
        np.testing.assert_allclose(later, shaped - unshaped, atol=0.11)


@pytest.mark.long
def test_the_bag_agrees_with_the_model(demo):
    """Without noise, less than 1 % of each effort is unexplained where all links are stiff."""
    folder, _, _ = demo
    analysis = analyze_bag(folder / 'bag')
    runs = {run.replay.run.topic: run for run in analysis.runs}
    assert set(runs) == {f'/{run}/joint_states' for names in RUNS.values() for run in names}
    computed = runs['/computed_torque/joint_states']
    assert tuple(joint.name for joint in computed.joints) == JOINTS
    for joint in computed.joints:
        assert joint.source == 'measured'
        assert joint.effort_rms > 1e4
        assert joint.ratio < 0.01
    for tip in computed.tip:
        assert tip.difference_rms < 0.01 * tip.recorded_rms


def children_of(pid):
    found = []
    for status in Path('/proc').glob('[0-9]*/status'):
        try:
            text = status.read_text()
        except OSError:
            continue  # it has just ended
        if f'\nPPid:\t{pid}\n' in text:
            found.append(int(status.parent.name))
    return found


def test_two_in_one_domain_keep_apart_and_interrupted_leave_no_process_behind(begin, tmp_path):
    client = rclpy.create_node('observer')
    numbers = {signal.SIGINT: 130, signal.SIGTERM: 143}
    folders = {number: tmp_path / number.name for number in numbers}
    domain = os.environ['ROS_DOMAIN_ID']
    processes = {number: begin(folder, domain) for number, folder in folders.items()}
    logs = [folder / 'computed_torque_dynamics_node.log' for folder in folders.values()]
    deadline = time.monotonic() + PATIENCE
    try:
        while not all(log.exists() and 'following a reference' in log.read_text() for log in logs):
            assert time.monotonic() < deadline
            for process in processes.values():
                assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        topics = {name for name, _ in client.get_topic_names_and_types()}
        nodes = {number: children_of(process.pid) for number, process in processes.items()}
        ends = {}
        for number, process in processes.items():
            assert len(nodes[number]) == 2
            process.send_signal(number)
            ends[number] = process.communicate(timeout=PATIENCE)
    finally:
        for process in processes.values():
            end_with_its_nodes(process)
        client.destroy_node()
    for number, expected in numbers.items():
        printed, errors = ends[number]
        assert processes[number].returncode == expected
        assert errors == ''
        assert 'computed_torque  starting' in printed
        assert not [pid for pid in nodes[number] if Path(f'/proc/{pid}').exists()]
        # What was recorded so far can be read, and nothing of the other one is among it.
        recorded = read_bag(folders[number] / 'bag').joint_states['/computed_torque/joint_states']
        assert len(recorded)
        assert (np.diff(recorded.stamp) > 0).all()
        assert f'/demo_{processes[number].pid}/computed_torque/clock' in topics
    assert '/clock' not in topics


def test_the_true_bending_is_in_the_bag(vibration):
    """Beside every joint state that it was published with."""
    folder, _, _ = vibration
    recorded = read_bag(folder / 'bag').joint_states
    for run in ('unshaped', 'shaped'):
        truth = recorded[f'/{run}/simulator_node/modal_states']
        assert [table.names for table in truth.tables] == [('boom/v1', 'boom/w1')]
        known = np.isin(truth.stamp, recorded[f'/{run}/joint_states'].stamp)
        assert known.sum() > 0.99 * len(truth) > 500
        assert len(recorded[f'/{run}/dynamics_node/deflection'])


@pytest.mark.long
def test_stiff_links_have_no_bending_in_the_bag(demo):
    assert '/pd/simulator_node/modal_states' not in read_bag(demo[0] / 'bag').joint_states


def test_an_output_folder_that_is_in_use_is_refused(begin, tmp_path):
    (tmp_path / 'something').touch()
    process = begin(tmp_path)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    (line,) = errors.splitlines()
    assert 'is not empty' in line


def test_demonstrations_that_start_in_the_same_second_have_folders_of_their_own(
    ros, tmp_path, monkeypatch
):
    from kron_dynamics.ros.demo.demonstration import _output_folder

    monkeypatch.chdir(tmp_path)
    folders = {_output_folder(None) for _ in range(5)}
    assert len(folders) == 5 and all(folder.is_dir() for folder in folders)
    assert {folder.parent.name for folder in folders} == {'kron_dynamics_demo'}
