# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Speeds up rclpy's look-up of the code line that writes a log message."""

from __future__ import annotations

import inspect
import sys


def note_modules() -> None:
    """Fill the cache of `inspect` with the files of all imported modules.

    rclpy asks `inspect` for the caller of every log message. The first look-up would resolve the
    symbolic links of about 700 module paths, which takes a tenth of a node's start-up time.
    """
    for name, module in list(sys.modules.items()):
        file = getattr(module, '__file__', None)
        if file:
            inspect.modulesbyfile.setdefault(file, name)
