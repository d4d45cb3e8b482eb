# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Standard output and standard error, as robust as a command has to be."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from kron_dynamics.exceptions import KronDynamicsError

_LENGTH = 1000


def require_output() -> None:
    """Make sure that there is a standard output that takes every text.

    What its encoding does not have is written as an escape sequence.

    Raises:
        KronDynamicsError: it is closed.
    """
    if sys.stdout is None:  # closed before Python started
        raise KronDynamicsError('standard output is closed')
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors='backslashreplace')


def flush_output() -> None:
    """Write what waits to be written to standard output.

    Raises:
        BrokenPipeError: its reader has left.
        KronDynamicsError: it does not take it, as on a full device.
    """
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise KronDynamicsError(f'standard output cannot be written: {error.strerror}') from error


def abandon_output() -> None:
    """Write what waits for standard output where that is possible, and never again if not."""
    if sys.stdout is not None:
        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            _silence(sys.stdout)


def complain(text: str) -> None:
    """Write to standard error, if it takes anything."""
    if sys.stderr is None:
        return
    try:
        print(text, end='', file=sys.stderr, flush=True)
    except (OSError, ValueError):
        _silence(sys.stderr)


def _silence(stream: TextIO) -> None:
    """Write no more to a stream that fails: Python would try again when it ends."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def one_line(message: object) -> str:
    """Return a message as one printable line, cut where it is very long."""
    text = ' '.join(str(message).split())
    text = text if len(text) <= _LENGTH else f'{text[:_LENGTH]}...'
    return ''.join(
        letter if letter.isprintable() else letter.encode('unicode_escape').decode('ascii')
        for letter in text
    )


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Name the file that could not be written.

    Raises:
        KronDynamicsError: the system refused it.
    """
    try:
        yield
    except KronDynamicsError:  # some are an OSError too, and name what they are about
        raise
    except OSError as error:
        raise KronDynamicsError(
            f"'{path}' cannot be written: {error.strerror or error}"
        ) from error


def require_plots(way_out: str) -> None:
    """Make sure that pictures can be drawn, before anything is computed for them.

    Args:
        way_out: what to do without.

    Raises:
        KronDynamicsError: matplotlib is missing, or its settings are broken.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except (ImportError, OSError, ValueError) as error:
        raise KronDynamicsError(f'plots need matplotlib ({error}); {way_out}') from error
