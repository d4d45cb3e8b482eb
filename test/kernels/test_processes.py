# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that want the same kernel at once."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kron_dynamics.dynamics import mass_matrix
from kron_dynamics.model import load_model

pytestmark = pytest.mark.hurried

PROCESS = """
import json, sys
import kron_dynamics as kd

robot = kd.load(sys.argv[1])
print('ready', flush=True)
sys.stdin.readline()
M = robot.mass_matrix([0.3, 0.7])
(report,) = robot.kernel_report()
print(json.dumps([report.source, report.cached, M.tolist()]), flush=True)
"""


class Process:
    """Another Python that waits for the word and then asks for a kernel."""

    def __init__(self, urdf: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, '-c', PROCESS, str(urdf)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == 'ready\n'

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write('go\n')
        self.process.stdin.flush()

    def answer(self) -> Any:
        output, _ = self.process.communicate(timeout=60)
        assert self.process.returncode == 0
        return json.loads(output.splitlines()[-1])


def kernel_libraries(folder: Path) -> list[Path]:
    """The libraries of equations; the extension that calls them is another."""
    texts = [path.read_text(encoding='ascii') for path in folder.glob('*.json')]
    records = [json.loads(text.partition('\n')[2]) for text in texts]
    names = {fields['library'] for fields in records if fields['operations']}
    return [folder / f'{name}.so' for name in names]


def test_four_processes_at_once_build_once_and_mend_what_is_broken(
    own_cache: Path, logging_compiler: Any, tmp_path: Path, robot_text: Any, assert_close: Any
) -> None:
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(robot_text('planar_2r'), encoding='utf-8')

    processes = [Process(urdf) for _ in range(4)]
    for process in processes:
        process.wait_until_ready()
    for process in processes:
        process.go()
    answers = [process.answer() for process in processes]
    assert sorted(logging_compiler()) == ['0.c', 'kron_caller.c']
    assert sorted(cached for _, cached, _ in answers) == [False, True, True, True]
    assert {source for source, _, _ in answers} == {'c'}

    expected = mass_matrix(load_model(robot_text('planar_2r')), [0.3, 0.7])
    for _, _, M in answers:
        assert_close(M, expected)

    fifth = Process(urdf)
    fifth.go()
    assert fifth.answer()[:2] == ['c', True]
    assert len(logging_compiler()) == 2

    (library,) = kernel_libraries(own_cache)
    library.write_bytes(library.read_bytes()[: library.stat().st_size // 2])
    sixth = Process(urdf)
    sixth.go()
    assert sixth.answer() == ['c', False, answers[0][2]]
    assert sorted(logging_compiler()) == ['0.c', '0.c', 'kron_caller.c']

    (library,) = kernel_libraries(own_cache)
    (other,) = set(own_cache.glob('*.so')) - {library}
    other.write_bytes(other.read_bytes()[: other.stat().st_size // 2])
    seventh = Process(urdf)
    seventh.go()
    assert seventh.answer() == ['c', True, answers[0][2]]
    assert sorted(logging_compiler()) == ['0.c', '0.c', 'kron_caller.c', 'kron_caller.c']
