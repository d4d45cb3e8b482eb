# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Running a node as a process: start, spin, stop, exit code."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import TypeVar

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.ros.callers import note_modules
from kron_dynamics.ros.memory import keep_freed_memory
from kron_dynamics.ros.stopping import listen
from kron_dynamics.ros.unknown_parameters import note_arguments

AnyNode = TypeVar('AnyNode', bound=Node)

# How long a thread that computes something may keep the executor's from running, s. Python's own
# 5 ms, several times in a cycle, would be gaps in the commands.
_SWITCH_INTERVAL = 0.0005
# How long a signal may wait for an idle executor, s.
_SIGNAL_LATENCY = 0.1


def run_node(
    make: Callable[[], AnyNode],
    arguments: list[str] | None,
    stop: Callable[[AnyNode], None] = lambda _: None,
) -> int:
    """Return the exit code of a process that runs one node until it is told to stop.

    0 after SIGINT or SIGTERM; 1 after an error that the user can mend, told in one line.

    Args:
        make: makes the node.
        arguments: of the command line; None for those of the process.
        stop: called before the node goes, while its topics still work.
    """
    # rclpy's own handler would invalidate every publisher at once, and the last safe command
    # could not be sent.
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # a parameter file or argument that cannot be read
        return _fatal(error)
    sys.setswitchinterval(_SWITCH_INTERVAL)
    keep_freed_memory()
    note_arguments(arguments)
    note_modules()
    told_to_stop = listen()
    node = None
    try:
        node = make()
        # What there is now stays: the collector need not look at it in a control cycle.
        gc.freeze()
        gc.enable()
        spinner = SingleThreadedExecutor()
        spinner.add_node(node)
        try:
            while not told_to_stop.is_set():
                spinner.spin_once(timeout_sec=_SIGNAL_LATENCY)
        finally:
            # However it ends: a machine is not left with the last command there happened to be.
            spinner.shutdown()
            stop(node)
    except KeyboardInterrupt:
        pass  # told to stop while kernels were compiled
    except KronDynamicsError as error:
        return _fatal(error)
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


def _fatal(error: Exception) -> int:
    """Say in one line why the process ends, and return its exit code."""
    rclpy.logging.get_logger('kron_dynamics').fatal(' '.join(str(error).split()))
    return 1
