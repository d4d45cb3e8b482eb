# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""kron_dynamics check: findings of every severity, exit codes, formats."""

from __future__ import annotations

import json
from pathlib import Path
from pipes import piped

import pytest

import kron_dynamics as kd
from kron_dynamics.cli import main

ROOT = Path(__file__).parents[1]
ARM = (ROOT / 'test' / 'robots' / 'planar_2r.urdf').read_text(encoding='utf-8')
CHANGES = {
    'good': ('', ''),
    'hint': ('<axis xyz="0 0 1"/>', '<axis xyz="0 0 2"/>'),
    'warning': ('lower="-3"', 'lower="4"'),
    'error': ('lower="-3"', 'lower="three"'),
    'floating': (
        '</robot>',
        '<link name="world"/><joint name="free" type="floating"><parent link="world"/>'
        '<child link="base"/></joint></robot>',
    ),
}


@pytest.fixture
def write(tmp_path: Path):
    def spoilt(*changes: str) -> str:
        text = ARM
        for change in changes:
            old, new = CHANGES[change]
            assert old in text
            text = text.replace(old, new, 1) if old else text
        path = tmp_path / 'robot.urdf'
        path.write_text(text, encoding='utf-8')
        return str(path)

    return spoilt


@pytest.mark.parametrize(
    ('changes', 'code', 'strict'),
    [
        (['good'], 0, 0),
        (['hint'], 0, 0),
        (['hint', 'warning'], 0, 1),
        (['error'], 1, 1),
        (['error', 'hint'], 1, 1),
    ],
)
def test_exit_codes(changes, code, strict, write, capsys):
    path = write(*changes)
    assert main(['check', path]) == code
    lines = capsys.readouterr().out.splitlines()
    counts = [f'{changes.count(s)} {s}' for s in ('error', 'warning')]
    assert lines[-1].startswith(f'{path}: {counts[0]}s'.replace('1 errors', '1 error'))
    assert counts[1] in lines[-1]
    assert main(['check', path, '--strict']) == strict
    assert capsys.readouterr().err == ''


def test_what_is_shown(write, capsys):
    main(['check', write('warning', 'hint')])
    assert capsys.readouterr().out.splitlines()[:4] == [
        "hint     joint 'shoulder': its axis [0.0, 0.0, 2.0] is no unit vector; its direction is "
        'taken',
        '         scale it to length 1 [axis_not_unit]',
        "warning  joint 'shoulder': its lower limit 4 is above its upper limit 3; the range "
        'between the two is taken',
        '         exchange them, or make the joint continuous if it has none [limits_reversed]',
    ]


def test_all_errors_of_one_run(tmp_path, capsys):
    path = tmp_path / 'robot.urdf'
    text = ARM.replace('lower="-3"', 'lower="x"', 1).replace(
        '<mass value="4"/>', '<mass value="y"/>'
    )
    path.write_text(text, encoding='utf-8')
    assert main(['check', str(path)]) == 1
    output = capsys.readouterr().out
    assert "error    link 'upper_arm': value of <mass> is 'y'" in output
    assert "error    joint 'shoulder': lower of <limit> is 'x'" in output
    assert '2 errors' in output


def test_json(write, capsys):
    assert main(['check', write('warning'), '--format', 'json']) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found['severity'] == 'warning'
    assert found['kind'] == 'limits_reversed'
    assert found['subject'] == "joint 'shoulder'"
    assert found.keys() == {'severity', 'kind', 'subject', 'finding', 'cure'}


def test_base_that_is_held(write, capsys):
    path = write('floating')
    assert main(['check', path]) == 1
    assert '--hold-base' in capsys.readouterr().out
    assert main(['check', path, '--hold-base']) == 0
    assert '[joint_held]' in capsys.readouterr().out


def test_flexible_links(tmp_path, capsys):
    stacker = str(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
    good = str(ROOT / 'config' / 'stacker_reclaimer_flexible.yaml')
    assert main(['check', stacker, '--flexible', good]) == 0
    bad = tmp_path / 'bad.yaml'
    bad.write_text('flexible_links: {boom: {length: -1}}')
    assert main(['check', stacker, '--flexible', str(bad)]) == 1
    told = capsys.readouterr().out
    assert f'\nerror    {bad}: ' in told and "'length' is -1" in told


@pytest.mark.parametrize(
    'arguments',
    [['nowhere.urdf'], ['.'], [], ['--format', 'xml', 'a'], ['a', '--xacro-arg', 'x=1']],
)
def test_what_cannot_be_read(arguments, capsys):
    assert main(['check', *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith('kron_dynamics: error: ')


def test_flexible_links_from_a_pipe(capsys):
    stacker = str(ROOT / 'urdf' / 'stacker_reclaimer.urdf')
    good = (ROOT / 'config' / 'stacker_reclaimer_flexible.yaml').read_text(encoding='utf-8')
    assert main(['check', stacker, '--flexible', piped(good)]) == 0
    assert main(['check', stacker, '--flexible', piped('flexible_links: {boom: 1}')]) == 1
    assert 'boom' in capsys.readouterr().out


@pytest.mark.parametrize('option', ['--flexible', '--constraints'])
def test_other_files_that_are_missing(option, write, capsys):
    assert main(['check', write('good'), option, 'nowhere.yaml']) == 2
    assert 'nowhere.yaml' in capsys.readouterr().err


def test_loops_are_closed(tmp_path, capsys):
    urdf = str(ROOT / 'urdf' / 'four_bar.urdf')
    loops = ROOT / 'config' / 'four_bar_constraints.yaml'
    assert main(['check', urdf, '--constraints', str(loops)]) == 0
    bad = tmp_path / 'bad.yaml'
    text = loops.read_text(encoding='utf-8')
    for changed, told in (
        (text.replace('coupler,', 'couplr,'), "'couplr'"),  # a link that the tree lacks
        (text.replace('[0.9, 0, 0]', '[5.0, 0, 0]'), "'pin'"),  # cannot be closed
        (text.replace('actuated: [crank_joint]', 'actuated: []'), 'names 0 joints'),
        (text.replace('constraints:', 'constraint:'), "did you mean 'constraints'"),
        (f'{text}\nconstraints: {{}}', "'constraints' is given twice"),
    ):
        assert changed != text
        bad.write_text(changed, encoding='utf-8')
        capsys.readouterr()
        assert main(['check', urdf, '--constraints', str(bad)]) == 1
        first, *_, last = capsys.readouterr().out.splitlines()
        assert first.startswith(f'error    {bad}') and told in first
        assert last.startswith(f'{urdf}: 1 error,')


def test_findings_of_closed_loops_are_those_of_the_loaded_robot(tmp_path, capsys):
    """Friction of a joint without a drive is told, and no joint of the tree that loops move."""
    text = (ROOT / 'urdf' / 'four_bar.urdf').read_text(encoding='utf-8')
    urdf, loops = tmp_path / 'bar.urdf', ROOT / 'config' / 'four_bar_constraints.yaml'
    rocker = '<joint name="rocker_joint" type="continuous">'
    assert rocker in text and '<dynamics' in text  # of the crank, which has the drive
    text = text.replace(rocker, f'{rocker}<dynamics damping="2"/>')
    urdf.write_text(text, encoding='utf-8')
    assert main(['check', str(urdf), '--constraints', str(loops), '--format', 'json']) == 0
    told = {(line['kind'], line['subject']) for line in json.loads(capsys.readouterr().out)}
    assert told == {('passive_friction', "joint 'rocker_joint'")}
    warnings = kd.load(urdf, constraints=loops).model.warnings
    assert told == {(warning.kind, warning.subject) for warning in warnings}


def test_tree_is_checked_before_its_loops(write, capsys):
    loops = str(ROOT / 'config' / 'four_bar_constraints.yaml')
    assert main(['check', write('error'), '--constraints', loops]) == 1
    assert '1 error, 0 warnings, 0 hints' in capsys.readouterr().out


def test_arguments_of_xacro(tmp_path, capsys):
    pytest.importorskip('xacro')
    path = tmp_path / 'robot.urdf.xacro'
    path.write_text(
        ARM.replace('<robot ', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
        .replace('<link ', '<xacro:arg name="low" default="-3"/><link ', 1)
        .replace('lower="-3"', 'lower="$(arg low)"', 1),
        encoding='utf-8',
    )
    assert main(['check', str(path), '--strict']) == 0
    assert main(['check', str(path), '--strict', '--xacro-arg', 'low:=30']) == 1
    assert 'lower limit 30' in capsys.readouterr().out
    assert main(['check', str(path), '--xacro-arg', 'low:=${']) in (1, 2)
    capsys.readouterr()
    assert main(['check', str(path), '--strict', '--xacro-arg', 'lwo:=30']) == 1
    assert "xacro argument 'lwo': is given, and the file has low only" in capsys.readouterr().out


def test_arguments_of_xacro_need_xacro(write, capsys):
    assert main(['check', write('good'), '--xacro-arg', 'low:=30']) == 2
    assert '--xacro-arg sets low, but ' in capsys.readouterr().err


def test_info_shows_the_first_warnings(write, capsys):
    assert main(['info', write('warning', 'hint')]) == 0
    shown = capsys.readouterr()
    assert "warning  joint 'shoulder': its lower limit 4 is above" in shown.out
    assert 'warning  1 more findings: kron_dynamics check shows them all' in shown.out
    assert shown.err == ''
