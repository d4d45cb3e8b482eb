# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that want the same kernel at once."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kron_dynamics.dynamics import mass_matrix
from kron_dynamics.model import load_model

pytestmark = pytest.mark.hurried

# Forks a process for each of these sockets once it has loaded the robot, which is not tested.
PROCESSES = """
import json, os, socket, sys
import kron_dynamics as kd

robot = kd.load(sys.argv[1])
numbers = [int(text) for text in sys.argv[2:]]
count = len(numbers)
while numbers:
    number = numbers.pop()
    if os.fork() == 0:
        break
    os.close(number)
else:
    sys.exit(any(os.wait()[1] for _ in range(count)))
for other in numbers:
    os.close(other)
os.dup(number)  # which nothing closes before the process has ended
talk = socket.socket(fileno=number).makefile('rw')
talk.readline()
M = robot.mass_matrix([0.3, 0.7])
(report,) = robot.kernel_report()
print(json.dumps([report.source, report.cached, M.tolist()]), file=talk, flush=True)
"""

# Makes kernels in a thread, and forks a process in the middle of each of these imports there. The
# processes import the same, and one makes a kernel of its own.
FORKING = """
import importlib, os, queue, signal, sys, threading
import kron_dynamics as kd

robot, other = kd.load(sys.argv[1]), kd.load(sys.argv[1])
begun, forked = queue.SimpleQueue(), threading.Semaphore(0)

class Pausing:
    def find_spec(self, name, path=None, target=None):
        if name in sys.argv[2:] and threading.current_thread() is maker:
            begun.put(name)
            forked.acquire(timeout=0.1)  # unless forking waits for the import

def make():
    try:
        robot.mass_matrix([0.3, 0.7])
    except kd.KernelBuildError:
        pass
    begun.put(None)

maker = threading.Thread(target=make)
sys.meta_path.insert(0, Pausing())
maker.start()
children = {}
while (name := begun.get()) is not None:
    if (child := os.fork()) == 0:
        signal.alarm(10)
        importlib.import_module(name)
        if name.endswith('kernel_builder'):
            os.environ['CC'] = '/nonexistent'
            other.mass_matrix([0.3, 0.7])
        os._exit(0)
    children[child] = name
    forked.release()
maker.join()
print(*children.values())
sys.exit(', '.join(name for child, name in children.items() if os.waitpid(child, 0)[1]) or 0)
"""


class Process:
    """Another Python that waits for the word and then asks for a kernel."""

    def __init__(self, end: socket.socket) -> None:
        end.settimeout(60)
        self.talk = end.makefile('rw', encoding='ascii')

    def go(self) -> None:
        self.talk.write('go\n')
        self.talk.flush()

    def answer(self) -> Any:
        """What it says before it ends."""
        return json.loads(self.talk.read())


@pytest.fixture
def start(tmp_path: Path, robot_text: Any) -> Iterator[Callable[[int], list[Process]]]:
    """Start some processes, which end without an error."""
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(robot_text('planar_2r'), encoding='utf-8')
    forking: list[subprocess.Popen[bytes]] = []
    with contextlib.ExitStack() as stack:

        def begin(count: int) -> list[Process]:
            pairs = [socket.socketpair() for _ in range(count)]
            theirs = [their.fileno() for _, their in pairs]
            command = [sys.executable, '-c', PROCESSES, str(urdf), *map(str, theirs)]
            forking.append(subprocess.Popen(command, pass_fds=theirs))
            for our, their in pairs:
                stack.enter_context(our)
                their.close()
            return [Process(our) for our, _ in pairs]

        yield begin
        assert [process.wait(timeout=60) for process in forking] == [0]


def kernel_libraries(folder: Path) -> list[Path]:
    """The libraries of equations; the extension that calls them is another."""
    texts = [path.read_text(encoding='ascii') for path in folder.glob('*.json')]
    records = [json.loads(text.partition('\n')[2]) for text in texts]
    names = {fields['library'] for fields in records if fields['operations']}
    return [folder / f'{name}.so' for name in names]


def test_four_processes_at_once_build_once_and_mend_what_is_broken(
    own_cache: Path, logging_compiler: Any, start: Any, robot_text: Any, assert_close: Any
) -> None:
    *processes, fifth, sixth, seventh = start(7)
    for process in processes:
        process.go()
    answers = [process.answer() for process in processes]
    assert sorted(logging_compiler()) == ['0.c', 'kron_caller.c']
    assert sorted(cached for _, cached, _ in answers) == [False, True, True, True]
    assert {source for source, _, _ in answers} == {'c'}

    expected = mass_matrix(load_model(robot_text('planar_2r')), [0.3, 0.7])
    for _, _, M in answers:
        assert_close(M, expected)

    fifth.go()
    assert fifth.answer()[:2] == ['c', True]
    assert len(logging_compiler()) == 2

    (library,) = kernel_libraries(own_cache)
    library.write_bytes(library.read_bytes()[: library.stat().st_size // 2])
    sixth.go()
    assert sixth.answer() == ['c', False, answers[0][2]]
    assert sorted(logging_compiler()) == ['0.c', '0.c', 'kron_caller.c']

    (library,) = kernel_libraries(own_cache)
    (other,) = set(own_cache.glob('*.so')) - {library}
    other.write_bytes(other.read_bytes()[: other.stat().st_size // 2])
    seventh.go()
    assert seventh.answer() == ['c', True, answers[0][2]]
    assert sorted(logging_compiler()) == ['0.c', '0.c', 'kron_caller.c', 'kron_caller.c']


def test_a_process_forked_during_an_import_can_make_kernels(
    tmp_path: Path, own_cache: Path, robot_text: Any
) -> None:
    """The thread that makes kernels is not there to finish what it imports."""
    urdf = tmp_path / 'robot.urdf'
    urdf.write_text(robot_text('planar_2r'), encoding='utf-8')
    builders = (
        f'kron_dynamics.kernels.{name}' for name in ('kernel_builder', 'check', 'compiler_process')
    )
    late = ['tempfile', *builders]
    done = subprocess.run(
        [sys.executable, '-c', FORKING, str(urdf), *late],
        env={**os.environ, 'CC': 'false'},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) == set(late)
