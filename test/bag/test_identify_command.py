# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics identify`: from a bag and a wrong description to the machine that moved."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import numpy as np
import pytest
from sdf_texts import HINGE, link

import kron_dynamics as kd
from kron_dynamics.cli import identify as command
from kron_dynamics.cli import main
from kron_dynamics.identification import identify

pytestmark = pytest.mark.interpreted

# What the arm of the bags is described as: other masses, no friction.
WRONG = (
    ('<mass value="8"/>', '<mass value="10"/>'),
    ('<mass value="5"/>', '<mass value="4"/>'),
    ('<mass value="2"/>', '<mass value="2.5"/>'),
    ('<dynamics damping="1.5" friction="2"/>', ''),
    ('<dynamics damping="1"/>', ''),
    ('<dynamics damping="5"/>', ''),
)
BASIC = ['--friction', 'coulomb', 'viscous', 'offset']


@pytest.fixture
def described(tmp_path, arm_urdf) -> Path:
    text = arm_urdf
    for right, wrong in WRONG:
        assert right in text
        text = text.replace(right, wrong)
    path = tmp_path / 'described.urdf'
    path.write_text(text, encoding='utf-8')
    return path


def record(make_bag, motion, fields='pve', names=None, noise=0.02) -> Path:
    """Write a motion whose efforts have noise; joints get other names."""
    efforts = motion.effort + noise * np.random.default_rng(1).standard_normal(motion.q.shape)
    with make_bag() as bag:
        for k, time in enumerate(motion.time):
            bag.joint_state(
                '/joint_states',
                time,
                names or motion.robot.joint_names,
                motion.q[k],
                motion.qd[k] if 'v' in fields else (),
                efforts[k] if 'e' in fields else (),
            )
    return bag.path


def errors_of(capsys, *arguments: object) -> str:
    """Return the one line that a refused command says."""
    assert main(['identify', *map(str, arguments)]) != 0
    lines = capsys.readouterr().err.strip().splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_new_urdf_is_the_machine_that_moved(
    tmp_path, make_bag, arm, make_motion, described, capsys
):
    time = 5.0 + np.arange(0.0, 12.0, 0.02)
    motion = make_motion(arm, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))
    # Efforts in kN under other names: mapped as in `analyze`.
    motion.effort = 1e-3 * motion.effort
    bag = record(make_bag, motion, names=('m_turn', 'm_lift', 'm_reach'), noise=2e-5)
    output = tmp_path / 'out'
    mapping = ['--rename', 'm_*=*', '--scale', '*:effort=kN']
    arguments = [bag, '--urdf', described, '--output', output, *mapping, *BASIC]
    assert main(['identify', *map(str, arguments)]) == 0
    said = capsys.readouterr().out
    found = json.loads((output / 'identification.json').read_text(encoding='utf-8'))
    assert 'least squares' in said
    new, old = (kd.load(path) for path in (output / 'described_identified.urdf', described))
    assert list(new.model.warnings) == list(old.model.warnings)
    # Other states than those that were trained on: efforts within a few per cent of the truth.
    q, qd, qdd = np.random.default_rng(2).uniform(-0.7, 0.7, (3, 50, arm.n))
    truth = arm.inverse_dynamics(q, qd, qdd) + arm.joint_friction(qd)

    def error(robot: kd.Robot) -> float:
        rest = robot.inverse_dynamics(q, qd, qdd) + robot.joint_friction(qd) - truth
        return float(np.linalg.norm(rest) / np.linalg.norm(truth))

    assert error(new) < 0.05
    assert error(old) > 3.0 * error(new)
    assert found['residuals']['identified']['total'] < 0.02


@pytest.mark.parametrize(
    ('fields', 'amplitude', 'names', 'expected'),
    [
        ('pv', 1.0, None, 'no efforts'),
        ('pve', 0.0, None, 'too little motion'),
        ('pve', 1.0, ('turn', 'lift', 'other'), 'reach'),
    ],
)
def test_what_cannot_be_identified_is_refused_in_a_line(
    fields, amplitude, names, expected, make_bag, arm, make_motion, described, capsys
):
    time = 5.0 + np.arange(0.0, 3.0, 0.01)
    sizes = amplitude * np.array([0.8, 0.5, 0.2])
    motion = make_motion(arm, time, (0.3, 0.2, 0.4), sizes, (2.1, 1.7, 2.6))
    bag = record(make_bag, motion, fields, names)
    assert expected in errors_of(capsys, bag, '--urdf', described)


def test_joint_to_hold_that_the_robot_lacks_is_named(arm_motion, make_bag, described, capsys):
    bag = record(make_bag, arm_motion(1.0))
    assert "'elbow'" in errors_of(capsys, bag, '--urdf', described, '--hold', 'elbow=1')


@pytest.mark.parametrize('option', ['--scale', '--rename', '--hold'])
def test_two_values_for_one_name_are_refused(option, tmp_path, described, capsys):
    value = 'b' if option == '--rename' else '-1'
    twice = [option, f'lift={value}', option, 'turn=2', option, f'lift={value}']
    said = errors_of(capsys, tmp_path / 'no_bag', '--urdf', described, *twice)
    assert said.endswith(f"{option} of 'lift' is given twice, expected once")


@pytest.mark.parametrize(
    'again',
    [['run'], ['last'], ['run/run_0.mcap'], ['--validate', 'run'], ['--loaded', 'run/run_0.mcap']],
)
def test_no_recording_counts_twice(again, tmp_path, described, capsys, monkeypatch):
    (tmp_path / 'run').mkdir()
    (tmp_path / 'run' / 'run_0.mcap').touch()
    (tmp_path / 'other.mcap').touch()
    (tmp_path / 'last').symlink_to('run')
    monkeypatch.chdir(tmp_path)
    load = ['--load', 'tool=1,0,0,0'] if again[0] == '--loaded' else []
    said = errors_of(capsys, 'other.mcap', 'run', *again, *load, '--urdf', described)
    what = 'is given twice' if again[-1] == 'run' else f"and '{again[-1]}' are the same"
    assert said.endswith(f"recording 'run' {what}, expected different ones")


def test_efforts_that_are_nan_are_left_out(
    make_bag, arm, make_motion, described, capsys, monkeypatch
):
    time = 5.0 + np.arange(0.0, 12.0, 0.01)
    motion = make_motion(arm, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6))
    motion.effort[200:300, 1] = np.nan
    bag = record(make_bag, motion)
    recorded, output = sorted(bag.iterdir()), bag / 'out'
    output.mkdir()
    (output / 'described_identified.yaml').write_text('edited')
    arguments = [bag, '--urdf', described, '--output', output, *BASIC]
    results = []

    def noted(*given, **options):
        results.append(identify(*given, **options))
        return results[-1]

    monkeypatch.setattr(command, 'identify', noted)
    assert main(['identify', *map(str, arguments)]) == 0
    assert (output / 'described_identified.yaml~').read_text() == 'edited'
    assert 'kept as described_identified.yaml~' in capsys.readouterr().out
    found = json.loads((output / 'identification.json').read_text(encoding='utf-8'))
    assert found['residuals']['identified']['total'] < 0.02
    # As if the same were found from the new description, which is an input now and stays.
    monkeypatch.setattr(command, 'identify', lambda *_, **__: results[0])
    urdf = output / 'described_identified.urdf'
    before = {path: path.read_bytes() for path in output.glob('described_identified.*')}
    arguments = [bag, '--urdf', urdf, '--output', output, *BASIC]
    assert main(['identify', *map(str, arguments)]) == 0
    assert {path: path.read_bytes() for path in before} == before
    assert (output / 'described_identified_identified.urdf').exists()
    # Results in the folder of the bag are no part of it.
    summary = json.loads((output / 'identification.json').read_text(encoding='utf-8'))
    assert [file['name'] for file in summary['files']] == [*map(str, [urdf, *recorded])]


@pytest.fixture
def pipe(tmp_path):
    """A function that makes a pipe with a text, which can be read once, as of ``<(...)``."""
    writers = []

    def with_text(text: str) -> Path:
        path = tmp_path / 'pipe'
        os.mkfifo(path)
        writers.append(threading.Thread(target=path.write_text, args=(text,), daemon=True))
        writers[-1].start()
        return path

    yield with_text
    for writer in writers:
        writer.join(5.0)


MACROS = (
    '<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="all">',
    '</xacro:macro><xacro:all/></robot>',
)


@pytest.mark.parametrize('is_xacro', [False, True])
def test_a_description_is_read_once_and_written_as_it_was_loaded(
    is_xacro, tmp_path, arm_urdf, pipe, monkeypatch
):
    inside = arm_urdf.partition('>')[2].rpartition('<')[0]
    if is_xacro:
        pytest.importorskip('xacro')
    written = []

    def noted(_, model, urdf, text, *more):
        written.append((model, text))
        return [], [], []

    monkeypatch.setattr(command, 'identify', lambda *_, **__: None)
    monkeypatch.setattr(command, 'identification_report', lambda *_: '')
    monkeypatch.setattr(command, 'write_identification', noted)
    file = pipe(inside.join(MACROS) if is_xacro else arm_urdf)
    output = ['--output', str(tmp_path / 'out')]
    monkeypatch.setattr(command, '_motions', lambda *_: [])
    assert main(['identify', str(tmp_path / 'bag'), '--urdf', str(file), *output]) == 0
    ((model, text),) = written
    assert kd.loads(text, expand_xacro=False).model.fingerprint == model.fingerprint
    assert kd.loads(arm_urdf).model.fingerprint == model.fingerprint


def test_what_cannot_be_written_is_refused_before_the_bags_are_read(tmp_path, capsys):
    sdf = tmp_path / 'arm.sdf'
    links = link('a', '0 0 0 0 0 0') + link('b', '0 0 1 0 0 0')
    sdf.write_text(f'<sdf version="1.9"><model name="m">{links}{HINGE}</model></sdf>')
    said = errors_of(capsys, tmp_path / 'missing_bag', '--urdf', sdf)
    assert 'root element <sdf>' in said
