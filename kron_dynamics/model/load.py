# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""From URDF text to a checked `RobotModel`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.exceptions import InvalidInertiaError, ModelError
from kron_dynamics.model.coordinates import (
    Follower,
    assign_coordinates,
    coordinate_properties,
)
from kron_dynamics.model.inertia import check_inertia, lump, resists_turning
from kron_dynamics.model.payload import Payload, with_payloads
from kron_dynamics.model.robot_model import (
    STANDARD_GRAVITY,
    Body,
    Frame,
    Joint,
    RobotModel,
    read_only,
)
from kron_dynamics.model.tree import find_root, placement, walk
from kron_dynamics.model.urdf import ParsedUrdf, parse_urdf
from kron_dynamics.typing import ArrayLike, FloatArray

_Part = tuple[str, Body, FloatArray, FloatArray]
# Of a section of a flexible link: it has no position of its own, and without deformation it is
# where a revolute joint with no axis would be.
_NO_FOLLOWER = Follower(coordinate=0, multiplier=0.0, offset=0.0, mimics=None)


def load_model(
    text: str,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    joints: Sequence[str] | None = None,
    armature: Mapping[str, float] | None = None,
    payload: Mapping[str, Payload] | None = None,
) -> RobotModel:
    """Return the model that a URDF text describes.

    Args:
        text: URDF.
        gravity: gravity acceleration in the root link's axes, shape (3,), m/s^2.
        joints: order of the generalized coordinates by joint name; None takes the joints depth
            first in document order.
        armature: rotor inertia at the joint by joint name, kg m^2 or kg, in place of what the
            transmissions of the URDF give.
        payload: point masses by the link that carries them, as for `with_payloads`.

    Raises:
        ModelError: the description is broken or impossible; the message names link or joint.
    """
    parsed = with_payloads(parse_urdf(text), payload or {})
    model = build_model(parsed, gravity=gravity, joints=joints, armature=armature)
    _refuse_massless_subtrees(model.joints, model.bodies)
    return model


def build_model(
    parsed: ParsedUrdf,
    *,
    gravity: ArrayLike = STANDARD_GRAVITY,
    joints: Sequence[str] | None = None,
    armature: Mapping[str, float] | None = None,
) -> RobotModel:
    """Return the model of a URDF that has been parsed; see `load_model`.

    That every joint moves some mass is not checked.
    """
    robot = parsed.robot
    root = find_root(robot)
    moving = [joint for joint, _ in walk(robot, root) if joint.type != 'fixed']
    if not moving:
        raise ModelError(f"robot '{robot.name}' has no moving joints")
    names, followers = assign_coordinates(moving, joints)
    frames = {root: Frame(-1, read_only(np.eye(3)), read_only(np.zeros(3)))}
    tree: list[Joint] = []
    parts: list[list[_Part]] = []
    for joint, link in walk(robot, root):
        base = frames[joint.parent]
        rotation, translation = placement(joint.origin)
        rotation = read_only(base.rotation @ rotation)
        translation = read_only(base.rotation @ translation + base.translation)
        if joint.type == 'fixed' and joint.name not in parsed.sections:
            frames[link.name] = frame = Frame(base.body, rotation, translation)
        else:
            follower = followers.get(joint.name, _NO_FOLLOWER)
            tree.append(
                Joint(
                    name=joint.name,
                    kind=joint.type if joint.type != 'fixed' else 'section',
                    parent=base.body,
                    rotation=rotation,
                    translation=translation,
                    axis=_axis(joint) if joint.type != 'fixed' else read_only(np.zeros(3)),
                    coordinate=follower.coordinate,
                    multiplier=follower.multiplier,
                    offset=follower.offset,
                    mimics=follower.mimics,
                )
            )
            parts.append([])
            frame = Frame(len(tree) - 1, read_only(np.eye(3)), read_only(np.zeros(3)))
            frames[link.name] = frame
        body = link_body(link)
        if body is not None and frame.body >= 0:
            parts[frame.body].append((link.name, body, frame.rotation, frame.translation))
    bodies = tuple(lump(part) for part in parts)
    frames = {name: frame for name, frame in frames.items() if name not in parsed.payloads}
    properties = coordinate_properties(
        moving, names, followers, {**parsed.armature, **(armature or {})}
    )
    return RobotModel(
        name=robot.name,
        joints=tuple(tree),
        bodies=bodies,
        frames=frames,
        joint_names=names,
        root_link=root,
        tip_link=_farthest_link(frames, tree),
        gravity=_gravity(gravity),
        position_lower=properties.position_lower,
        position_upper=properties.position_upper,
        velocity_limit=properties.velocity_limit,
        effort_limit=properties.effort_limit,
        damping=properties.damping,
        friction=properties.friction,
        armature=properties.armature,
    )


def _gravity(gravity: ArrayLike) -> FloatArray:
    try:
        vector = np.asarray(gravity, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f'gravity is {gravity!r}, expected three finite numbers') from None
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ModelError(f'gravity is {vector.tolist()}, expected three finite numbers')
    return read_only(vector)


def _axis(joint: urdf.Joint) -> FloatArray:
    axis = np.array((1.0, 0.0, 0.0) if joint.axis is None else joint.axis, dtype=float)
    length = np.linalg.norm(axis)
    if length < 1e-6:
        raise ModelError(
            f"joint '{joint.name}' has the axis {axis.tolist()}, expected a direction"
        )
    return read_only(axis / length)


def link_body(link: urdf.Link) -> Body | None:
    """Return a link's own inertia in the link's frame; None where the URDF gives none.

    Raises:
        InvalidInertiaError: no mass, or an inertia that no body has; the message names the link.
    """
    if link.inertial is None:
        return None
    if link.inertial.mass is None:
        raise InvalidInertiaError(f"link '{link.name}' has an <inertial> without <mass>")
    mass = float(link.inertial.mass)
    tensor = np.zeros((3, 3))
    if link.inertial.inertia is not None:
        tensor = np.array(link.inertial.inertia.to_matrix(), dtype=float)
    check_inertia(link.name, mass, tensor)
    rotation, center = placement(link.inertial.origin)
    return Body(mass, center, read_only(rotation @ tensor @ rotation.T))


def _refuse_massless_subtrees(tree: Sequence[Joint], bodies: Sequence[Body]) -> None:
    """A joint that moves no mass, or turns none about itself, makes the mass matrix singular."""
    n = len(tree)
    mass, carries = [body.mass for body in bodies], [False] * n
    for k in reversed(range(n)):
        joint = tree[k]
        if joint.is_prismatic:
            resists = mass[k] > 0
        else:
            # What further joints carry can be moved off this joint's axis.
            resists = carries[k] or resists_turning(bodies[k], joint.axis)
        if not resists:
            raise InvalidInertiaError(
                f"joint '{joint.name}' moves no mass: neither its child link nor anything "
                f'mounted on it resists the {"sliding" if joint.is_prismatic else "turning"}'
            )
        if joint.parent >= 0:
            mass[joint.parent] += mass[k]
            carries[joint.parent] = True


def _farthest_link(frames: dict[str, Frame], tree: Sequence[Joint]) -> str:
    """The link moved by most joints; the last such in the tree's order."""

    def depth(body: int) -> int:
        return 0 if body < 0 else 1 + depth(tree[body].parent)

    return max(reversed(frames), key=lambda name: depth(frames[name].body))
