# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads in bags, and the command that tells them."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.bag import bag_payload
from kron_dynamics.cli import main
from kron_dynamics.model.payload import RigidPayload

pytestmark = pytest.mark.interpreted

LOAD = RigidPayload(1.5, [0.1, 0.0, 0.05], 0.002 * np.eye(3))
OFFSETS = np.array([2.0, -3.0, 1.0])


@pytest.fixture(scope='module')
def recorded(bag_maker, make_motion, arm_urdf, tmp_path_factory):
    """A folder with a description, and bags with and without load whose efforts are off."""
    folder = tmp_path_factory.mktemp('payload')
    (folder / 'arm.urdf').write_text(arm_urdf)
    time = np.arange(1501) / 100
    for name, payload, frequency in (
        ('loaded', {'tool': LOAD}, (2.1, 1.7, 2.6)),
        ('empty', {}, (1.9, 2.3, 1.6)),
    ):
        robot = kd.loads(arm_urdf, payload=payload)
        motion = make_motion(robot, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), frequency)
        random = np.random.default_rng(1)
        motion.q = motion.q + 1e-5 * random.standard_normal(motion.q.shape)
        motion.effort = motion.effort + OFFSETS + 0.05 * random.standard_normal(motion.q.shape)
        with bag_maker(folder / name, 'mcap') as bag:
            bag.motion('/joint_states', motion)
    return folder


@pytest.fixture
def bags(recorded, tmp_path):
    """The same in a folder of the test's own."""
    return shutil.copytree(recorded, tmp_path, dirs_exist_ok=True)


def command(bags, *more, urdf='arm.urdf'):
    return ['payload', str(bags / 'loaded'), '--urdf', str(bags / urdf), *map(str, more)]


def test_payload_of_a_bag_with_the_help_of_an_empty_one(bags):
    found = bag_payload(bags / 'loaded', urdf=bags / 'arm.urdf', empty=bags / 'empty')
    whole = found.fit.whole
    assert whole.mass == pytest.approx(LOAD.mass, rel=0.02)
    assert whole.mass_interval[0] < LOAD.mass < whole.mass_interval[1]
    assert np.abs(whole.center_of_mass - LOAD.center_of_mass).max() < 0.03
    assert np.all(found.fit.noise < 0.1)


@pytest.mark.parametrize('slow', ['loaded', 'empty'])
def test_recordings_may_have_different_rates(bags, make_bag, make_motion, slow):
    robot = kd.load(bags / 'arm.urdf', payload={'tool': LOAD} if slow == 'loaded' else {})
    motion = make_motion(
        robot, np.arange(601) / 20, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (0.9, 0.7, 0.6)
    )
    motion.effort = motion.effort + OFFSETS
    with make_bag('slow') as bag:
        bag.motion('/joint_states', motion)
    paths = {'loaded': bags / 'loaded', 'empty': bags / 'empty', slow: bags / 'slow'}
    found = bag_payload(paths['loaded'], urdf=bags / 'arm.urdf', empty=paths['empty'])
    assert found.fit.whole.mass == pytest.approx(LOAD.mass, rel=0.02)


def test_efforts_that_are_stamped_late_are_told_and_moved(bags, make_bag, arm_motion):
    motion, early = arm_motion(duration=8.0, start=0.0), arm_motion(duration=8.0, start=-0.01)
    motion.effort = early.effort + OFFSETS
    with make_bag('late') as bag:
        bag.motion('/joint_states', motion)
    found = bag_payload(bag.path, urdf=bags / 'arm.urdf', unloaded=(0.0, 4.0))
    assert found.notes == ('efforts are stamped 10 ms too late, as the data shows; corrected',)
    assert np.all(found.fit.noise < 0.02)


def test_no_load_is_found_where_there_is_none(bags):
    found = bag_payload(bags / 'empty', urdf=bags / 'arm.urdf', unloaded=(0.0, 7.0))
    low, high = found.fit.whole.mass_interval
    assert low < 0.0 < high < 0.3


def test_command_tells_and_writes_the_payload(bags, capsys):
    (bags / 'out').mkdir()
    (bags / 'out' / 'payload.json').write_text('of somebody else')
    assert main(command(bags, '--empty', bags / 'empty', '--output', bags / 'out')) == 0
    told = capsys.readouterr().out
    assert told.splitlines()[-1].endswith('kept as payload.json~')
    assert (bags / 'out' / 'payload.json~').read_text() == 'of somebody else'
    assert 'payload  of tool (arm), /joint_states of' in told
    assert 'errors of the model are learnt from motion without load' in told
    assert 'the payload does not change' in told and 'negative mass' not in told
    written = json.loads((bags / 'out' / 'payload.json').read_text())
    assert written['whole']['mass'] == pytest.approx(LOAD.mass, rel=0.02)
    low, high = written['whole']['mass_interval']
    assert low < LOAD.mass < high
    assert written['link'] == 'tool' and written['model_learnt'] is True
    assert set(written['unexplained_effort']) == {'turn', 'lift', 'reach'}
    of_arm = (bags / 'arm.urdf').read_bytes()
    *recorded, urdf = ((each['name'], each['sha256']) for each in written['files'])
    assert urdf == (str(bags / 'arm.urdf'), hashlib.sha256(of_arm).hexdigest())
    assert {Path(name).parent.name for name, _ in recorded} == {'loaded', 'empty'}


def test_results_of_another_recording_are_kept(bags, capsys):
    out, renamed = bags / 'several', []
    for bag in ('loaded', 'loaded', 'empty', 'empty'):
        given = [str(bags / bag), '--urdf', str(bags / 'arm.urdf'), '--output', str(out)]
        assert main(['payload', *given, '--unloaded', '0', '7']) == 0
        renamed.append('of another recording: kept as payload.json~' in capsys.readouterr().out)
    assert renamed == [False, False, True, False]
    found = {path.name: json.loads(path.read_text())['bag'] for path in out.iterdir()}
    assert found == {
        'payload.json': str(bags / 'empty'),
        'payload.json~': str(bags / 'loaded'),
    }


def test_command_says_what_it_trusts_and_what_was_given(bags, capsys):
    assert main(command(bags, '--center', '0.1', '0', '0.05')) == 0
    told = capsys.readouterr().out
    assert 'the description is trusted within 5 %, see --empty' in told
    assert '0.1, 0, 0.05 as given' in told


def test_names_of_a_bag_are_mapped_and_efforts_that_contradict_the_model_told(bags, capsys):
    (bags / 'other.urdf').write_text((bags / 'arm.urdf').read_text().replace('"lift"', '"raise"'))
    more = ('--empty', bags / 'empty', '--rename', 'lift=raise')
    assert main(command(bags, *more, urdf='other.urdf')) == 0
    assert 'note ' not in capsys.readouterr().out
    assert main(command(bags, *more, '--scale', '*:effort=-0.1', urdf='other.urdf')) == 0
    told = capsys.readouterr().out
    assert 'without load: the residual is larger than the effort itself' in told


@pytest.mark.parametrize(
    ('more', 'message'),
    [
        (('--frame', 'hand'), 'hand'),
        (('--frame', 'base'), "link 'base' does not move"),
        (('--joint-states', '/other'), "no sensor_msgs/JointState messages on '/other'"),
        (('--unloaded', '100', '200'), 'nothing was recorded from 100 s to 200 s'),
        (('--empty', '/nowhere'), '/nowhere'),
        (('--empty', 'loaded/loaded.mcap'), "loaded/loaded.mcap' are the same"),
    ],
)
def test_what_cannot_be_is_one_line(bags, capsys, monkeypatch, more, message):
    monkeypatch.chdir(bags)
    assert main(command(bags, *more)) == 1
    told = capsys.readouterr().err
    assert message in told and told.count('\n') == 1


def test_bag_without_efforts_is_refused(bags, make_bag, make_motion, arm, capsys):
    motion = make_motion(
        arm, np.arange(501) / 100, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), (2.1, 1.7, 2.6)
    )
    with make_bag('quiet') as bag:
        bag.motion('/joint_states', motion, 'pv')
    assert main(['payload', str(bag.path), '--urdf', str(bags / 'arm.urdf')]) == 1
    assert 'has no efforts of the joints' in capsys.readouterr().err


def test_efforts_that_end_and_what_was_lost_are_told(bags, make_bag, arm_motion, capsys):
    motion = arm_motion(duration=8.0)
    with make_bag('half') as bag:
        for k, time in enumerate(motion.time):
            effort = motion.effort[k] if k < 400 else ()
            q = motion.q[k] if k != 300 else (np.nan, *motion.q[k, 1:])
            bag.joint_state('/js', time, motion.robot.joint_names, q, motion.qd[k], effort)
    out = bags / 'half_out'
    options = ('--urdf', str(bags / 'arm.urdf'), '--output', str(out))
    assert main(['payload', str(bag.path), *options]) == 0
    written = json.loads((out / 'payload.json').read_text(), parse_constant=pytest.fail)
    assert None in np.ravel([each['center_of_mass'] for each in written['windows']])
    assert (
        'note     lost: 1 NaN, infinite or huge samples of turn position'
        in capsys.readouterr().out
    )


def test_mass_below_zero_is_told_to_be_no_load(bags, capsys):
    urdf = ('--urdf', str(bags / 'arm.urdf'))
    assert main(['payload', str(bags / 'empty'), *urdf, '--empty', str(bags / 'loaded')]) == 0
    assert 'the payload has a negative mass' in capsys.readouterr().out
