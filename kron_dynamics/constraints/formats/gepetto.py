# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Gepetto's robot.yaml, as in the repository example-parallel-robots: loops of a URDF.

A loop is a pair of frames of Pinocchio's model, which are links and joints of the URDF. With type
3d their origins coincide, with 6d the frames.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.couplings import PrescribedMotion
from kron_dynamics.constraints.description import ConstraintDescription
from kron_dynamics.constraints.loops import Attachment, PointLoop, WeldLoop
from kron_dynamics.messages import clipped, named, shown
from kron_dynamics.model.entries import Entries
from kron_dynamics.model.robot_model import RobotModel

LOOPS = 'closed_loop'
_KEYS = (LOOPS, 'type', 'name_mot', 'joint_name', 'joint_type')
_TYPES: Mapping[str, Callable[..., Constraint]] = {'3d': PointLoop, '6d': WeldLoop}


def gepetto_constraints(
    file: str, values: Mapping[str, object], model: RobotModel | None
) -> ConstraintDescription:
    """Return the loops of a robot.yaml, named by their frames, and constraints of fixed joints.

    Args:
        file: name of the description, for messages.
        values: contents of the description.
        model: model of the URDF, used to find the links of frames that are moving joints; None to
            regard every frame as a link.

    Raises:
        ModelError: a key is unknown, missing or wrong, a frame is unknown, or a joint has several
            degrees of freedom.
    """
    document = Entries(file, '', values)
    document.allow(*_KEYS)
    pairs, types = _items(document, LOOPS), _items(document, 'type')
    if len(types) != len(pairs):
        raise document.error(
            'type', f"has {len(types)} entries, expected {len(pairs)}, one for each of '{LOOPS}'"
        )
    loops = [
        _loop(document, k, pair, kind, model)
        for k, (pair, kind) in enumerate(zip(pairs, types, strict=True), 1)
    ]
    return ConstraintDescription(
        (*loops, *_fixed_joints(document)),
        MappingProxyType({}),
        (),
        None,
        document.names('name_mot'),
    )


def _items(document: Entries, key: str) -> list[object]:
    value = document.get(key)
    if not isinstance(value, list):
        raise document.wrong(key, 'a list')
    return value


def _loop(
    document: Entries, k: int, pair: object, kind: object, model: RobotModel | None
) -> Constraint:
    if (
        not isinstance(pair, list)
        or len(pair) != 2
        or not all(isinstance(frame, str) for frame in pair)
    ):
        raise document.error(LOOPS, f'has {shown(pair)} as pair {k}, expected names of two frames')
    make = _TYPES.get(kind.lower()) if isinstance(kind, str) else None
    if make is None:
        raise document.error('type', f"has {shown(kind)} of pair {k}, expected '3d' or '6d'")
    a, b = (Attachment(_link(document, frame, model)) for frame in pair)
    return make(f'{pair[0]} {pair[1]}', a, b)


def _link(document: Entries, frame: str, model: RobotModel | None) -> str:
    """Return the link of a frame: the link with its name, or moved by the joint with its name."""
    if model is None or frame in model.frames:
        return frame
    carried = [k for k, joint in enumerate(model.joints) if joint.name == frame]
    for link, place in model.frames.items():
        is_joint = not place.translation.any() and np.array_equal(place.rotation, np.eye(3))
        if carried == [place.body] and is_joint:
            return link
    raise document.error(
        LOOPS,
        f"names the frame '{clipped(frame)}', which is no link and no moving joint of "
        f'{named("robot", model.name)}; for a fixed joint name its child link',
    )


def _fixed_joints(document: Entries) -> list[Constraint]:
    """Return constraints that hold the FIXED joints at 0; refuse all other joint types."""
    joints, types = (document.names(key) or () for key in ('joint_name', 'joint_type'))
    if len(joints) != len(types):
        raise document.error(
            'joint_type', f"has {len(types)} entries, expected {len(joints)}, as 'joint_name'"
        )
    for joint, kind in zip(joints, types, strict=True):
        if kind != 'FIXED':
            raise document.error(
                'joint_type',
                f"makes '{clipped(joint)}' a joint {shown(kind)}, expected 'FIXED': joints have "
                f'one degree of freedom here, so put revolute joints in a row into the URDF',
            )
    return [PrescribedMotion(f'fixed {j}', j, 0.0) for j in joints]
