# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Entry points of the node processes; imports little before signals can be handled."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys
import threading
import time

# Time for what a thread still computes, s; `ros2 launch` kills a process 15 s after SIGINT.
_PATIENCE = 5.0


def dynamics_node() -> int:
    """Run dynamics_node; return the process's exit code."""
    return _start('dynamics_node')


def simulator_node() -> int:
    """Run simulator_node; return the process's exit code."""
    return _start('simulator_node')


def _start(name: str) -> int:
    # Nothing needs to be cleaned up yet; `run_node` installs its own handlers later.
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        signal.signal(number, lambda *_: os._exit(0))
    # The parent may have blocked the signals while Python could not handle them yet.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    # Imports create many permanent objects; scanning them for garbage costs time only.
    gc.disable()
    try:
        module = importlib.import_module(f'kron_dynamics.ros.{name}')
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith('kron_dynamics.'):
            raise
        print(f'{name}: {error.name} is missing: source ROS 2 and this workspace', file=sys.stderr)
        return 1
    code = int(module.main())
    # Python removes the handlers first when it shuts down. Ignore a second signal, which
    # `ros2 launch` sends in addition to the terminal's: it would kill the process then.
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
    _end_threads(code)
    return code


def _end_threads(code: int) -> None:
    """Give threads some time to end, then end the process: Python would wait for them."""
    end = time.monotonic() + _PATIENCE
    threads = [each for each in threading.enumerate() if not each.daemon]
    threads.remove(threading.current_thread())
    ended = [_has_ended(each, end) for each in threads]
    if not all(ended):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _has_ended(thread: threading.Thread, latest: float) -> bool:
    """Wait for a thread until a time of the monotonic clock, and return whether it has ended."""
    try:
        thread.join(max(latest - time.monotonic(), 0.0))
    except RuntimeError:  # a signal came during its start: it may still begin, or never
        return False
    return not thread.is_alive()
