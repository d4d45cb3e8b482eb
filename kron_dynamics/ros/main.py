# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a node as a process: start, spin, stop, exit code."""

from __future__ import annotations

import faulthandler
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from kron_dynamics.exceptions import KronDynamicsError
from kron_dynamics.ros.callers import note_modules
from kron_dynamics.ros.memory import keep_freed_memory
from kron_dynamics.ros.signals import listen
from kron_dynamics.ros.unknown_parameters import note_arguments

AnyNode = TypeVar('AnyNode', bound=Node)

# Thread switch interval of the interpreter, s. Python's default of 5 ms, several times in a
# cycle, would let background threads delay the commands.
_SWITCH_INTERVAL = 0.0005
# Longest time until an idle executor handles a signal, s.
_SIGNAL_LATENCY = 0.1
# Time for leaving the network, s, which usually takes less than 0.1 s; `ros2 launch` kills a
# process 15 s after SIGINT.
_PATIENCE = 10.0


def run_node(
    make: Callable[[], AnyNode],
    arguments: list[str] | None,
    stop: Callable[[AnyNode], None] = lambda _: None,
) -> int:
    """Run one node until SIGINT or SIGTERM and return the exit code of the process.

    Args:
        make: makes the node.
        arguments: command-line arguments; None for those of the process.
        stop: called before the node is destroyed, while its topics still work.

    Returns:
        0 after a signal; 1 after an error that the user can fix, logged in one line. A process
        that cannot leave the network ends with 1, too, and with a traceback.
    """
    # rclpy's own handler would invalidate every publisher at once, and the last safe command
    # could not be sent.
    try:
        rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    except RuntimeError as error:  # a parameter file or argument cannot be parsed
        return _fatal(error)
    sys.setswitchinterval(_SWITCH_INTERVAL)
    keep_freed_memory()
    note_arguments(arguments)
    note_modules()
    stop_requested = listen()
    node = None
    try:
        node = make()
        # Exclude the objects that exist now, which are permanent, from garbage collection.
        gc.freeze()
        gc.enable()
        spinner = SingleThreadedExecutor()
        spinner.add_node(node)
        try:
            while not stop_requested.is_set():
                spinner.spin_once(timeout_sec=_SIGNAL_LATENCY)
        finally:
            # In any case send a last safe command instead of leaving an arbitrary one.
            spinner.shutdown()
            stop(node)
    except KeyboardInterrupt:
        pass  # a signal arrived while kernels were compiled
    except KronDynamicsError as error:
        return _fatal(error)
    finally:
        with _ended_in_any_case():
            if node is not None:
                node.destroy_node()
            rclpy.try_shutdown()
    return 0


@contextmanager
def _ended_in_any_case() -> Iterator[None]:
    """End the process if the block takes too long, even if it keeps all other Python code waiting.

    Fast DDS can wait for itself for ever where other participants end at the same time, as at the
    end of `ros2 launch` (its issue 6502).
    """
    if sys.stderr is None:
        yield
        return
    faulthandler.dump_traceback_later(_PATIENCE, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _fatal(error: Exception) -> int:
    """Log in one line why the process ends, and return the exit code."""
    rclpy.logging.get_logger('kron_dynamics').fatal(' '.join(str(error).split()))
    return 1
