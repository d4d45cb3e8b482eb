# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes as forks of a process that has imported all they need, most of what a start takes.

Importing rclpy starts the threads of the tracing library alone, which wait for a tracing daemon
and do not survive a fork: no node of the tests is traced. Every node is a process with a group, an
environment and an exit code of its own.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time

# Reads one request per line: environment, node, arguments, file of the output. Answers with the
# number of the process for each, and later with the number of the request and the exit code.
_SERVER = """
import faulthandler, gc, json, os, select, signal, sys, traceback
from importlib import import_module
import kron_dynamics.ros.dynamics_node, kron_dynamics.ros.simulator_node
# What some of them import late.
import kron_dynamics.closed_loops, kron_dynamics.flexible, numpy.ma, numpy.random
import rosidl_generator_py, scipy.interpolate, scipy.linalg, type_description_interfaces.msg

def run(environment, node, arguments, log):
    os.setpgid(0, 0)
    output = os.open(log, os.O_WRONLY | os.O_APPEND)
    for number in (1, 2):
        os.dup2(output, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ.clear()
    os.environ.update(environment)
    faulthandler.enable()  # a crash tells where
    try:
        return import_module('kron_dynamics.ros.' + node).main(['--ros-args', *arguments])
    except BaseException:
        traceback.print_exc()
        return 70

def say(*words):
    os.write(1, (' '.join(map(str, words)) + '\\n').encode())

ended, wake = os.pipe()
for end in (ended, wake):
    os.set_blocking(end, False)
signal.set_wakeup_fd(wake)
signal.signal(signal.SIGCHLD, lambda *_: None)
gc.freeze()
running, count, text = {}, 0, b''
while True:
    ready = select.select([0, ended], [], [])[0]
    if ended in ready:
        os.read(ended, 4096)
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                break
            if not pid:
                break
            say('ended', running.pop(pid), os.waitstatus_to_exitcode(status))
    if 0 in ready:
        more = os.read(0, 65536)
        if not more:  # the tests have ended, perhaps by a signal
            for pid in running:
                os.kill(pid, signal.SIGKILL)
            os._exit(0)
        *requests, text = (text + more).split(b'\\n')
        for request in requests:
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for end in (ended, wake):
                    os.close(end)
                code = run(*json.loads(request))
                sys.stderr.flush()
                os._exit(code)  # an orderly end would copy and clear what is shared
            try:
                os.setpgid(pid, pid)  # whoever of the two is first
            except OSError:
                pass  # it has ended
            running[pid] = count
            count += 1
            say('started', pid)
"""


class Forks:
    """The process that nodes are forks of."""

    def __init__(self):
        self._server = subprocess.Popen(
            [sys.executable, '-c', _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        self._text = b''
        self._pids = []
        self._codes = {}

    def start(self, node, arguments, log, environment):
        """Start a node of the package.

        Args:
            node: name of its module.
            arguments: after `--ros-args`.
            log: file of its output, which exists.
            environment: all variables of the process.
        """
        number = len(self._pids)
        request = json.dumps([environment, node, arguments, str(log)]).encode() + b'\n'
        while request:
            request = request[self._server.stdin.write(request) :]
        while number == len(self._pids):
            self._hear(None)
        return Fork(self, number, self._pids[number])

    def code(self, number, timeout=0.0):
        """Exit code of the node of a request, waiting for its end for a while; None if it runs."""
        end = time.monotonic() + timeout
        while number not in self._codes:
            if not self._hear(max(0.0, end - time.monotonic())) and time.monotonic() >= end:
                return None
        return self._codes[number]

    def close(self):
        """End the process, and the nodes that still run."""
        self._server.stdin.close()
        self._server.wait()
        self._server.stdout.close()

    def _hear(self, timeout):
        """Take in what the process says, if it does so within a time, s; return whether."""
        output = self._server.stdout
        if not select.select([output], [], [], timeout)[0]:
            return False
        more = os.read(output.fileno(), 65536)
        if not more:
            raise RuntimeError('the process that starts nodes has ended')
        *lines, self._text = (self._text + more).split(b'\n')
        for line in lines:
            word, *numbers = line.split()
            if word == b'started':
                self._pids.append(int(numbers[0]))
            else:
                self._codes[int(numbers[0])] = int(numbers[1])
        return True


class Fork:
    """A node that was started; the part of `subprocess.Popen` that the tests use."""

    def __init__(self, forks, number, pid):
        self._forks = forks
        self._number = number
        self.pid = pid

    def poll(self):
        """Exit code of the process; None if it runs."""
        return self._forks.code(self._number)

    def wait(self, timeout=60.0):
        """Exit code of the process, which ends within a time, s."""
        code = self._forks.code(self._number, timeout)
        if code is None:
            raise subprocess.TimeoutExpired(f'process {self.pid}', timeout)
        return code

    def send_signal(self, number):
        """Send a signal to the process if it runs."""
        if self.poll() is None:
            os.kill(self.pid, number)
