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
_RAISED_AGAIN = 0.05  # time after which a lost interruption is raised again, s


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
        interrupt.end()
    except BaseException:
        interrupt.end()
        if not interrupt.came:
            raise
    return _EXIT_INTERRUPTED if interrupt.came else code


class _Interruption(KeyboardInterrupt):
    """Exception that is raised again soon after it is lost.

    Python loses exceptions of destructors and callbacks, and some modules take any exception for
    a failed import.
    """

    def __del__(self) -> None:
        signal.setitimer(signal.ITIMER_REAL, _RAISED_AGAIN)


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
        signal.signal(signal.SIGALRM, self._again)
        raise _Interruption

    def end(self) -> None:
        """Ignore interrupts: the command has finished, and the process ends."""
        for number in (signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)

    def _again(self, *_: object) -> None:
        if signal.getsignal(signal.SIGINT) is self:
            raise _Interruption
        signal.raise_signal(signal.SIGINT)  # the demonstration has a handler of its own
