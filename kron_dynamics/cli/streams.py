# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Robust writing to standard output, standard error and files."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from kron_dynamics.exceptions import KronDynamicsError

_LENGTH = 1000  # characters after which `one_line` cuts a message


def require_output() -> None:
    """Check that standard output is open, and make it accept any text.

    Characters that its encoding lacks are written as escape sequences.

    Raises:
        KronDynamicsError: standard output is closed.
    """
    if sys.stdout is None:  # closed before Python started
        raise KronDynamicsError('standard output is closed')
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors='backslashreplace')


def flush_output() -> None:
    """Flush standard output.

    Raises:
        BrokenPipeError: the reader has closed the pipe.
        KronDynamicsError: writing failed, for example on a full device.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise KronDynamicsError(f'standard output cannot be written: {error.strerror}') from error


def abandon_output() -> None:
    """Flush standard output if possible; if that fails, discard all further output."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            _silence(sys.stdout)


def complain(text: str) -> None:
    """Write to standard error; ignore failures."""
    if sys.stderr is None:
        return
    try:
        print(text, end='', file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _silence(sys.stderr)


def _silence(stream: TextIO) -> None:
    """Redirect a failing stream to the null device: Python would flush it again at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def one_line(message: object) -> str:
    """Return a message as one printable line, truncated if it is very long."""
    text = ' '.join(str(message).split())
    text = text if len(text) <= _LENGTH else f'{text[:_LENGTH]}...'
    return ''.join(
        letter if letter.isprintable() else letter.encode('unicode_escape').decode('ascii')
        for letter in text
    )


def print_kept(notes: Iterable[str]) -> None:
    """Print notes about files that were not overwritten, below the line of those written.

    Args:
        notes: from `earlier_files.new_results`.
    """
    for note in notes:
        print(f'         {note}')


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Context that converts an `OSError` into an error that names the file.

    Raises:
        KronDynamicsError: the file cannot be written.
    """
    try:
        yield
    except KronDynamicsError:  # some are also an OSError, and name their file already
        raise
    except OSError as error:
        raise KronDynamicsError(
            f"'{path}' cannot be written: {error.strerror or error}"
        ) from error


def require_plots(way_out: str) -> None:
    """Check that plots can be drawn, before computing anything for them.

    Args:
        way_out: advice for the error message on how to do without plots.

    Raises:
        KronDynamicsError: matplotlib is missing, or its settings are broken.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except (ImportError, OSError, ValueError) as error:
        raise KronDynamicsError(f'plots need matplotlib ({error}); {way_out}') from error
