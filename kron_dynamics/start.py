# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Entry point of the command line, which handles SIGINT before it imports anything else."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import NoReturn

_EXIT_INTERRUPTED = 130


def command() -> int:
    """Run the command `kron_dynamics`; return the process's exit code.

    When interrupted by SIGINT at any time, the process exits with 130 without any output.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a background job of a shell
        return int(importlib.import_module('kron_dynamics.cli').main())
    # Exit at once during imports: imported modules may treat KeyboardInterrupt as an error.
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
    # The command has finished; an interrupt during shutdown is ignored.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return _EXIT_INTERRUPTED if interrupt.came else code


class _Interrupt:
    """Handler of SIGINT: raises an exception the first time, ends the process the second time."""

    def __init__(self) -> None:
        self.came = False

    def __call__(self, *_: object) -> NoReturn:
        if self.came:
            os._exit(_EXIT_INTERRUPTED)
        self.came = True
        # Python would print the exception if it is raised in a destructor or callback.
        sys.unraisablehook = lambda _: None
        raise KeyboardInterrupt
