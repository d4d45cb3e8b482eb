# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The table of docs/faults.md has every fault that a parameter sets, in the words of the node."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / 'docs' / 'faults.md').read_text(encoding='utf-8')
PACKAGE = ROOT / 'kron_dynamics'
# Where faults are found.
SOURCES = [
    *(PACKAGE / 'control').rglob('*.py'),
    PACKAGE / 'ros' / 'reference_interface.py',
    PACKAGE / 'ros' / 'state_supervision.py',
    PACKAGE / 'equilibrium.py',
]


def rows() -> list[list[str]]:
    """Cells of the table, row by row."""
    table = PAGE.split('| fault | the message says |')[1].split('\n\n')[0]
    return [line.strip('| ').split(' | ') for line in table.splitlines()[2:]]


def spoken(files: Iterable[Path] = SOURCES) -> list[str]:
    """Texts of the sources that find faults, docstrings excluded."""
    texts = []
    for file in files:
        tree = ast.parse(file.read_text(encoding='utf-8'))
        parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        texts += [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and not isinstance(parents[node], ast.Expr)
        ]
    return texts


def test_the_messages_are_those_of_the_node() -> None:
    quoted = [re.fullmatch(r'`([^`]+)`', cells[1]) for cells in rows()]
    assert len(quoted) == 15
    said = spoken()
    for cells, message in zip(rows(), quoted, strict=True):
        assert message is not None, cells
        assert any(message[1] in text for text in said), message[1]


@pytest.mark.ros
def test_every_parameter_that_makes_a_fault_is_in_the_table() -> None:
    pytest.importorskip('rclpy', reason='rclpy is not installed')
    from kron_dynamics.ros.joint_parameters import dynamics_joint_parameters
    from kron_dynamics.ros.node_parameters import DYNAMICS

    every = (*DYNAMICS, *dynamics_joint_parameters(['<joint>']))
    known = {parameter.name for parameter in every}
    making = {
        parameter.name
        for parameter in every
        if re.search(r'\b(is|as|and) a fault\b|is implausible', parameter.description)
    }
    assert len(making) >= 9
    named = {
        name for cells in rows() for name in re.findall(r'`([\w.<>]+)`', ' '.join(cells[3:-1]))
    }
    assert making <= named
    assert {name for name in named if '.' in name or '_' in name} <= known


def test_faults_are_detected_in_the_files_of_the_table() -> None:
    for _, message, *_, places in rows():
        said = spoken(PACKAGE / file for file in re.findall(r'`([\w/]+\.py)`', places))
        assert any(message.strip('`') in text for text in said), message
