# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of numbers bit by bit."""

from __future__ import annotations

import numpy as np


def assert_same_bits(got: np.ndarray, expected: np.ndarray) -> None:
    """Assert equal numbers, zeros with their sign; the sign of a NaN is nobody's promise."""
    np.testing.assert_array_equal(got, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])
