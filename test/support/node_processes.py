# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of the package as separate processes, with their output in files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import yaml

# Wall time after which a process counts as hanging, s. It is enough on a busy computer that also
# has to compile kernels.
PATIENCE = 240.0
_STOPPED_WITHIN = 60.0
# Texts that a node that ends properly never logs.
_TROUBLE = ('Traceback', 'Error', '[ERROR]', '[FATAL]', 'terminate called', 'core dumped')


class Process:
    """A node of the package in its own process; its output goes to a file."""

    def __init__(self, node, namespace, arguments, log, environment, forks=None):
        self.node = node
        self.namespace = namespace
        self._log = log
        environment = {**os.environ, **environment}
        with open(log, 'w', encoding='utf-8') as output:
            if forks is not None:
                self._process = forks.start(node, arguments, log, environment)
                return
            self._process = subprocess.Popen(
                [sys.executable, '-m', f'kron_dynamics.ros.{node}', '--ros-args', *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                # An aborted process prints the tracebacks of its threads.
                env={**environment, 'PYTHONFAULTHANDLER': '1'},
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
        """Wait for a process that ends by itself; return its exit code."""
        return self._process.wait(PATIENCE)

    def kill(self):
        """Kill the process group with SIGKILL, as a power failure would end it."""
        if self.running:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def stop(self, number=signal.SIGINT, trouble=(), meanwhile=lambda: time.sleep(0.01)):
        """Interrupt a running node and assert that it ends properly.

        Args:
            number: signal number.
            trouble: lines with one of these texts are expected and do not count as errors.
            meanwhile: called repeatedly until the node has ended.
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
    """Write parameters for all nodes, or by node name patterns; return the file."""
    patterned = any(name.startswith('/') for name in parameters)
    patterns = parameters if patterned else {'/**': parameters}
    content = {pattern: {'ros__parameters': values} for pattern, values in patterns.items()}
    path.write_text(yaml.safe_dump(content), encoding='utf-8')
    return path


class Launcher:
    """Starts nodes, and ends all of them with `close`."""

    def __init__(self, folder, forks):
        self._folder = folder
        self._forks = forks
        self.processes = []

    def __call__(
        self,
        node,
        namespace='',
        *,
        joints=None,
        remap=None,
        files=(),
        environment=None,
        forked=True,
        **values,
    ):
        """Start a node.

        Args:
            node: name of the executable.
            namespace: namespace of its topics.
            joints: parameters by their dotted names.
            remap: remapped names and their replacements.
            files: parameter files.
            environment: additional environment variables of the process.
            forked: whether the process is a fork with the core imported; otherwise Python starts
                and ends as for a user.
            values: the other parameters, with two underscores for the dot of a group.
        """
        parameters = {name.replace('__', '.'): value for name, value in values.items()}
        own = self._folder / f'{len(self.processes)}_{node}.yaml'
        parameter_file(own, {**parameters, **(joints or {})})
        arguments = [text for file in (*files, own) for text in ('--params-file', str(file))]
        for name, other in {'__ns': f'/{namespace}', **(remap or {})}.items():
            arguments += ['-r', f'{name}:={other}']
        process = Process(
            node,
            namespace,
            arguments,
            own.with_suffix('.log'),
            environment or {},
            self._forks if forked else None,
        )
        self.processes.append(process)
        return process

    def outputs(self):
        return '\n'.join(
            f'--- {process.node}, {"running" if process.running else "ended"}\n'
            + '\n'.join(process.output.splitlines()[-40:])
            for process in self.processes
        )

    def abort(self, node, namespace):
        """Abort a node that does not answer, so that its output shows where its threads were."""
        for process in self.processes:
            if (process.node, process.namespace) == (node, namespace) and process.running:
                process.send_signal(signal.SIGABRT)
                process.wait()

    def close(self):
        for process in self.processes:
            process.kill()
