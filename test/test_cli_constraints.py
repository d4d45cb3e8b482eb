# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics info --constraints`: freedoms, redundancy, kernels; and files that are wrong."""

from __future__ import annotations

import re
from pathlib import Path
from pipes import piped
from typing import Any

import pytest

from kron_dynamics.cli import main

ROOT = Path(__file__).parents[1]
URDF = ROOT / 'urdf' / 'four_bar.urdf'
LOOP = (ROOT / 'config' / 'four_bar_constraints.yaml').read_text('utf-8')


def info(*arguments: Any) -> int:
    return main(['info', *map(str, arguments)])


def test_freedom_and_kernels_of_a_four_bar(capsys: Any) -> None:
    assert info(URDF, '--constraints', ROOT / 'config' / 'four_bar_constraints.yaml') == 0
    printed = capsys.readouterr().out
    assert re.search(r'^pin +HingeLoop +5 +3$', printed, re.MULTILINE)
    assert 'freedom  1 of 3 coordinates: 5 conditions, 2 of them independent' in printed
    assert 'speeds   crank_joint\ndrives   crank_joint\n' in printed
    assert re.search(r'closed   crank_joint 0\.9, coupler_joint -0\.\d+, rocker', printed)
    (row,) = re.findall(
        r'^reduced\.inverse_dynamics +(\d+) +c .* (\d+) ns$', printed, re.MULTILINE
    )
    assert 50 < int(row[0]) < 1000 and 10 < int(row[1]) < 1_000_000


def test_what_cannot_move_is_told_without_kernels(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / 'locked.yaml'
    lock = '  lock: {type: lock, joint: crank_joint, position: 0.9}\nactuated'
    file.write_text(LOOP.replace('actuated', lock).replace('independent: [crank_joint]', ''))
    assert info(URDF, '--constraints', file) == 0
    printed = capsys.readouterr().out
    assert 'freedom  0 of 3 coordinates' in printed and 'reduced.' not in printed


@pytest.mark.parametrize('command', ['info', 'check', 'derive'])
def test_a_pipe_is_refused_and_not_taken_for_an_empty_file(command: str, capsys: Any) -> None:
    pipe = piped(LOOP)
    assert main([command, str(URDF), '--constraints', pipe]) == 1
    captured = capsys.readouterr()
    assert f'{pipe}: it is a pipe' in ' '.join((captured.out + captured.err).split())


@pytest.mark.parametrize(
    ('wrong', 'named'),
    [
        (None, 'the file does not exist'),
        (LOOP.replace('coupler,', 'couplr,'), "'couplr'"),
        (LOOP.replace('[0.9, 0, 0]', '[5.0, 0, 0]'), "'pin'"),
        (LOOP.replace('constraints:', 'constraint:'), "did you mean 'constraints'"),
        (LOOP.replace('actuated: [crank_joint]', 'actuated: [engine]'), "'engine'"),
    ],
)
def test_wrong_files_are_one_line_and_exit_code_one(
    wrong: str | None, named: str, tmp_path: Path, capsys: Any
) -> None:
    file = tmp_path / 'loop.yaml'
    if wrong is not None:
        file.write_text(wrong, encoding='utf-8')
    assert info(URDF, '--constraints', file) == 1
    error = capsys.readouterr().err
    assert error.count('\n') == 1 and named in error
