# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses as homogeneous 4 x 4 matrices, for descriptions with nested frames."""

from __future__ import annotations

import numpy as np

from kron_dynamics.reproducible import product
from kron_dynamics.typing import ArrayLike, FloatArray


def pose_of(rotation: ArrayLike, translation: ArrayLike) -> FloatArray:
    """Return the pose with a rotation, shape (3, 3), and a translation, (3,): shape (4, 4), m."""
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = rotation, translation
    return pose


def inverse(pose: FloatArray) -> FloatArray:
    """Return the inverse of a pose, shape (4, 4), m."""
    R = pose[:3, :3]
    return pose_of(R.T, product(-R.T, pose[:3, 3]))
