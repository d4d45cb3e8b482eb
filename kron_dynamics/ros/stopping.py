# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM: a node ends after the present callback, or in the midst of it."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_told = threading.Event()
_at_once = False


def listen() -> threading.Event:
    """Answer SIGINT and SIGTERM from now on; return what they set."""
    _told.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _answer)
    return _told


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """Let a signal end what takes long meanwhile; only where no machine waits for a last command.

    `ros2 launch` kills a process that has not ended 15 s after it was told to.

    Raises:
        KeyboardInterrupt: in the main thread, which alone hears signals: one has come.
    """
    global _at_once
    here = _at_once = threading.current_thread() is threading.main_thread()
    try:
        if not (here and _told.is_set()):
            yield
        if here and _told.is_set():
            raise KeyboardInterrupt
    except Exception:
        # What is interrupted may take that for an error of its own.
        if here and _told.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        _at_once = False


def _answer(*_: object) -> None:
    global _at_once
    _told.set()
    if _at_once:
        _at_once = False  # the way out is not interrupted again
        # Raised where Python can only report it, it is no news.
        sys.unraisablehook = lambda _: None
        raise KeyboardInterrupt
