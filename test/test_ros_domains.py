# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Test processes have ROS domains of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parent / 'support'
FORK = """
import os, time
fork = os.fork()
if not fork:
    os.closerange(0, 3)
    time.sleep(1000)
print(fork, flush=True)
input()
"""
CLAIM = 'import ros_domains; print(ros_domains.domain_number(), flush=True)'


@pytest.fixture
def claiming(tmp_path, monkeypatch):
    """Starts processes that claim domains and hold them until their input is closed."""
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setenv('PYTHONPATH', str(SUPPORT))
    running = []

    def claim(then='input()'):
        made = subprocess.Popen(
            [sys.executable, '-c', f'{CLAIM}\n{then}'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(made)
        return made

    yield claim
    for process in running:
        process.kill()
        process.communicate()


def test_all_domains_are_given_once_and_again_when_they_are_free(claiming):
    processes = [claiming() for _ in range(24)]
    numbers = [int(process.stdout.readline()) for process in processes]
    assert sorted(numbers) == list(range(2, 98, 4))
    _, error = claiming().communicate()
    assert 'all 24 groups are in use' in error
    processes[7].kill()
    processes[7].wait()
    assert int(claiming().stdout.readline()) == numbers[7]


def test_a_fork_that_outlives_its_process_keeps_the_domains(claiming):
    # As a node that a killed test leaves running.
    first = claiming(FORK)
    number, fork = int(first.stdout.readline()), int(first.stdout.readline())
    try:
        first.communicate('\n')
        others = [claiming() for _ in range(23)]
        assert number not in [int(process.stdout.readline()) for process in others]
    finally:
        os.kill(fork, signal.SIGKILL)
