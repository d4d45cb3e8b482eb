# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""What generated C begins with, and how its functions are called."""

from __future__ import annotations

from pathlib import Path


def prelude() -> str:
    """Return the C text that every translation unit stands on."""
    return Path(__file__).with_name('prelude.h').read_text(encoding='ascii')


def symbol(k: int) -> str:
    """Return the name of the function for trace k of a unit."""
    return f'kernel_{k}'
