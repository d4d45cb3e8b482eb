# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Entry points of the nodes' processes, which imports nothing before it can be interrupted."""

from __future__ import annotations

import gc
import importlib
import os
import signal
import sys


def dynamics_node() -> int:
    """Run dynamics_node; return the process's exit code."""
    return _start('dynamics_node')


def simulator_node() -> int:
    """Run simulator_node; return the process's exit code."""
    return _start('simulator_node')


def _start(name: str) -> int:
    # Nothing has to be left in order yet; `run_node` has handlers of its own.
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        signal.signal(number, lambda *_: os._exit(0))
    # Who starts the process may hold them back while Python itself cannot answer them yet.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    # Modules make many objects, which stay: looking for garbage among them is in vain.
    gc.disable()
    try:
        module = importlib.import_module(f'kron_dynamics.ros.{name}')
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith('kron_dynamics.'):
            raise
        print(f'{name}: {error.name} is missing: source ROS 2 and this workspace', file=sys.stderr)
        return 1
    code = int(module.main())
    # All is in order: a second signal, as `ros2 launch` sends one beside the terminal's, would
    # kill the process while Python ends, which takes away the handlers first.
    for number in numbers:
        signal.signal(number, signal.SIG_IGN)
    return code
