# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Frames on links from poses as 4 x 4 matrices."""

from __future__ import annotations

import numpy as np

from kron_dynamics.constraints.loops import Attachment
from kron_dynamics.model.tree import roll_pitch_yaw
from kron_dynamics.reproducible import product
from kron_dynamics.typing import FloatArray


def frame_on(link: str, pose: FloatArray) -> Attachment:
    """Return the frame with a pose on a link.

    Args:
        link: name of the link.
        pose: pose of the frame in the link's frame, shape (4, 4), m.
    """
    x, y, z = map(float, pose[:3, 3])
    R = pose[:3, :3]
    rpy = None if np.array_equal(R, np.eye(3)) else roll_pitch_yaw(R)
    return Attachment(link, (x, y, z), rpy=rpy)


def axis_on(link: str, pose: FloatArray, axis: FloatArray) -> Attachment:
    """Return a frame on a link with z along an axis.

    Args:
        link: name of the link.
        pose: pose of a frame with the same origin in the link's frame, shape (4, 4), m.
        axis: direction of z in the frame of `pose`, shape (3,).
    """
    x, y, z = map(float, pose[:3, 3])
    a, b, c = map(float, product(pose[:3, :3], axis))
    return Attachment(link, (x, y, z), (a, b, c))
