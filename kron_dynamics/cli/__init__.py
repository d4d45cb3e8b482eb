# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The command `kron_dynamics`.

Exit codes: 0 done, 1 an error that one line on stderr explains, 2 a wrong command line,
130 interrupted; `check` has its own.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from kron_dynamics import __version__
from kron_dynamics.cli import analyze, check, demo, derive, info, modes
from kron_dynamics.exceptions import KronDynamicsError, ModelWarning

PROGRAM = 'kron_dynamics'
EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Print an error and exit with code 2."""
        self.exit(EXIT_USAGE, f'{PROGRAM}: error: {message} (see {self.prog} --help)\n')


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Args:
        argv: Arguments; None takes those of the process.
    """
    logging.basicConfig(format=f'{PROGRAM}: %(levelname)s: %(message)s', level=logging.WARNING)
    with warnings.catch_warnings():
        warnings.showwarning = partial(_show_warning, warnings.showwarning)
        return _run(argv)


def _show_warning(
    show_other: Callable[..., None],
    message: Warning | str,
    category: type[Warning],
    *place: Any,
    **options: Any,
) -> None:
    """Show what is wrong with a robot in one line: where this program noticed is of no use."""
    if isinstance(message, ModelWarning):
        print(f'{PROGRAM}: warning: {message}', file=sys.stderr)
    else:
        show_other(message, category, *place, **options)


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments, rest = _parser().parse_known_args(argv)
        if arguments.command == 'demo':
            arguments.demo_arguments = rest
        elif rest:
            _parser().error(f'unrecognized arguments: {" ".join(rest)}')
        code: int = arguments.run(arguments)
        sys.stdout.flush()
        return code
    except SystemExit as stop:
        return int(stop.code or 0)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has left; nothing can be written when Python closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_BROKEN_PIPE
    except (KronDynamicsError, OSError) as error:
        print(f'{PROGRAM}: error: {" ".join(str(error).split())}', file=sys.stderr)
        return EXIT_ERROR


def _parser() -> _Parser:
    parser = _Parser(
        prog=PROGRAM,
        description='Closed-form robot dynamics from a URDF: look at a robot, print its '
        'equations, replay a recording, see a machine controlled.',
    )
    parser.add_argument('--version', action='version', version=f'{PROGRAM} {__version__}')
    commands = parser.add_subparsers(dest='command', required=True, metavar='COMMAND')
    for command in (info, check, derive, modes, analyze, demo):
        command.add_parser(commands)
    return parser
