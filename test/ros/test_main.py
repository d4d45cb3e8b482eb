# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""However a node's process ends, it leaves in order and its exit code says how it was."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.ros

# A node that is brought down by its first callback.
SCRIPT = """
import os, signal, sys
from rclpy.node import Node
from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.ros.main import run_node

class Doomed(Node):
    def __init__(self):
        super().__init__('doomed')
        self.create_timer(0.001, self.fall)

    def fall(self):
        {fall}

sys.exit(run_node(Doomed, {arguments}, lambda node: print('stopped', node.get_name())))
"""


def run(fall, arguments=()):
    script = SCRIPT.format(fall=fall, arguments=list(arguments))
    return subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, timeout=60, check=False
    )


def test_an_error_the_user_can_mend_is_one_line():
    done = run("raise KronDynamicsError('first line\\nsecond line')")
    assert (done.returncode, done.stdout) == (1, 'stopped doomed\n')
    (line,) = done.stderr.splitlines()
    assert line.startswith('[FATAL]')
    assert line.endswith('first line second line')


def test_a_defect_shows_its_traceback_after_the_machine_was_left_in_order():
    done = run("raise ZeroDivisionError('defect')")
    assert (done.returncode, done.stdout) == (1, 'stopped doomed\n')
    assert done.stderr.startswith('Traceback')
    assert 'ZeroDivisionError: defect' in done.stderr


@pytest.mark.parametrize('number', ['SIGINT', 'SIGTERM'])
def test_a_signal_ends_the_process_with_0(number):
    done = run(f'os.kill(os.getpid(), signal.{number})')
    assert (done.returncode, done.stdout, done.stderr) == (0, 'stopped doomed\n', '')


def test_a_parameter_file_that_cannot_be_read_is_one_line(tmp_path):
    file = tmp_path / 'broken.yaml'
    file.write_text('/**:\n  ros__parameters: [1, {')
    done = run('pass', ['--ros-args', '--params-file', str(file)])
    assert (done.returncode, done.stdout) == (1, '')
    fatal = [line for line in done.stderr.splitlines() if line.startswith('[FATAL]')]
    assert len(fatal) == 1
    assert 'broken.yaml' in fatal[0]
    assert 'Traceback' not in done.stderr


def test_a_thread_that_computes_gives_way_often():
    """Commands do not wait 5 ms, Python's own interval, whenever a service computes."""
    done = run("print(sys.getswitchinterval()); raise KronDynamicsError('enough')")
    assert float(done.stdout.splitlines()[0]) <= 1e-3


# A node whose middleware keeps everything waiting when it is to leave.
STUCK = """
import ctypes, sys
from rclpy.node import Node
from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.ros import main

class Stuck(Node):
    def __init__(self):
        super().__init__('stuck')
        self.create_timer(0.001, self.fall)

    def fall(self):
        raise KronDynamicsError('enough')

    def destroy_node(self):
        ctypes.PyDLL(None).sleep(300)

main._PATIENCE = 0.05
sys.exit(main.run_node(Stuck, [], lambda node: print('stopped', flush=True)))
"""


def test_a_middleware_that_does_not_come_back_does_not_keep_the_process():
    done = subprocess.run(
        [sys.executable, '-c', STUCK], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (1, 'stopped\n')
    assert 'enough' in done.stderr
    assert 'destroy_node' in done.stderr


# Page faults of arrays of 4 MB that are made and dropped again and again.
FAULTS = """
import resource
import numpy as np
from kron_dynamics.ros.memory import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        first, second = np.ones(500_000), np.ones(500_000)
        del first, second
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

before = faults()
print(keep_freed_memory(), before, faults())
"""


def test_large_arrays_use_memory_again():
    done = subprocess.run(
        [sys.executable, '-c', FAULTS], capture_output=True, text=True, timeout=60, check=True
    )
    kept, before, after = done.stdout.split()
    if kept != 'True':
        pytest.skip('the C library has no mallopt')
    # As many as two arrays have pages, and not those of each time again.
    assert int(after) < 5000 < int(before)


# A node that ends in the middle of the first of several jobs, all of which take their time.
LATE = """
import sys, time, types
from rclpy.node import Node
from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.ros import start
from kron_dynamics.ros.main import run_node
from kron_dynamics.ros.worker import Worker

class Asked(Node):
    def __init__(self):
        super().__init__('asked')
        self.worker, self.begun = Worker(self, 'services'), []
        self.create_timer(0.001, self.ask)

    def ask(self):
        for k in range(3):
            self.worker.run(self.work, k).send(None)
        while not self.begun:
            time.sleep(0.001)
        raise KronDynamicsError('enough')

    def work(self, k):
        self.begun.append(k)
        time.sleep({seconds})
        print('done', k)

sys.modules['kron_dynamics.ros.asked'] = types.SimpleNamespace(main=lambda: run_node(Asked, []))
start._PATIENCE = {patience}
sys.exit(start._start('asked'))
"""


@pytest.mark.parametrize(
    ('seconds', 'patience', 'done'), [(0.1, 30.0, 'done 0\n'), (30.0, 0.05, '')]
)
def test_the_end_does_not_wait_for_what_services_have_still_to_compute(seconds, patience, done):
    """Not for a job that has not begun; for one that has, a while."""
    script = LATE.format(seconds=seconds, patience=patience)
    ended = subprocess.run(
        [sys.executable, '-c', script], capture_output=True, text=True, timeout=20, check=False
    )
    assert (ended.returncode, ended.stdout) == (1, done), ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.endswith('enough')


HALF_STARTED = """
import sys, threading, types
from kron_dynamics.ros import start

def interrupted(*_):
    raise KeyboardInterrupt

def main():
    begin, threading._start_new_thread = threading._start_new_thread, interrupted
    try:
        threading.Thread(target=print).start()
    except KeyboardInterrupt:
        pass
    threading._start_new_thread = begin
    threading.Thread(target=print, args=('done',)).start()
    return 3

sys.modules['kron_dynamics.ros.asked'] = types.SimpleNamespace(main=main)
sys.exit(start._start('asked'))
"""


def test_a_thread_whose_start_was_interrupted_ends_with_the_process():
    ended = subprocess.run(
        [sys.executable, '-c', HALF_STARTED],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, 'done\n', '')
