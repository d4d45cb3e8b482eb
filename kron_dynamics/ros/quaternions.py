# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Conversion of rotation matrices to quaternions in the order of geometry_msgs."""

from __future__ import annotations

import numpy as np

from kron_dynamics.typing import FloatArray


def quaternions(R: FloatArray) -> FloatArray:
    """Return the unit quaternions (x, y, z, w) of N rotations, largest components positive.

    Args:
        R: rotation matrices, shape (N, 3, 3).

    Returns:
        shape (N, 4).
    """
    count = len(R)
    # The batch is the last, contiguous axis: r[i, j] has the shape (N,).
    r = np.ascontiguousarray(R.transpose(1, 2, 0))
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    # Four times the outer product of each quaternion with itself, shape (4, 4, N).
    outer = np.empty((4, 4, count))
    outer[:3, :3] = r + r.swapaxes(0, 1)
    outer[3, 3] = 1.0 + trace
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        outer[k, k] += 1.0 - trace
        outer[3, k] = outer[k, 3] = r[j, i] - r[i, j]
    # Normalize the row of the largest component, which has no cancellation.
    rows: FloatArray = outer[0].copy()
    greatest = outer[0, 0].copy()
    for k in range(1, 4):
        better = outer[k, k] > greatest
        np.copyto(rows, outer[k], where=better)
        np.copyto(greatest, outer[k, k], where=better)
    rows /= np.sqrt((rows * rows).sum(axis=0))
    return np.ascontiguousarray(rows.T)
