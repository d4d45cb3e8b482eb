# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Loop-closing joints of URDF+ and SDF as constraints between frames on two links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.formats.poses import axis_on, frame_on
from kron_dynamics.constraints.loops import (
    Attachment,
    HingeLoop,
    PlanarLoop,
    PointLoop,
    SliderLoop,
    WeldLoop,
)
from kron_dynamics.model.joint_kinds import JOINT_KINDS, ROTATION, TRANSLATION
from kron_dynamics.model.poses import pose_of
from kron_dynamics.reproducible import product
from kron_dynamics.typing import FloatArray

Make = Callable[..., Constraint]
_BY_MOTION: Mapping[object, Make] = {ROTATION: HingeLoop, TRANSLATION: SliderLoop}
# Constraint by type of the joint in URDF and SDF; there is none for a screw.
JOINT_LOOPS: Mapping[str, Make] = {
    **{name: _BY_MOTION[k.motion] for name, k in JOINT_KINDS.items() if k.motion in _BY_MOTION},
    'planar': PlanarLoop,
    'ball': PointLoop,
    'fixed': WeldLoop,
}


def needs_axis(make: Make) -> bool:
    """Return whether the joint of this constraint class has an axis."""
    return make not in (PointLoop, WeldLoop)


def loop_between(
    make: Make, name: str, ends: Sequence[tuple[str, FloatArray]], axis: FloatArray | None
) -> Constraint:
    """Return the constraint that represents a joint.

    Args:
        make: constraint class, one of `JOINT_LOOPS`.
        name: name of the joint.
        ends: both links, each with the pose of the joint's frame in the link's, shape (4, 4), m.
        axis: direction of the joint's axis in its frame, shape (3,), if it `needs_axis`.
    """
    if axis is None:
        if make is WeldLoop:
            return make(name, *(frame_on(*end) for end in ends))
        points = [tuple(pose[:3, 3].tolist()) for _, pose in ends]
        return make(
            name, *(Attachment(end[0], point) for end, point in zip(ends, points, strict=True))
        )
    if make is SliderLoop:
        # All axes matter: z along the slide, the same x and y on both sides.
        turn = pose_of(axis_on('', np.eye(4), axis).rotation(), np.zeros(3))
        return make(name, *(frame_on(link, product(pose, turn)) for link, pose in ends))
    return make(name, *(axis_on(link, pose, axis) for link, pose in ends))
