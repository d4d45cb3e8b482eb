# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Guards for calls: no foreign errors, no long messages, no long computation."""

from __future__ import annotations

import contextlib
import signal
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kron_dynamics as kd

PACKAGE = str(Path(kd.__file__).parent)
SECONDS = 2.0  # limit of processor time, which a busy machine does not increase
LONGEST_MESSAGE = 2000


class Hang(BaseException):
    """A case took too long; not an `Exception`, so that no error handler catches it."""


class Finding(Exception):
    """A case failed; the text begins with the kind of failure."""


@contextlib.contextmanager
def time_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Raise `Hang` after some seconds of processor time."""

    def stop(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def guarded(call: Callable[[], Any], seconds: float = SECONDS) -> tuple[Any, Exception | None]:
    """Return a call's result, or the package's own error that it raised.

    Raises:
        Finding: the call raised another error, took too long, or the message is not a short line.
    """
    try:
        with time_limit(seconds):
            return call(), None
    except kd.KronDynamicsError as error:
        text = str(error)
        if len(text) > LONGEST_MESSAGE or not text.isprintable():
            raise Finding(
                f'message: {type(error).__name__} of {len(text)} characters: {text[:80]!r}'
            ) from None
        return None, error
    except Hang:
        raise Finding(f'hang: over {seconds:g} s of processor time') from None
    except Exception as error:
        raise Finding(f'foreign error: {described(error)}') from None


def described(error: Exception) -> str:
    """Return an error's text with the innermost line of the package in its traceback."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if PACKAGE in f.filename]
    where = f'{frames[-1].filename[len(PACKAGE) + 1 :]}:{frames[-1].lineno}' if frames else '?'
    return f'{type(error).__name__} at {where}: {str(error)[:120]!r}'
