# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The folder of the kernels as other processes leave it: umasks, limits, deaths, forks."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from long_runs import some_of

from kron_dynamics.kernels.cache_folder import work_folder

pytestmark = pytest.mark.hurried

PROCESS = """
import json, os, sys
os.umask(int(sys.argv[2], 8))
import logging
logging.basicConfig(format='%(levelname)s %(message)s', stream=sys.stdout)
import kron_dynamics as kd

robot = kd.load(sys.argv[1])
M = robot.mass_matrix([0.3, 0.7])
print(json.dumps([[r.cached for r in robot.kernel_report()], M.tolist()]))
"""


def run(code: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, '-c', code, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize('umask', some_of(['002', '007', '000', '077', '277'], ['000', '277']))
def test_whatever_the_umask(umask: str, tmp_path: Path, robot_text: Any) -> None:
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(robot_text('planar_2r'), encoding='utf-8')
    folder = tmp_path / 'above' / 'cache'
    first = run(PROCESS, str(urdf), umask, KRON_DYNAMICS_CACHE=str(folder))
    there = {path.name: path.stat() for path in folder.iterdir()}
    second = run(PROCESS, str(urdf), umask, KRON_DYNAMICS_CACHE=str(folder))
    assert (first[:9], second[:8]) == ('[[false],', '[[true],')
    assert first[9:] == second[8:]
    kinds = Counter(Path(name).suffix for name in there)
    assert kinds - Counter(['.notes']) == {'.json': 2, '.lock': 3, '.so': 2}
    assert {stat.S_IMODE(status.st_mode) for status in there.values()} == {0o600}
    assert {path.name: path.stat().st_mtime_ns for path in folder.glob('*[!k]')} == {
        name: status.st_mtime_ns for name, status in there.items() if name[-1] != 'k'
    }
    assert {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder.parent)} == {0o700}


SMALL_FILES = """
import resource, signal, sys
import kron_dynamics as kd
from kron_dynamics.kernels import cache_folder
robot = kd.load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
q = [0.3, 0.7]
error = abs(robot.mass_matrix(q) - kd.dynamics.mass_matrix(robot.model, q)).max()
print(robot.kernel_report()[0].source, error)
"""


def test_files_that_may_not_grow(tmp_path: Path, robot_text: Any) -> None:
    """No folder helps against that: the kernel is not compiled."""
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(robot_text('planar_2r'), encoding='utf-8')
    folder = tmp_path / 'cache'
    said = run(SMALL_FILES, str(urdf), '2000', KRON_DYNAMICS_CACHE=str(folder))
    source, difference = said.split()[-2:]
    assert source == 'numpy'
    assert float(difference) < 1e-12
    assert {path.suffix for path in folder.iterdir()} <= {'.lock'}


KILLED = """
import sys, time
from kron_dynamics.kernels.cache_folder import cache_directory, work_folder
with work_folder(cache_directory()) as work:
    (work / 'file').touch()
    print(work, flush=True)
    time.sleep(60)
"""


def test_work_of_killed_processes_is_removed_and_that_of_living_ones_is_not(
    own_cache: Path,
) -> None:
    processes = [
        subprocess.Popen([sys.executable, '-c', KILLED], stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    folders = []
    for process in processes:
        assert process.stdout is not None
        folders.append(Path(process.stdout.readline().strip()))
    dead, living = folders
    os.kill(processes[0].pid, signal.SIGKILL)
    processes[0].wait()
    assert dead.exists()
    with work_folder(own_cache) as work:
        assert not dead.exists()
        assert (living / 'file').exists()
        assert work.is_dir()
    processes[1].kill()
    processes[1].wait()
    with work_folder(own_cache):
        assert not living.exists()
    assert [path.name for path in own_cache.iterdir()] == ['work.lock']


FORK = """
import os, sys
import kron_dynamics as kd
from kron_dynamics.kernels import cache_folder
robot = kd.load(sys.argv[1])
robot.mass_matrix([0.3, 0.7])
(folder,) = cache_folder._temporary
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
assert any(folder.iterdir())
print(robot.gravity_vector([0.3, 0.7]).shape, kd.load(sys.argv[1]).mass_matrix([0, 0]).shape)
print(folder)
"""


def test_a_forked_process_leaves_the_folder_to_the_one_that_made_it(
    own_cache: Path, tmp_path: Path, robot_text: Any
) -> None:
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(robot_text('planar_2r'), encoding='utf-8')
    own_cache.touch()
    shapes, folder = run(FORK, str(urdf), TMPDIR=str(tmp_path)).splitlines()
    assert shapes == '(2,) (2, 2)'
    assert Path(folder).parent == tmp_path
    assert not Path(folder).exists()
