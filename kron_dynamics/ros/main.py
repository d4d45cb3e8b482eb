# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Running a node as a process: start, spin, stop, exit code."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Protocol

import rclpy
from rclpy.executors import Executor
from rclpy.signals import SignalHandlerOptions

from kron_dynamics.exceptions import KronDynamicsError

# How long a signal may wait for an idle executor, s.
_SIGNAL_LATENCY = 0.1


class StoppableNode(Protocol):
    """A node that has something to do before it goes."""

    def stop(self) -> None:
        """Leave the machine in order; topics still work."""

    def destroy_node(self) -> None:
        """Take everything back."""


def run_node(
    make: Callable[[], StoppableNode],
    arguments: list[str] | None,
    executor: Callable[[], Executor],
) -> int:
    """Return the exit code of a process that runs one node until it is told to stop.

    0 after SIGINT or SIGTERM; 1 after an error that the user can mend, told in one line.

    Args:
        make: makes the node.
        arguments: of the command line; None for those of the process.
        executor: makes the executor.
    """
    # rclpy's own handler would invalidate every publisher at once, and the last safe command
    # could not be sent.
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    told_to_stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: told_to_stop.set())
    node = None
    try:
        node = make()
        spinner = executor()
        spinner.add_node(node)
        while not told_to_stop.is_set():
            spinner.spin_once(timeout_sec=_SIGNAL_LATENCY)
        spinner.shutdown()
        node.stop()
    except KronDynamicsError as error:
        rclpy.logging.get_logger('kron_dynamics').fatal(' '.join(str(error).split()))
        return 1
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
