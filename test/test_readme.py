# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What README.md shows is what the package does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
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
            assert ratio == (f'{float(on_page.partition("x")[0]):.2g}x' if on_page else ''), label
