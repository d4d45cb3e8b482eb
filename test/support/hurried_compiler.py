# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""The compiler of kernels without optimization, and linked with what they need alone."""

from __future__ import annotations

import os

import pytest

# Nor are they linked with other libraries than that of mathematics, which would take a seventh of
# the time: whatever else they call, the process has.
OPTIONS = '-O0 -nostdlib'


def hurry(patch: pytest.MonkeyPatch) -> None:
    """Let kernels be compiled without optimization.

    It takes half the time, and kernels have the same bits, as kernels/test_levels.py shows.
    """
    patch.setenv('CC', f'{os.environ.get("CC", "cc")} {OPTIONS}')
