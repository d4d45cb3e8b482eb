# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of the package as real processes, whose output goes to files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import yaml

# Wall time after which something hangs however busy the computer is, s; kernels may have to be
# compiled.
PATIENCE = 240.0
_STOPPED_WITHIN = 60.0
# What a node that ends in order never says.
_TROUBLE = ('Traceback', 'Error', '[ERROR]', '[FATAL]', 'terminate called', 'core dumped')


class Process:
    """A node of the package in a process of its own; its output goes to a file."""

    def __init__(self, node, namespace, arguments, log, environment=None):
        self.node = node
        self.namespace = namespace
        self._log = log
        with open(log, 'w', encoding='utf-8') as output:
            self._process = subprocess.Popen(
                [sys.executable, '-m', f'kron_dynamics.ros.{node}', '--ros-args', *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                # One that is aborted says where its threads are.
                env={**os.environ, 'PYTHONFAULTHANDLER': '1', **(environment or {})},
                start_new_session=True,
            )

    @property
    def output(self):
        return self._log.read_text(encoding='utf-8', errors='replace')

    @property
    def pid(self):
        return self._process.pid

    @property
    def running(self):
        return self._process.poll() is None

    def send_signal(self, number):
        self._process.send_signal(number)

    def wait(self):
        """Exit code of a process that ends by itself."""
        return self._process.wait(PATIENCE)

    def kill(self):
        """As a power cut would."""
        if self.running:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self, number=signal.SIGINT, trouble=(), meanwhile=lambda: time.sleep(0.01)):
        """Interrupt a running node; it must end in order.

        Args:
            number: the signal.
            trouble: lines with one of these texts are wanted and do not count as trouble.
            meanwhile: called again and again until the node has ended.
        """
        assert self.running, f'{self.node} has ended by itself: {self.output}'
        self._process.send_signal(number)
        end = time.monotonic() + _STOPPED_WITHIN
        while self.running:
            if time.monotonic() > end:
                self.kill()
                raise AssertionError(f'{self.node} does not stop: {self.output}')
            meanwhile()
        code = self._process.wait()
        assert code == 0, f'{self.node} ended with exit code {code}: {self.output}'
        for line in self.output.splitlines():
            if not any(text in line for text in trouble):
                assert not any(word in line for word in _TROUBLE), f'{self.node}: {line}'


def parameter_file(path, parameters):
    """Write parameters, for whatever node reads them or by patterns of nodes; return the file."""
    patterned = any(name.startswith('/') for name in parameters)
    patterns = parameters if patterned else {'/**': parameters}
    content = {pattern: {'ros__parameters': values} for pattern, values in patterns.items()}
    path.write_text(yaml.safe_dump(content), encoding='utf-8')
    return path


class Launcher:
    """Starts nodes and sees to it that every one of them has ended."""

    def __init__(self, folder):
        self._folder = folder
        self.processes = []

    def __call__(
        self, node, namespace='', *, joints=None, remap=None, files=(), environment=None, **values
    ):
        """Start a node.

        Args:
            node: name of the executable.
            namespace: of its topics.
            joints: parameters by their dotted names.
            remap: names and what stands for them.
            files: parameter files.
            environment: variables of the process.
            values: the other parameters; two underscores stand for the dot of a group.
        """
        parameters = {name.replace('__', '.'): value for name, value in values.items()}
        own = self._folder / f'{len(self.processes)}_{node}.yaml'
        parameter_file(own, {**parameters, **(joints or {})})
        arguments = [text for file in (*files, own) for text in ('--params-file', str(file))]
        for name, other in {'__ns': f'/{namespace}', **(remap or {})}.items():
            arguments += ['-r', f'{name}:={other}']
        process = Process(node, namespace, arguments, own.with_suffix('.log'), environment)
        self.processes.append(process)
        return process

    def outputs(self):
        return '\n'.join(
            f'--- {process.node}, {"running" if process.running else "ended"}\n'
            + '\n'.join(process.output.splitlines()[-40:])
            for process in self.processes
        )

    def abort(self, node, namespace):
        """End a node that does not answer; its output then tells where it was."""
        for process in self.processes:
            if (process.node, process.namespace) == (node, namespace) and process.running:
                process.send_signal(signal.SIGABRT)
                process.wait()

    def close(self):
        for process in self.processes:
            process.kill()
