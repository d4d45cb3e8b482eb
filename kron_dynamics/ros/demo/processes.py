# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Child processes of the demonstration, stopped by SIGINT as ros2 launch does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from kron_dynamics.exceptions import KronDynamicsError

_STOP_TIMEOUT = 10.0  # longest wait for the end of a process after SIGINT, s


class ProcessError(KronDynamicsError, RuntimeError):
    """A child process ended unexpectedly, did not end, or failed."""


class NodeProcess:
    """A node of this package in its own process, with its output in a file."""

    def __init__(self, name: str, module: str, arguments: Sequence[str], log: Path) -> None:
        """Start the process.

        Args:
            name: name used in error messages.
            module: Python module with the node.
            arguments: arguments after `--ros-args`.
            log: file for the output.
        """
        self.name = name
        self._log = log
        with open(log, 'w', encoding='utf-8') as output:
            # A new session: Ctrl-C reaches only the demonstration, which then stops the process.
            self._process = subprocess.Popen(
                [sys.executable, '-m', module, '--ros-args', *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                env={**os.environ, 'RCUTILS_COLORIZED_OUTPUT': '0'},
                start_new_session=True,
            )

    def check(self) -> None:
        """Check that the process is running.

        Raises:
            ProcessError: it has ended; the message contains the last line of its output.
        """
        code = self._process.poll()
        if code is not None:
            raise ProcessError(f'{self.name} ended with exit code {code}: {self._last_words()}')

    def stop(self) -> None:
        """Send SIGINT to the process and wait for its end.

        Raises:
            ProcessError: it does not end, or its exit code is not 0.
        """
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(_STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ProcessError(
                f'{self.name} did not end within {_STOP_TIMEOUT:g} s of being interrupted'
            ) from None
        if code != 0:
            raise ProcessError(f'{self.name} ended with exit code {code}: {self._last_words()}')

    def kill(self) -> None:
        """Kill the process if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        lines = self._log.read_text(encoding='utf-8', errors='replace').strip().splitlines()
        return lines[-1] if lines else 'no output'
