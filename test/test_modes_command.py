# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics modes`: what it prints, writes and refuses."""

from __future__ import annotations

import csv
from pathlib import Path
from pipes import piped

import numpy as np
import pytest

import kron_dynamics as kd
from kron_dynamics.cli import main
from kron_dynamics.flexible import Beam
from kron_dynamics.modes import joint_map

ROOT = Path(__file__).parents[1]
STACKER = str(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
FLEXIBLE = str(ROOT / 'config' / 'stacker_reclaimer_flexible.yaml')
# A beam of 2 m and 3 kg on a hinge across it, with a massless link at its tip.
ARM = """<robot name="arm"><link name="base"/>
<joint name="hinge" type="revolute"><parent link="base"/><child link="beam"/>
  <axis xyz="0 -1 0"/><limit lower="0.5" upper="1.5" velocity="1" effort="1"/></joint>
<link name="beam"><inertial><origin xyz="1 0 0"/><mass value="3"/>
  <inertia ixx="0" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="mount" type="fixed"><parent link="beam"/><child link="tip"/>
  <origin xyz="2 0 0"/></joint><link name="tip"/></robot>"""


@pytest.fixture
def arm_files(tmp_path: Path) -> list[str]:
    (tmp_path / 'arm.urdf').write_text(ARM)
    (tmp_path / 'arm.yaml').write_text(
        'flexible_links: {beam: {length: 2, mass_per_length: 1.5, damping_ratio: 0.03,\n'
        '  bending_stiffness: {v: 40, w: 60}, modes: {v: 1, w: 1}}}\n'
    )
    return ['modes', str(tmp_path / 'arm.urdf'), '--flexible', str(tmp_path / 'arm.yaml')]


def table(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(newline='') as file:
        titles, *rows = csv.reader(file)
    return titles, rows


def test_command_prints_and_writes_the_sweep_of_a_joint(
    arm_files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / 'new'
    files = ['--csv', str(output / 'map.csv'), '--plot', str(output / 'map.png')]
    assert main([*arm_files, '--points', '3', *files]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == 'robot    arm, joints held'
    assert lines[1].split('  ')[0] == 'hinge [rad]'
    assert [line.split()[0] for line in lines[2:5]] == ['0.5', '1', '1.5']
    assert lines[-1] == f'written  {output / "map.csv"}, {output / "map.png"}'
    titles, rows = table(output / 'map.csv')
    assert titles[0] == 'hinge [rad]'
    assert titles[2::2] == ['beam/w1 frequency [Hz]', 'beam/w1 damping ratio']
    robot = kd.loads(ARM, flexible=arm_files[-1])
    found = joint_map(robot, 'hinge', [0.5, 1.0, 1.5])
    expected = np.column_stack([found.values, found.frequencies, found.damping_ratios])
    np.testing.assert_allclose(np.array(rows, dtype=float), expected, rtol=1e-12)
    assert lines[2].split()[2] == f'{found.frequencies[0, 1]:.4f}'
    assert (output / 'map.png').read_bytes().startswith(b'\x89PNG')


def test_command_sweeps_a_payload(
    arm_files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    weightless = ['--gravity', '0', '0', '0', '--csv', str(tmp_path / 'map.csv')]
    picture = tmp_path / 'map.svg'
    assert main([*arm_files, '--masses', '0:2:3', *weightless, '--plot', str(picture)]) == 0
    assert 'payload at tip [kg]' in capsys.readouterr().out
    _, rows = table(tmp_path / 'map.csv')
    expected = [
        Beam(2.0, 40.0, 1.5, mass).modes(1).natural_frequencies[0] / (2 * np.pi)
        for mass in (0, 1, 2)
    ]
    np.testing.assert_allclose([float(row[1]) for row in rows], expected, rtol=1e-6)
    assert picture.read_text('utf-8').startswith('<?xml')
    assert main([*arm_files, '--masses', '0:2:3', '--payload', 'beam', *weightless]) == 0
    _, at_root = table(tmp_path / 'map.csv')
    assert len({row[1] for row in at_root}) == 1


def test_command_takes_the_joint_that_changes_most(capsys: pytest.CaptureFixture[str]) -> None:
    stacker = ['modes', STACKER, '--flexible', FLEXIBLE, '--points', '2']
    assert main(stacker) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith('luff [rad]')
    assert main([*stacker, '--at', 'luff=0.1', '--joints', 'free']) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith('slew [rad]')


def test_command_swings_a_rigid_robot(
    arm_files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rigid = [*arm_files[:2], '--joints', 'free', '--sweep', 'hinge']
    assert main([*rigid, '--range', '-1.5', '1.5', '--points', '2']) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2].split()[2] == '0.0000'
    assert lines[3].split()[2] == '-'
    assert lines[-1].startswith('negative: no frequency')
    assert main(arm_files[:2]) == 1
    assert 'without --flexible all links are rigid' in capsys.readouterr().err


@pytest.mark.parametrize('swept', [['--points', '2'], ['--masses', '0:0.5:2']])
def test_flexible_links_from_a_pipe(
    arm_files: list[str], capsys: pytest.CaptureFixture[str], swept: list[str]
) -> None:
    assert main([*arm_files, *swept]) == 0
    expected = capsys.readouterr()
    description = Path(arm_files[-1]).read_text(encoding='utf-8')
    assert main([*arm_files[:-1], piped(description), *swept]) == 0
    assert capsys.readouterr() == expected
    for text, complaint in (
        ('', ': is empty'),
        (description.replace('length: 2', 'length: -2'), ": link 'beam': key 'length' is -2"),
        (description.replace('1.5', '15'), ": flexible link 'beam': its beam has 30 kg"),
    ):
        pipe = piped(text)
        assert main([*arm_files[:-1], pipe, *swept]) == 1
        assert f'{pipe}{complaint}' in capsys.readouterr().err


def test_a_missing_description_is_named(
    arm_files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*arm_files[:-1], 'none.yaml']) == 1
    assert 'none.yaml: the file does not exist' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('options', 'code', 'named'),
    [
        (['--sweep', 'elbow'], 1, "joint 'elbow' does not exist"),
        (['--at', 'elbow=1'], 1, "joint 'elbow' does not exist"),
        (['--at', 'hinge'], 2, "'hinge' is not JOINT=POSITION"),
        (['--at', 'hinge=x'], 2, "'x' is not a finite number"),
        (['--sweep', 'hinge', '--range', '1', '0'], 1, '--range is 1 to 0'),
        (['--range', '0', '1'], 1, '--range needs --sweep'),
        (['--points', '1'], 2, "'1' is not a whole number from 2 to 100000"),
        (['--masses', '5:1:3'], 2, "'5:1:3' is not an increasing range"),
        (['--masses', '0:5'], 2, "'0:5' is not FROM:TO:COUNT"),
        (['--masses', '0:1:2', '--points', '3'], 1, '--points is for a joint'),
        (['--masses', '0:1:2', '--sweep', 'hinge'], 2, 'not allowed with'),
        (['--masses', '0:1:2', '--payload', 'nose'], 1, "link 'nose' does not exist"),
        (['--payload', 'tip'], 1, '--payload needs --masses'),
        (['--plot', 'map.gif'], 1, 'expected a .png or an .svg file'),
    ],
)
def test_command_names_what_is_wrong(
    arm_files: list[str],
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    code: int,
    named: str,
) -> None:
    assert main([*arm_files, *options]) == code
    captured = capsys.readouterr()
    (line,) = captured.err.splitlines()
    assert named in line
    assert captured.out == ''
