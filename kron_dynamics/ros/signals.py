# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""SIGINT and SIGTERM: a node ends after the current callback, or within an interruptible one."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_requested = threading.Event()
_at_once = False


def listen() -> threading.Event:
    """Install handlers of SIGINT and SIGTERM; return the event that they set."""
    _requested.clear()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _answer)
    return _requested


@contextmanager
def stopped_at_once() -> Iterator[None]:
    """Context in which a signal interrupts long work; only if no last command must be sent.

    `ros2 launch` kills a process that has not ended 15 s after SIGINT.

    Raises:
        KeyboardInterrupt: a signal has arrived; only in the main thread, which handles signals.
    """
    global _at_once
    here = _at_once = threading.current_thread() is threading.main_thread()
    try:
        if not (here and _requested.is_set()):
            yield
        if here and _requested.is_set():
            raise KeyboardInterrupt
    except Exception:
        # Interrupted code may have converted the interruption into its own error.
        if here and _requested.is_set():
            raise KeyboardInterrupt from None
        raise
    finally:
        _at_once = False


def _answer(*_: object) -> None:
    global _at_once
    _requested.set()
    if _at_once:
        _at_once = False  # do not interrupt the clean-up again
        # Suppress the report if the exception is raised where Python cannot propagate it.
        sys.unraisablehook = lambda _: None
        raise KeyboardInterrupt
