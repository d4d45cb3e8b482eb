# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`identify` with known loads: gains of currents, from bags to the options of `payload`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.cli import main
from kron_dynamics.model.payload import RigidPayload

pytestmark = pytest.mark.interpreted

# The arm of the bags carries it at the origin of its tool; what is carried later is lighter.
KNOWN, UNKNOWN = RigidPayload(2.5), RigidPayload(1.2)
# N m or N per A, and what the driver multiplies currents with, for a unit of its own.
GAINS = np.array([3.0, -5.0, 20.0])
BASIC = ['--friction', 'coulomb', 'viscous', 'offset']


@pytest.fixture
def bags(tmp_path, make_bag, make_motion, arm_urdf) -> Path:
    """A description that is too light, and bags of currents with no, a known, another load."""
    light = arm_urdf.replace('<mass value="5"/>', '<mass value="4"/>')
    assert light != arm_urdf
    (tmp_path / 'arm.urdf').write_text(light, encoding='utf-8')
    time = 5.0 + np.arange(0.0, 12.0, 0.02)
    random = np.random.default_rng(1)
    for name, payload, frequency in (
        ('empty', {}, (2.1, 1.7, 2.6)),
        ('loaded', {'tool': KNOWN}, (1.9, 2.3, 1.6)),
        ('third', {'tool': UNKNOWN}, (2.3, 1.5, 2.2)),
    ):
        robot = kd.loads(arm_urdf, payload=payload)
        motion = make_motion(robot, time, (0.3, 0.2, 0.4), (0.8, 0.5, 0.2), frequency)
        motion.effort = motion.effort + 0.02 * random.standard_normal(motion.q.shape)
        # In mA, but for the last joint.
        motion.effort = motion.effort / GAINS * [1000.0, 1000.0, 1.0]
        with make_bag(name) as bag:
            bag.motion('/joint_states', motion)
    return tmp_path


def command(bags: Path, *more: object) -> list[str]:
    urdf = ['--urdf', bags / 'arm.urdf', *BASIC]
    return [*map(str, ['identify', bags / 'empty', *urdf, *more])]


def test_gains_of_currents_let_payload_find_an_unknown_mass(bags, arm_urdf, capsys):
    scale = ['--scale', 'turn:effort=mN', '--scale', 'l*:effort=mN']
    loaded = ['--loaded', bags / 'loaded', '--load', 'tool=2.5,0,0,0', '--estimate-gains']
    output = bags / 'out'
    assert main(command(bags, *scale, *loaded, '--output', output)) == 0
    said = capsys.readouterr().out
    found = json.loads((output / 'identification.json').read_text(encoding='utf-8'))
    for gain, true in zip(found['gains'], GAINS, strict=True):
        assert gain['value'] == pytest.approx(true, rel=0.02)
        assert gain['low'] < gain['value'] < gain['high'] and gain['is_identifiable']
    (asked,) = found['options']['loaded']
    assert asked['loads'][0]['mass'] == 2.5 and asked['loads'][0]['inertia'] is None
    assert asked['bags'] == [str(bags / 'loaded')]
    # The new masses are those of the machine, without the load, though the description's were not.
    arm = kd.loads(arm_urdf)
    new = kd.load(output / 'arm_identified.urdf')
    q = np.random.default_rng(2).uniform(-0.5, 0.5, (50, 3))
    weights = [robot.gravity_vector(q)[:, 1] for robot in (new, arm)]
    np.testing.assert_allclose(*weights, rtol=0.02)
    assert not any('currents' in note for note in found['notes'])
    # The options that are printed are those that `payload` takes, instead of those given.
    (line,) = [line for line in said.splitlines() if line.startswith('--scale')]
    given = dict(text.split('=') for text in shlex.split(line) if '=' in text)
    assert float(given['turn:effort']) == pytest.approx(1e-3 * GAINS[0], rel=0.02)
    assert float(given['lift:effort']) == pytest.approx(1e-3 * GAINS[1], rel=0.02)
    told = ['--empty', bags / 'empty', '--center', 0, 0, 0, '--output', output]
    arguments = ['payload', bags / 'third', '--urdf', bags / 'arm.urdf', *told]
    assert main([*map(str, arguments), *shlex.split(line)]) == 0
    payload = json.loads((output / 'payload.json').read_text(encoding='utf-8'))
    assert payload['whole']['mass'] == pytest.approx(UNKNOWN.mass, rel=0.02)


def test_gains_without_a_load_are_refused(bags, capsys):
    assert main(command(bags, '--estimate-gains')) == 1
    assert 'record the robot with a known load and without' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('more', 'message', 'code'),
    [
        (['--load', 'tool=1,0,0,0'], '--load must follow the --loaded recordings', 2),
        (['--loaded', 'bag', '--load', 'tool=1,0,0'], 'is not LINK=MASS,X,Y,Z', 2),
        (['--loaded', 'bag', '--load', 'tool=0,0,0,0'], 'has a mass of 0 kg, expected > 0', 2),
        (['--loaded', 'bag', '--load', 'tool=-1,0,0,0'], 'mass is -1 kg', 2),
        (['--loaded', 'bag', '--load', 'tool=1,0,0,far'], "'far' is not a finite number", 2),
        (['--loaded', 'other'], "carried in 'other' is missing: give --load after --loaded", 1),
    ],
)
def test_loads_that_cannot_be_are_told_in_a_line(more, message, code, tmp_path, capsys):
    assert main(command(tmp_path, *more)) == code
    told = capsys.readouterr().err
    assert message in told and told.count('\n') == 1


def test_load_on_a_link_that_does_not_move_is_refused(bags, capsys):
    loaded = ['--loaded', bags / 'loaded', '--load', 'base=2,0,0,0']
    assert main(command(bags, *loaded)) == 1
    assert "'base' does not move" in capsys.readouterr().err
