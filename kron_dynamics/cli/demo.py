# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""`kron_dynamics demo`: a simulated stacker-reclaimer under computed torque, over ROS 2."""

from __future__ import annotations

import argparse
import importlib

from kron_dynamics.exceptions import KronDynamicsError


def set_up(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.set_defaults(run=run, demo_arguments=[])


def run(arguments: argparse.Namespace) -> int:
    """Run the demo and return its exit code.

    Raises:
        KronDynamicsError: ROS 2 for Python is missing.
        KeyboardInterrupt: SIGINT came while it was imported.
    """
    try:
        demo = importlib.import_module('kron_dynamics.ros.demo.demonstration')
    except ImportError as error:
        if _is_interrupt(error):
            raise KeyboardInterrupt from error
        if (error.name or '').split('.')[0] == 'kron_dynamics':
            raise
        raise KronDynamicsError(
            f'the demo needs ROS 2 for Python ({error}): source a ROS 2 workspace, or run '
            '`make demo` in a checkout'
        ) from error
    code: int = demo.main(list(arguments.demo_arguments))
    return code


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether an error is due to SIGINT, which extension modules turn into an ImportError."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False
