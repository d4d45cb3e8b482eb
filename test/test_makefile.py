# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The Makefile, in a checkout whose path has a space, with programs that only tell their words."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TELL = """\
#!/bin/sh
for word in "$0" "$PYTHON" "$AMENT_PREFIX_PATH" "$CMAKE_PREFIX_PATH" "$PATH" "$@"; do
  printf '%s\\n' "$word"
done >> "$TOLD"
"""
PROGRAMS = (
    *(f'.venv/bin/{name}' for name in ('python', 'kron_dynamics', 'ruff', 'colcon')),
    *(f'tools/{name}.sh' for name in ('setup', 'test')),
)
# What each target runs besides setup, and words that it passes on whole.
TARGETS = {
    'demo': ('.venv/bin/kron_dynamics', ['demo']),
    'tests': ('tools/test.sh', ['{}/.venv/bin/python']),
    'lint': ('.venv/bin/ruff', ['-m', 'mypy']),
    'fuzz': ('.venv/bin/python', ['test/fuzz/campaign.py']),
    'colcon': (
        '.venv/bin/colcon',
        [
            *('{}/.venv', '-DPython3_EXECUTABLE={}/.venv/bin/python'),
            '-DCMAKE_PROJECT_INCLUDE={}/tools/ros_wheels.cmake',
        ],
    ),
}

pytestmark = pytest.mark.skipif(shutil.which('make') is None, reason='there is no make')


@pytest.mark.parametrize('target', TARGETS)
def test_targets_run_the_programs_of_the_checkout(target: str, tmp_path: Path) -> None:
    checkout = tmp_path / 'my checkout'
    for name in PROGRAMS:
        path = checkout / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TELL)
        path.chmod(0o755)
    shutil.copy(ROOT / 'Makefile', checkout)
    told = tmp_path / 'told'
    # Within `make test`, its jobs and targets are not those of this make.
    outer = {'MAKEFLAGS', 'MFLAGS', 'MAKELEVEL', 'PYTHON'}
    environment = {name: value for name, value in os.environ.items() if name not in outer}
    done = subprocess.run(
        ['make', target],
        cwd=checkout,
        env={**environment, 'TOLD': str(told)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, '')
    program, words = TARGETS[target]
    lines = told.read_text().splitlines()
    assert {'tools/setup.sh', program} <= {line.removeprefix(f'{checkout}/') for line in lines}
    assert {word.format(checkout) for word in words} <= set(lines)
    if target == 'colcon':  # which calls others of .venv
        assert any(line.startswith(f'{checkout}/.venv/bin:') for line in lines)


@pytest.mark.parametrize(
    ('arguments', 'without', 'with_ros', 'others'),
    [
        ([], 'not ros', 'ros', []),
        (['-x', '-k', 'a b'], 'not ros', 'ros', ['-x', '-k', 'a b']),
        (['-m', 'ros', '-x'], '(ros) and not ros', '(ros) and ros', ['-x']),
        (['-x', '-mone or two'], '(one or two) and not ros', '(one or two) and ros', ['-x']),
    ],
)
def test_both_parts_of_the_tests_keep_the_mark_that_is_asked_for(
    arguments: list[str], without: str, with_ros: str, others: list[str], tmp_path: Path
) -> None:
    python = tmp_path / 'python'
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >> "$TOLD"\n')
    python.chmod(0o755)
    told = tmp_path / 'told'
    subprocess.run(
        [ROOT / 'tools' / 'test.sh', *arguments],
        env={**os.environ, 'PYTHON': str(python), 'TOLD': str(told)},
        capture_output=True,
        check=True,
    )
    words = [
        word
        for workers, marks in (('2', without), ('4', with_ros))
        for word in (
            *('-m', 'pytest', '--numprocesses', workers, '--dist', 'loadscope', '-m', marks),
            *others,
        )
    ]
    assert told.read_text().splitlines() == words
