# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Pipes in place of files."""

from __future__ import annotations

import os


def piped(text: str) -> str:
    """Return the path of a pipe that gives a text once, as a shell's <(...) does."""
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    return f'/dev/fd/{reading}'
