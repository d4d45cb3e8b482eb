# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""One mechanism in every format: the same motion as of this package's own description."""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.cli import main
from kron_dynamics.constrained import ConstrainedRobot
from kron_dynamics.constraints import read_constraints

pytestmark = pytest.mark.interpreted

ROOT = Path(__file__).parents[3]
URDF, CONFIG = ROOT / 'urdf', ROOT / 'config'
OWN = CONFIG / 'four_bar_constraints.yaml'
# Description of the robot, and of its loop.
SAMPLES = {
    'gepetto': (URDF / 'four_bar_plus.urdf', CONFIG / 'four_bar_gepetto.yaml'),
    'mjcf': (URDF / 'four_bar.urdf', CONFIG / 'four_bar_equality.xml'),
    'urdf plus': (URDF / 'four_bar_plus.urdf', URDF / 'four_bar_plus.urdf'),
    'sdf': (URDF / 'four_bar.sdf', URDF / 'four_bar.sdf'),
}


@functools.cache
def own() -> ConstrainedRobot:
    return ConstrainedRobot.described(kd.load(URDF / 'four_bar.urdf'), OWN)


@functools.cache
def zero_of(name: str) -> Any:
    """Coordinates of the URDF where those of a sample are 0."""
    if name != 'sdf':
        return np.zeros(3)
    upright = read_constraints(CONFIG / 'four_bar_equality.xml').start
    return np.array([upright[joint] for joint in own().joint_names])


@pytest.mark.parametrize('name', SAMPLES)
def test_the_motion_is_that_of_our_own_description(name: str, assert_close: Any) -> None:
    urdf, loops = SAMPLES[name]
    robot = kd.load(urdf)
    expected, zero = own(), zero_of(name)
    start = dict(zip(robot.joint_names, expected.start - zero, strict=True))
    there = {'from': str(loops), 'start': start, 'hold': ['crank_joint']}
    closed = ConstrainedRobot.described(robot, {**there, 'independent': ['crank_joint']})
    assert closed.joint_names == expected.joint_names and closed.degrees_of_freedom == 1
    rng = np.random.default_rng(8)
    for angle in (0.9, 0.4, 1.7):
        q = expected.close([angle, *expected.start[1:]], hold=['crank_joint'])
        assert_close(closed.close(q - zero + [0, 0.05, -0.05], hold=['crank_joint']), q - zero)
        qd, tau = expected.velocities(q, rng.normal(size=1)), rng.normal(size=3)
        motion = closed.forward_dynamics(q - zero, qd, tau)
        same = expected.forward_dynamics(q, qd, tau)
        assert_close(motion.qdd, same.qdd, 1e-10)
        (name_of_loop,) = (constraint.name for constraint in closed.constraints)
        force = closed.reactions(q - zero, qd, motion.qdd, tau).wrenches[name_of_loop][:3]
        other = expected.reactions(q, qd, same.qdd, tau).wrenches['pin'][:3]
        assert_close(force, other, 1e-9)


@pytest.mark.parametrize(('name', 'drives'), [('gepetto', True), ('mjcf', True), ('sdf', False)])
def test_drives_and_start_are_those_of_the_file(name: str, drives: bool) -> None:
    found = read_constraints(SAMPLES[name][1])
    assert found.actuated == (('crank_joint',) if drives else None)
    assert bool(found.start) == (name == 'mjcf')
    assert (found.hold, found.independent) == ((), None)


def test_mjcf_closes_from_its_reference() -> None:
    closed = ConstrainedRobot.described(kd.load(URDF / 'four_bar.urdf'), SAMPLES['mjcf'][1])
    np.testing.assert_allclose(closed.start[0], np.pi / 2, atol=1e-12)
    assert np.abs(closed.residual(closed.start)).max() < 1e-14


def test_sdf_is_closed_at_zero() -> None:
    closed = ConstrainedRobot.described(kd.load(URDF / 'four_bar.sdf'), SAMPLES['sdf'][1])
    np.testing.assert_allclose(closed.start, 0.0, atol=1e-12)


def test_a_description_beside_another_adds_to_it_and_comes_first(tmp_path: Path) -> None:
    beside = tmp_path / 'beside.yaml'
    loops = tmp_path / 'loops' / 'equality.xml'
    loops.parent.mkdir()
    loops.write_bytes(SAMPLES['mjcf'][1].read_bytes())
    beside.write_text(
        'from: loops/equality.xml\nstart: {crank_joint: 0.5}\nhold: [crank_joint]\n'
        'actuated: [rocker_joint]\nindependent: [coupler_joint]\n'
        'constraints: {stop: {type: lock, joint: rocker_joint, position: 1}}\n'
    )
    found, taken = read_constraints(beside), read_constraints(loops)
    assert [constraint.name for constraint in found.constraints] == ['pin', 'stop']
    assert dict(found.start) == {**taken.start, 'crank_joint': 0.5}
    assert found.hold == ('crank_joint',) and found.actuated == ('rocker_joint',)
    assert found.independent == ('coupler_joint',)
    beside.write_text('from: loops/equality.xml')
    assert read_constraints(beside) == taken


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('from: 3', "key 'from' is 3, expected the path of a file"),
        ('from: none.yaml', 'none.yaml: the file does not exist'),
        ('from: other.yaml', "key 'from' names 'other.yaml', which names a file in turn"),
        ('from: here.yaml\nstat: {}', "key 'stat' is unknown, did you mean 'start'"),
        ('from: here.yaml\nconstraints: {}', "key 'constraints' is empty"),
    ],
)
def test_files_beside_others_that_are_wrong(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / 'here.yaml').write_bytes(OWN.read_bytes())
    (tmp_path / 'other.yaml').write_text('from: here.yaml')
    (tmp_path / 'beside.yaml').write_text(text)
    with pytest.raises(kd.ModelError) as raised:
        read_constraints(tmp_path / 'beside.yaml')
    assert words in str(raised.value) and str(tmp_path) in str(raised.value)


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('<mujoco>', 'it is not well-formed XML'),
        ('<scene/>', 'root element <scene>, expected one of <robot>, <mujoco>, <sdf>'),
        ('  \n', 'is empty, expected a mapping'),
    ],
)
def test_contents_of_no_format(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / 'loops.txt').write_text(text)
    with pytest.raises(kd.ModelError) as raised:
        read_constraints(tmp_path / 'loops.txt')
    assert words in str(raised.value) and 'loops.txt' in str(raised.value)


def test_text_in_other_encodings_and_xacro_are_read(tmp_path: Path) -> None:
    text = SAMPLES['mjcf'][1].read_text('utf-8')
    path = tmp_path / 'loops'
    path.write_bytes(text.encode('utf-16'))
    assert read_constraints(path) == read_constraints(SAMPLES['mjcf'][1])
    pytest.importorskip('xacro')
    plus = SAMPLES['urdf plus'][1].read_text('utf-8')
    plus = plus.replace('<robot', '<robot xmlns:xacro="http://ros.org/wiki/xacro"')
    path = tmp_path / 'loops.xacro'
    path.write_text(plus.replace('<origin xyz="0.9 0 0"/>', '<origin xyz="${0.4 + 0.5} 0 0"/>'))
    assert read_constraints(path) == read_constraints(SAMPLES['urdf plus'][1])


def test_xacro_arguments_reach_the_loops(tmp_path: Path, capsys: Any) -> None:
    """The pin is where the argument puts it, for every reader of the file."""
    pytest.importorskip('xacro')
    text = SAMPLES['urdf plus'][1].read_text('utf-8')
    head = '<robot xmlns:xacro="http://ros.org/wiki/xacro"'
    declared = '<xacro:arg name="length" default="0.7"/><loop'
    pin = '<successor link="rocker"> <origin xyz="$(arg length) 0 0"/>'
    macro = text.replace('<robot', head).replace('<loop', declared)
    macro = macro.replace('<successor link="rocker"> <origin xyz="0.7 0 0"/>', pin)
    file = tmp_path / 'loops.xacro'
    file.write_text(macro)
    start = OWN.read_text('utf-8').partition('start:')[2]
    beside = tmp_path / 'beside.yaml'
    beside.write_text(f'from: loops.xacro\nactuated: [crank_joint]\nstart:{start}')
    longer = {'length': '0.8'}
    robot = kd.load(file, constraints=beside, xacro_args=longer)
    tree = kd.load(file, xacro_args=longer)
    described = ConstrainedRobot.described(tree, beside, xacro_args=longer)
    for q in (robot.tree_coordinates([0.9]), described.start):
        coupler, rocker = (tree.frame(link).pose(q) for link in ('coupler', 'rocker'))
        apart = (coupler @ [0.9, 0, 0, 1] - rocker @ [0.8, 0, 0, 1])[:3]
        np.testing.assert_allclose(apart, 0.0, atol=1e-9)
    # A rocker that is too long cannot be closed.
    command = str(file), '--constraints', str(beside)
    for name in ('check', 'info'):
        assert main([name, *command, '--xacro-arg', 'length:=5']) == 1
        assert 'cannot be met' in ''.join(capsys.readouterr())
    assert main(['derive', *command, '--quantity', 'phi', '--xacro-arg', 'length:=5.25']) == 0
    assert '5.25' in capsys.readouterr().out


def test_xacro_arguments_of_the_loops_alone(tmp_path: Path, capsys: Any) -> None:
    """Neither a plain URDF nor one with other arguments refuses those of the constraints."""
    pytest.importorskip('xacro')
    xmlns, declared = (
        'xmlns:xacro="http://ros.org/wiki/xacro"',
        '<xacro:arg name="%s" default="1"/>',
    )
    loops = tmp_path / 'loops.xml'
    macro = SAMPLES['mjcf'][1].read_text('utf-8').replace('<mujoco', f'<mujoco {xmlns}')
    macro = macro.replace('<worldbody>', f'{declared % "reach"}<worldbody>')
    loops.write_text(macro.replace('anchor="0.9 0 0"', 'anchor="$(arg reach) 0 0"'))
    plain, text = URDF / 'four_bar.urdf', (URDF / 'four_bar.urdf').read_text('utf-8')
    other = tmp_path / 'robot.urdf.xacro'
    text = text.replace('<robot', f'<robot {xmlns}').replace('<link', f'{declared % "a"}<link', 1)
    other.write_text(text)
    command = '--constraints', str(loops), '--strict', '--xacro-arg', 'reach:=0.9'
    for file in (plain, other):
        known = 'reach only' if file == plain else 'a, reach only'
        robot = kd.load(file, constraints=loops, xacro_args={'reach': '0.9'}, strict=True)
        assert robot.joint_names == ('crank_joint',)
        assert main(['check', str(file), *command]) == 0
        capsys.readouterr()
        assert main(['check', str(file), *command, '--xacro-arg', 'rech:=1']) == 1
        assert f'has {known}' in capsys.readouterr().out
        with pytest.raises(kd.ModelError, match=f"'rech': is given, .* has {known}"):
            kd.load(file, constraints=loops, xacro_args={'rech': '1'}, strict=True)
        with warnings.catch_warnings():
            warnings.simplefilter('error')  # none is told that only the constraints have it
            words = [word for word in command if word != '--strict']
            assert main(['derive', str(file), *words, '--quantity', 'phi']) == 0
        capsys.readouterr()
    with pytest.raises(kd.ParameterError, match='not xacro'):
        kd.load(plain, constraints=OWN, xacro_args={'reach': '0.9'})


def test_info_takes_every_format(capsys: Any, tmp_path: Path) -> None:
    beside = tmp_path / 'beside.yaml'
    for name, (urdf, loops) in SAMPLES.items():
        file = loops
        if name in ('gepetto', 'urdf plus'):
            file = beside
            start = OWN.read_text('utf-8').partition('start:')[2]
            beside.write_text(f'from: {loops}\nstart:{start}')
        assert main(['info', str(urdf), '--constraints', str(file)]) == 0
        printed = capsys.readouterr().out
        assert 'freedom  1 of 3 coordinates' in printed
        assert ('PointLoop' if name in ('gepetto', 'mjcf') else 'HingeLoop') in printed
