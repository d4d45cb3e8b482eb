# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that are interrupted by SIGINT at a given time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 240.0


def hold_back() -> None:
    """Prepare a process that is to be interrupted, before it is another program."""
    # SIGINT stays blocked while Python starts, when it would print a traceback of its own. Tests
    # in the background of a shell ignore SIGINT, which their children would inherit.
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def interrupted(
    entry: str,
    arguments: list[str],
    moment: float,
    whole_group: bool = False,
    after: Path | None = None,
) -> tuple[int, str, str]:
    """Start an entry point of the package and interrupt it; return exit code, output, errors.

    Args:
        entry: module and function, as "module:function".
        arguments: command line arguments.
        moment: time of the interrupt after the start, s.
        whole_group: interrupt the whole process group, as a terminal does.
        after: file that the process writes; `moment` counts from its creation.
    """
    module, function = entry.split(':')
    script = f'import sys; from {module} import {function}; sys.exit({function}())'
    process = subprocess.Popen(
        [sys.executable, '-c', script, *arguments],
        cwd=ROOT,  # first entry of sys.path with -c
        env={**os.environ, 'PYTHONPATH': str(ROOT), 'RCUTILS_COLORIZED_OUTPUT': '0'},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hold_back,
    )
    try:
        end = time.monotonic() + PATIENCE
        while after is not None and not after.exists() and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(moment)
        if process.poll() is None:
            (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return process.returncode, output, errors


def every_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[float]:
    """Yield times in the first 3 s of a process; every tenth run starts with an empty cache."""
    for k in range(60):
        if k % 10 == 0:
            folder = tmp_path / f'kernels_{k}'
            folder.mkdir(mode=0o700)
            monkeypatch.setenv('KRON_DYNAMICS_CACHE', str(folder))
        yield 0.05 * k
