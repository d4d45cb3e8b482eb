# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `kron_dynamics`.

Exit codes: 0 success, 1 an error with one explaining line on stderr, 2 a wrong command line,
130 interrupted, 141 broken pipe. `check` defines its own.
"""

from __future__ import annotations

import argparse
import importlib
import logging
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from kron_dynamics import __version__
from kron_dynamics.cli.single_values import SingleValue
from kron_dynamics.cli.streams import (
    abandon_output,
    complain,
    flush_output,
    one_line,
    require_output,
)
from kron_dynamics.exceptions import KronDynamicsError

PROGRAM = 'kron_dynamics'
# Purpose of each command. The module of the same name is imported only if the command is used.
COMMANDS = {
    'info': 'tree, joints, masses, limits and kernels of a robot',
    'check': 'errors, warnings and hints about a robot description, with remedies',
    'derive': 'equations of a robot in closed form, as text or LaTeX',
    'modes': 'natural frequencies of a flexible robot against pose or payload',
    'tune': 'gains and tolerances of dynamics_node from a bandwidth, with stability bounds',
    'export': 'quantities of a robot as a C library for real-time loops',
    'analyze': 'efforts and accelerations in a recording against the model',
    'campaign': 'the same analysis of many recordings, on all cores or a cluster',
    'payload': 'mass and centre of mass of the payload that a link carried in a recording',
    'identify': 'masses, inertias and friction of a robot from recordings, as a new URDF',
    'demo': 'simulated stacker-reclaimer under computed torque, over ROS 2',
}
EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


class _Parser(argparse.ArgumentParser):
    """An argument parser that refuses repeated options, and whose errors are one line."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Python 3.14's pattern: earlier ones take -1e-3 for an option.
        self._negative_number_matcher = re.compile(r'-\.?\d')
        for action in (None, 'store'):
            self.register('action', action, SingleValue)

    def error(self, message: str) -> NoReturn:
        """Print an error and exit with code 2."""
        self.exit(EXIT_USAGE, f'{PROGRAM}: error: {one_line(message)} (see {self.prog} --help)\n')

    def _print_message(self, message: str, file: Any = None) -> None:
        # argparse ignores write errors; printing help to a broken stdout must fail.
        if file is sys.stdout:
            print(message, end='')
        else:
            complain(message)


class _Command(_Parser):
    """The parser of one command, filled by the command's module when the command is given."""

    module = ''

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the command's own arguments."""
        if self.module:
            module, self.module = importlib.import_module(self.module), ''
            module.set_up(self)
        return super().parse_known_args(args, namespace)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        argv: arguments; None for the arguments of the process.
    """
    return guarded(lambda: _run(argv))


def guarded(work: Callable[[], int]) -> int:
    """Run a process's work and return the exit code; errors become one line on stderr.

    Args:
        work: function that returns the exit code.
    """
    logging.basicConfig(format=f'{PROGRAM}: %(levelname)s: %(message)s', level=logging.WARNING)
    try:
        require_output()
        with warnings.catch_warnings(), np.errstate(all='ignore'):
            warnings.showwarning = _show_warning
            try:
                code = work()
            except SystemExit as stop:  # raised by help, version and usage errors
                code = stop.code if isinstance(stop.code, int) else EXIT_ERROR * bool(stop.code)
        flush_output()
        return code
    except KeyboardInterrupt:
        abandon_output()
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        abandon_output()
        return EXIT_BROKEN_PIPE
    except (KronDynamicsError, OSError) as error:
        abandon_output()
        complain(f'{PROGRAM}: error: {one_line(error)}\n')
    except (MemoryError, RecursionError) as error:
        lacking = 'memory' if isinstance(error, MemoryError) else 'recursion depth'
        complain(f'{PROGRAM}: error: this robot or sweep is too large: out of {lacking}\n')
    return EXIT_ERROR


def _run(argv: Sequence[str] | None) -> int:
    arguments, rest = _parser().parse_known_args(argv)
    if arguments.command == 'demo':
        arguments.demo_arguments = rest
    elif rest:
        _parser().error(f'unrecognized arguments: {" ".join(rest)}')
    code: int = arguments.run(arguments)
    return code


def _show_warning(message: Warning | str, *about: Any, **more: Any) -> None:
    complain(f'{PROGRAM}: warning: {one_line(message)}\n')


def _parser() -> _Parser:
    parser = _Parser(
        prog=PROGRAM,
        description='Closed-form robot dynamics from a URDF: inspect a robot, print its '
        'equations, analyse recordings, run a controlled machine in simulation.',
    )
    parser.add_argument('--version', action='version', version=f'{PROGRAM} {__version__}')
    commands = parser.add_subparsers(
        dest='command', required=True, metavar='COMMAND', parser_class=_Command
    )
    for name, purpose in COMMANDS.items():
        # The demo parses its own options, --help included, which needs ROS.
        command = commands.add_parser(name, help=purpose, add_help=name != 'demo')
        command.module = f'{__name__}.{name}'
    return parser
