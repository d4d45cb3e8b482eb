# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Entry point of the command's process, which imports nothing before it can be interrupted."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import NoReturn

_EXIT_INTERRUPTED = 130


def command() -> int:
    """Run the command `kron_dynamics`; return the process's exit code.

    However and whenever it is interrupted: 130, and not a word.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell
        return int(importlib.import_module('kron_dynamics.cli').main())
    # What is imported may take an interrupt for an error of its own.
    signal.signal(signal.SIGINT, lambda *_: os._exit(_EXIT_INTERRUPTED))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    cli = importlib.import_module('kron_dynamics.cli')
    interrupt = _Interrupt()
    signal.signal(signal.SIGINT, interrupt)
    try:
        code = int(cli.main())
    except BaseException:
        if not interrupt.came:
            raise
    # All is done and said: nothing is left to be interrupted.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _EXIT_INTERRUPTED if interrupt.came else code


class _Interrupt:
    """What SIGINT does: an exception the first time, the end of the process the second time."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, *_: object) -> NoReturn:
        if self.came:
            os._exit(_EXIT_INTERRUPTED)
        self.came = True
        # Raised where Python can only report it, it is no news.
        sys.unraisablehook = lambda _: None
        raise KeyboardInterrupt
