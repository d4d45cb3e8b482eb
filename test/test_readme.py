# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What README.md shows is what the package does."""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest
import setuptools
import yaml

ROOT = Path(__file__).parent.parent
README = (ROOT / 'README.md').read_text(encoding='utf-8')


def blocks(language: str) -> list[str]:
    return re.findall(rf'^```{language}\n(.*?)^```', README, flags=re.MULTILINE | re.DOTALL)


def test_python_examples_run_as_one_session(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    examples = blocks('python')
    assert len(examples) >= 2
    namespace: dict[str, object] = {}
    for example in examples:
        exec(compile(example, 'README.md', 'exec'), namespace)
    # The closed form printed last: travel couples with slew through what the boom carries.
    assert 'slew' in capsys.readouterr().out


def test_make_targets_in_examples_exist():
    targets = set(re.findall(r'^(\w+):', (ROOT / 'Makefile').read_text(), flags=re.MULTILINE))
    named = set(re.findall(r'\bmake (\w+)', '\n'.join(blocks('bash'))))
    assert named == {'demo', 'test'}
    assert named <= targets


def test_files_linked_and_launched_exist():
    for link in re.findall(r'\]\(([^)#:]+)\)', README):
        assert (ROOT / link).exists(), link
    for name in re.findall(r'ros2 launch kron_dynamics (\S+)', README):
        assert (ROOT / 'launch' / name).exists(), name


def test_commands_in_examples_are_those_of_the_program(capsys):
    from kron_dynamics.cli import COMMANDS, main

    shown = set(re.findall(r'`kron_dynamics (\w+)', README))
    assert shown == set(COMMANDS)
    main(['--help'])
    usage = capsys.readouterr().out
    assert all(command in usage for command in shown)


def test_programs_that_ros2_runs_are_installed(monkeypatch):
    arguments: dict[str, Any] = {}
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(setuptools, 'setup', arguments.update)
    runpy.run_path('setup.py')
    scripts = arguments['entry_points']['console_scripts']
    installed = {script.partition(' = ')[0] for script in scripts}
    texts = [README, *(path.read_text(encoding='utf-8') for path in (ROOT / 'docs').glob('*.md'))]
    named = {name for text in texts for name in re.findall(r'ros2 run kron_dynamics (\w+)', text)}
    assert named == installed


def test_installation_for_ros_leaves_the_packages_of_the_system_alone():
    """Pip comes last, so that NumPy is that of the system; and it works where PEP 668 holds."""
    (block,) = (block for block in blocks('bash') if 'rosdep install' in block)
    commands = [line.partition('#')[0].split() for line in block.splitlines()]
    first = [index for index, words in enumerate(commands) if 'rosdep' in words]
    (pip,) = (index for index, words in enumerate(commands) if 'pip' in words)
    assert max(first) < pip
    assert {'PIP_BREAK_SYSTEM_PACKAGES=1', '--user'} <= set(commands[pip])


def test_symbols_of_quantities_reach_the_program(tmp_path, capsys):
    """Also in a folder with files that a pattern would match, such as the checkout."""
    from kron_dynamics.cli import main
    from kron_dynamics.cli.derive import ROBOT_QUANTITIES

    for name in ('CHANGELOG.rst', 'CONTRIBUTING.md'):
        (tmp_path / name).touch()
    (words,) = re.findall(r'`--quantity ([^`.]+)`', README)
    told = subprocess.run(
        ['sh', '-c', f"printf '%s\\n' {words}"], cwd=tmp_path, capture_output=True, text=True
    ).stdout
    assert 'C*' in told.split()
    assert set(told.split()) <= set(ROBOT_QUANTITIES)
    main(['derive', '--help'])
    assert 'quote those with *' in ' '.join(capsys.readouterr().out.split())


def test_files_of_a_workspace_whose_path_has_a_space_reach_the_nodes(tmp_path):
    (block,) = (block for block in blocks('bash') if 'SHARE=' in block)
    ros2 = f"""ros2() {{ if [ "$1" = pkg ]; then echo '{tmp_path}/a b'
else printf '%s\\n' "$@"; fi; }}\n"""
    told = subprocess.run(['bash', '-c', ros2 + block + 'wait'], capture_output=True, text=True)
    words = told.stdout.splitlines()
    for word in (
        f'{tmp_path}/a b/config/stacker_reclaimer.yaml',
        f'robot_description_file:={tmp_path}/a b/urdf/stacker_reclaimer.urdf',
    ):
        assert words.count(word) == 2


def documented_parameters(section: str) -> dict[str, tuple[str, ...]]:
    """Default, range and meaning of each parameter in the table of a node."""
    text = README.split(f'\n## {section}\n')[1].split('\n## ')[0]
    rows = re.findall(r'^\| (`[\w.<>`, ]+`) \|(.*)\|$', text, flags=re.MULTILINE)
    return {
        name: tuple(cell.strip() for cell in cells.split('|'))
        for names, cells in rows
        if cells.count('|') == 2
        for name in re.findall(r'`([^`]+)`', names)
    }


def range_of(parameter, no_limit):
    """The allowed numbers, as in the table."""

    def number(value):
        return f'{value:g}' if parameter.kind is float else str(value)

    lower, upper = parameter.lower, parameter.upper
    if lower is None:
        return ''
    if upper == no_limit:
        return 'any' if lower == -no_limit else f'from {number(lower)}'
    return f'{number(lower)} to {number(upper)}'


@pytest.mark.ros
@pytest.mark.parametrize('section', ['dynamics_node', 'simulator_node'])
def test_parameter_tables_are_those_of_the_nodes(section):
    pytest.importorskip('rclpy', reason='rclpy is not installed')
    from kron_dynamics.ros import joint_parameters, node_parameters
    from kron_dynamics.ros.declarations import NO_LIMIT

    if section == 'dynamics_node':
        common, per_joint = (
            node_parameters.DYNAMICS,
            joint_parameters.dynamics_joint_parameters(['<joint>']),
        )
    else:
        common, per_joint = (
            node_parameters.SIMULATOR,
            joint_parameters.simulator_joint_parameters(['<joint>']),
        )
    expected = {}
    armatures = joint_parameters.armature_parameters(['<joint>'])
    for parameter in (*common, *armatures, *per_joint):
        default = 'no limit' if parameter.default == NO_LIMIT else str(parameter.default)
        if parameter.kind is list:
            # [''] is an empty list, which needs a type.
            texts = all(isinstance(value, str) for value in parameter.default)
            default = ', '.join(parameter.default) if texts else str(parameter.default)
        default = default.lower() if parameter.kind is bool else default or 'empty'
        expected[parameter.name] = default, range_of(parameter, NO_LIMIT), parameter.description
    documented = documented_parameters(section)
    assert documented.keys() == expected.keys()
    if section == 'simulator_node':
        # Rows refer to dynamics_node for the description, rotor inertias included.
        for parameter in (*node_parameters.DESCRIPTION, *armatures):
            del documented[parameter.name], expected[parameter.name]
    assert documented == expected


def described_by(pattern: str) -> list[str]:
    """Names in the backquotes of a sentence below the table of parameters."""
    (found,) = re.findall(pattern, ' '.join(README.split()))
    return re.findall(r'`([^`]+)`', found)


def every_parameter(joint):
    """Parameters of dynamics_node with one joint."""
    pytest.importorskip('rclpy', reason='rclpy is not installed')
    from kron_dynamics.ros import joint_parameters, node_parameters

    armatures = joint_parameters.armature_parameters([joint])
    per_joint = joint_parameters.dynamics_joint_parameters([joint])
    return (*node_parameters.DYNAMICS, *armatures, *per_joint)


@pytest.mark.ros
def test_what_is_read_at_start_only():
    first, last, of_joint = described_by('The rows from (.*?) are read at start only')
    every = every_parameter('<joint>')
    fixed = [parameter.name for parameter in every if parameter.read_only]
    assert (fixed[0], *fixed[-2:]) == (first, last, of_joint)
    assert fixed[:-1] == [parameter.name for parameter in every[: len(fixed) - 1]]


def leaves(tree, before=''):
    """Names of the parameters in a section of a parameter file."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, f'{before}{key}.')
        else:
            yield f'{before}{key}'


@pytest.mark.ros
def test_what_the_file_of_the_default_machine_leaves_out():
    text = (ROOT / 'config' / 'stacker_reclaimer.yaml').read_text(encoding='utf-8')
    given = set(leaves(yaml.safe_load(text)['/**/dynamics_node']['ros__parameters']))
    every = {parameter.name for parameter in every_parameter('luff')}
    patterns = described_by('keep their defaults: among others (.*?) For another')
    assert len(patterns) > 5
    for pattern in patterns:
        like = re.compile(re.escape(pattern).replace(r'\*', '.*') + r'(\.luff)?')
        meant = {name for name in every if like.fullmatch(name)}
        assert meant and not meant & given, pattern


def test_speeds_are_those_of_the_page_of_benchmarks():
    def rows(text: str, columns: int) -> list[list[str]]:
        lines = (line.strip('|').split('|') for line in text.splitlines() if line[:1] == '|')
        return [[cell.strip() for cell in line] for line in lines if len(line) == columns]

    page = (ROOT / 'docs' / 'benchmarks.md').read_text(encoding='utf-8')
    measured = {(label, robot): text for label, robot, _, _, text, *_ in rows(page, 7)}
    head, _, *lines = rows(README.split('\nHow fast ')[1].split('\nFor loops')[0], 5)
    assert len(lines) == len([line for line in lines if line[1]]) >= 5
    for label, *ratios in lines:
        for robot, ratio in zip(head[1:], ratios, strict=True):
            on_page = measured.get((label, robot))
            # Two digits, without an exponent from 100 on.
            digits = f'{float(on_page.partition("x")[0]):.2g}' if on_page else ''
            assert ratio == (f'{float(digits):g}x' if digits else ''), label
