# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What README.md shows is what the package does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

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


def documented_parameters(section: str) -> dict[str, str]:
    text = README.split(f'\n## {section}\n')[1].split('\n## ')[0]
    rows = re.findall(r'^\| (`[\w.<>`, ]+`) \|([^|]*)\|', text, flags=re.MULTILINE)
    return {
        name: default.strip()
        for names, default in rows
        for name in re.findall(r'`([^`]+)`', names)
    }


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
    for parameter in (*common, *joint_parameters.armature_parameters(['<joint>']), *per_joint):
        default = 'no limit' if parameter.default == NO_LIMIT else str(parameter.default)
        if parameter.kind is list:
            # [''] is an empty list, which needs a type.
            texts = all(isinstance(value, str) for value in parameter.default)
            default = ', '.join(parameter.default) if texts else str(parameter.default)
        expected[parameter.name] = (
            default.lower() if parameter.kind is bool else default or 'empty'
        )
    documented = documented_parameters(section)
    assert documented.keys() == expected.keys()
    if section == 'simulator_node':
        # One row refers to dynamics_node for the description.
        for parameter in node_parameters.DESCRIPTION:
            del documented[parameter.name], expected[parameter.name]
    assert documented == expected


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
