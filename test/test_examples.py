# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Every example runs as it is, and prints what is so; those with ROS are in test/ros."""

from __future__ import annotations

import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

import kron_dynamics as kd

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / 'examples'
EXAMPLES = sorted(FOLDER.glob('*.py'))
STACKER = ROOT / 'urdf' / 'stacker_reclaimer.urdf'
PLANAR = ROOT / 'test' / 'robots' / 'planar_2r.urdf'
FLEXIBLE = ROOT / 'config' / 'stacker_reclaimer_flexible.yaml'
Run = Callable[..., str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run an example; return what it prints."""

    def program(name: str, *arguments: object) -> str:
        monkeypatch.setattr(sys, 'argv', [name, *map(str, arguments)])
        runpy.run_path(str(FOLDER / f'{name}.py'), run_name='__main__')
        return capsys.readouterr().out

    return program


@pytest.mark.parametrize('path', EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_short_tested_and_linked(path: Path) -> None:
    assert len(path.read_text(encoding='utf-8').splitlines()) < 90
    tests = [ROOT / 'test' / 'test_examples.py', ROOT / 'test' / 'ros' / 'test_examples.py']
    assert any(f"'{path.stem}'" in test.read_text(encoding='utf-8') for test in tests)
    assert f'](examples/{path.name})' in (ROOT / 'README.md').read_text(encoding='utf-8')


def numbers(text: str, pattern: str) -> list[float]:
    return [float(found) for found in re.findall(pattern, text)]


def test_closed_forms(run: Run) -> None:
    printed = run('closed_forms', PLANAR)
    robot = kd.load(PLANAR)
    (text,) = re.findall(r'M\[shoulder, shoulder\] = (.*)', printed)
    at = 0.7
    value = eval(text, {'cos': np.cos, 'elbow': at})
    np.testing.assert_allclose(value, robot.mass_matrix([0.3, at])[0, 0], rtol=1e-12)
    assert r'I_{\mathrm{forearm},zz}' in printed


def test_batches(run: Run) -> None:
    printed = run('batches', STACKER, 'bucket_wheel')
    robot = kd.load(STACKER)
    assert printed.startswith('10000 poses of travel, slew, luff')
    # The payload told carries itself: what all drives give holds it and the machine, no more.
    for mass, pose in re.findall(r'(\S+) kg at q = \[(.*)\]', printed):
        q = [float(number) for number in pose.split(',')]
        loaded = kd.load(STACKER, payload={'bucket_wheel': float(mass)})
        used = np.abs(loaded.gravity_vector(q)) / robot.model.effort_limit
        np.testing.assert_allclose(used.max(), 1.0, rtol=1e-2)


def test_taylor_expansion(run: Run) -> None:
    errors = numbers(run('taylor_expansion', STACKER), r'order \d: error (\S+)')
    assert len(errors) == 4
    for error, next_one in zip(errors, errors[1:], strict=False):
        assert next_one < 0.2 * error


def test_custom_law(run: Run) -> None:
    errors = np.array(numbers(run('custom_law', PLANAR), r'(\d\S*) at'))
    assert errors.size == 4
    largest, last = errors.reshape(2, 2).T
    assert (largest > 0).all()
    assert (largest < 1e-2).all()  # of 0.3 rad
    assert (last < 1e-3).all()


def test_lqr_boom(run: Run) -> None:
    printed = run('lqr_boom', STACKER, FLEXIBLE)
    first = numbers(printed, r'(\S+) mm at first')
    late = numbers(printed, r'(\S+) mm after')
    assert first[0] > 5.0
    assert late[1] < 0.1 * late[0]


@pytest.mark.interpreted
def test_compare_bag(run: Run, tmp_path: Path) -> None:
    """A motion recorded with a load that the description does not know of."""
    load, names = 3000.0, ['travel', 'slew', 'luff']
    robot = kd.load(STACKER, payload={'bucket_wheel': load})
    t = np.arange(0.0, 20.0, 0.02)
    phase = np.outer(t, [0.4, 0.5, 0.6])
    centre, reach = np.array([100.0, 0.5, 0.0]), np.array([1.0, 0.1, 0.05])
    q, qd = centre + reach * np.sin(phase), reach * [0.4, 0.5, 0.6] * np.cos(phase)
    qdd = -reach * np.square([0.4, 0.5, 0.6]) * np.sin(phase)
    tau = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd)
    store = get_typestore(Stores.ROS2_HUMBLE)
    kind, header = store.types['sensor_msgs/msg/JointState'], store.types['std_msgs/msg/Header']
    time = store.types['builtin_interfaces/msg/Time']
    with Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection('/joint_states', kind.__msgtype__, typestore=store)
        for k, moment in enumerate(t):
            nanoseconds = round(1e9 * moment) + 10**9
            stamp = time(sec=nanoseconds // 10**9, nanosec=nanoseconds % 10**9)
            state = kind(header(stamp, ''), names, q[k], qd[k], tau[k])
            data = store.serialize_cdr(state, kind.__msgtype__)
            writer.write(topic, nanoseconds, data)
    printed = run('compare_bag', tmp_path / 'bag', STACKER)
    unexplained = numbers(printed, r'(\S+) % unexplained')
    assert len(unexplained) == 3
    assert unexplained[2] > 1.0  # the luff, which carries it
    # With the load known, nothing is left.
    with_load = tmp_path / 'loaded.urdf'
    body = (
        f'<link name="load"><inertial><mass value="{load}"/><inertia ixx="1e-3" iyy="1e-3" '
        'izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="load" type="fixed">'
        '<parent link="bucket_wheel"/><child link="load"/></joint></robot>'
    )
    with_load.write_text(STACKER.read_text().replace('</robot>', body))
    printed = run('compare_bag', tmp_path / 'bag', with_load)
    assert max(numbers(printed, r'(\S+) % unexplained')) < 1.0
