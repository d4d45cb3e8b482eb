# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a session of its own: background.py NICENESS COMMAND...

Linux shares processors out among sessions first, so that niceness alone would count only among
the processes of one. Shells let their background jobs ignore SIGINT; this one heeds it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from pathlib import Path

niceness, *command = sys.argv[1:]
os.setsid()
os.nice(int(niceness))
with contextlib.suppress(OSError):  # no such file: other systems, or a kernel without it
    Path('/proc/self/autogroup').write_text(niceness)
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(command[0], command)
