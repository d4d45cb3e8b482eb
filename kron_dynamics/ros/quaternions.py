# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Rotations as the quaternions of geometry_msgs."""

from __future__ import annotations

import numpy as np

from kron_dynamics.typing import FloatArray


def quaternions(R: FloatArray) -> FloatArray:
    """Return unit quaternions (x, y, z, w) of N rotations, their largest components positive.

    Args:
        R: rotation matrices, shape (N, 3, 3).

    Returns:
        shape (N, 4).
    """
    trace = R[:, 0, 0] + R[:, 1, 1] + R[:, 2, 2]
    # Four times the outer product of each quaternion with itself.
    outer = np.empty((len(R), 4, 4))
    outer[:, :3, :3] = R + R.swapaxes(1, 2)
    for k in range(3):
        outer[:, k, k] += 1.0 - trace
        i, j = (k + 1) % 3, (k + 2) % 3
        outer[:, 3, k] = outer[:, k, 3] = R[:, j, i] - R[:, i, j]
    outer[:, 3, 3] = 1.0 + trace
    # The row of the largest component has no cancellation.
    largest = outer[:, range(4), range(4)].argmax(axis=1)
    rows: FloatArray = outer[np.arange(len(R)), largest]
    return rows / np.sqrt(np.einsum('ki,ki->k', rows, rows))[:, None]
