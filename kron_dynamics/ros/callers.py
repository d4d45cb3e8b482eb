# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Where a node's log is called from."""

from __future__ import annotations

import inspect
import sys


def note_modules() -> None:
    """Tell `inspect` the files of all modules, as they were imported.

    rclpy asks it for the caller of every line of the log. At the first one it would resolve the
    path of each module through all symbolic links: some 700, in a tenth of a node's start.
    """
    for name, module in list(sys.modules.items()):
        file = getattr(module, '__file__', None)
        if file:
            inspect.modulesbyfile.setdefault(file, name)
