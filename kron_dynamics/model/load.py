# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""From URDF text to a checked `RigidModel`."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.exceptions import InvalidInertiaError, ModelError
from kron_dynamics.messages import listed, named
from kron_dynamics.model.coordinates import (
    Follower,
    assign_coordinates,
    coordinate_properties,
)
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.inertia import (
    check_inertias,
    look_for_missing_masses,
    lump,
    massless_coordinates,
)
from kron_dynamics.model.joint_kinds import SECTION
from kron_dynamics.model.magnitudes import look_at_magnitudes
from kron_dynamics.model.options import ModelOptions
from kron_dynamics.model.payload import with_payloads
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.model.robot_model import (
    NO_COORDINATE,
    STANDARD_GRAVITY,
    Body,
    Frame,
    Joint,
    read_only,
)
from kron_dynamics.model.transmissions import moving_rotors
from kron_dynamics.model.tree import find_root, placement, settle_kinds, walk
from kron_dynamics.model.urdf import ParsedUrdf, parse_urdf
from kron_dynamics.reproducible import norm, product
from kron_dynamics.typing import ArrayLike, FloatArray

if TYPE_CHECKING:
    from typing import Unpack

_Part = tuple[str, Body, FloatArray, FloatArray]
# For a section of a flexible link, which moves with the link's modal coordinates.
_NO_FOLLOWER = Follower(coordinate=NO_COORDINATE, multiplier=0.0, offset=0.0, mimics=None)
# Difference of gravity accelerations that is no other rounding of the standard one, m/s^2.
_OTHER_GRAVITY = 0.02
# Component of an axis above which the squared norm may overflow.
_SQUARE_OVERFLOWS = 1e150


def load_model(
    text: str, *, findings: Findings | None = None, **options: Unpack[ModelOptions]
) -> RigidModel:
    """Return the model that a URDF text describes.

    Args:
        text: URDF.
        findings: collects warnings and errors; if given, its `strict` and `allow` replace those
            of the options.
        **options: see `ModelOptions`.

    Raises:
        ModelError: the equations cannot be evaluated for this description, or it has a warning
            that `strict` makes an error; the message names link or joint.
        ParameterError: a kind of warning in `allow` is unknown.
    """
    return described_model(text, findings=findings, **options)[1]


def described_model(
    text: str,
    *,
    findings: Findings | None = None,
    bending: Collection[str] = (),
    **options: Unpack[ModelOptions],
) -> tuple[ParsedUrdf, RigidModel]:
    """Return the parsed URDF text and the rigid model that it describes; see `load_model`.

    Links named in `bending` will be flexible.
    """
    if findings is None:
        findings = Findings(options.get('strict', False), options.get('allow', ()))
    parsed = parse_urdf(text, findings)
    root = find_root(parsed.robot, findings)
    settle_kinds(parsed.robot, root, options.get('hold_base', False), findings)
    rotors = moving_rotors(parsed.armature, parsed.robot.joints, findings)
    parsed = parsed._replace(armature=rotors)
    parsed = with_payloads(parsed, options.get('payload') or {}, bending)
    model = build_model(parsed, options, findings)
    look_at_inertias(model, parsed, findings, bending)
    look_at_magnitudes(model, parsed, findings)
    _look_at_gravity(model, parsed, findings)
    return parsed, replace(model, warnings=findings.finish())


def _look_at_gravity(model: RigidModel, parsed: ParsedUrdf, findings: Findings) -> None:
    """Warn if an SDF has another gravity than the standard one, and none was given."""
    given = parsed.gravity
    if given is None or not np.array_equal(model.gravity, STANDARD_GRAVITY):
        return
    if norm(given - model.gravity) > _OTHER_GRAVITY:
        findings.warn(
            'other_gravity',
            'SDF',
            f'<gravity> of the world is {given.tolist()} m/s^2, which is not read: '
            f'{model.gravity.tolist()} is used',
            'give the gravity acceleration to kd.load or in the parameters gravity.x, .y and .z',
        )


def build_model(
    parsed: ParsedUrdf, options: ModelOptions, findings: Findings | None = None
) -> RigidModel:
    """Return the model of a parsed URDF, without a check of its inertias; see `load_model`."""
    findings = Findings() if findings is None else findings
    robot = parsed.robot
    root = find_root(robot)
    moving = [joint for joint, _ in walk(robot, root) if joint.type != 'fixed']
    still = {joint.name for joint in robot.joints if joint.type == 'fixed'}
    names, followers = assign_coordinates(moving, options.get('joints'), still, findings)
    if not names:
        raise ModelError(f'{named("robot", robot.name)} has no moving joints')
    axes = {joint.name: _axis(joint, findings) for joint in moving}
    armature = {**parsed.armature, **(options.get('armature') or {})}
    properties = coordinate_properties(moving, names, followers, armature, findings)
    with np.errstate(over='ignore', invalid='ignore'):
        tree, bodies, frames = _lumped(parsed, root, followers, axes)
        _refuse_overflow(bodies, frames)
    frames = {name: frame for name, frame in frames.items() if name not in parsed.payloads}
    return RigidModel(
        name=robot.name,
        joints=tuple(tree),
        bodies=bodies,
        frames=frames,
        joint_names=names,
        root_link=root,
        tip_link=_farthest_link(frames, tree),
        gravity=_gravity(options.get('gravity', STANDARD_GRAVITY)),
        **properties._asdict(),
    )


def _lumped(
    parsed: ParsedUrdf,
    root: str,
    followers: Mapping[str, Follower],
    axes: Mapping[str, FloatArray],
) -> tuple[list[Joint], tuple[Body, ...], dict[str, Frame]]:
    """Return the moving joints, their lumped bodies, and the frame of each link on its body."""
    at_origin = Frame(-1, read_only(np.eye(3)), read_only(np.zeros(3)))
    frames = {root: at_origin}
    tree: list[Joint] = []
    parts: list[list[_Part]] = []
    for joint, link in walk(parsed.robot, root):
        base = frames[joint.parent]
        rotation, translation = placement(joint.origin)
        if base.rotation is not at_origin.rotation:
            rotation = read_only(product(base.rotation, rotation))
            translation = read_only(product(base.rotation, translation) + base.translation)
        if joint.type == 'fixed' and joint.name not in parsed.sections:
            frames[link.name] = frame = Frame(base.body, rotation, translation)
        else:
            follower = followers.get(joint.name, _NO_FOLLOWER)
            tree.append(
                Joint(
                    name=joint.name,
                    kind=joint.type if joint.type != 'fixed' else SECTION,
                    parent=base.body,
                    rotation=rotation,
                    translation=translation,
                    axis=axes[joint.name] if joint.type != 'fixed' else read_only(np.zeros(3)),
                    coordinate=follower.coordinate,
                    multiplier=follower.multiplier,
                    offset=follower.offset,
                    mimics=follower.mimics,
                    pitch=parsed.pitches.get(joint.name, 0.0),
                )
            )
            parts.append([])
            frame = Frame(len(tree) - 1, at_origin.rotation, at_origin.translation)
            frames[link.name] = frame
        body = link_body(link)
        if body is not None and frame.body >= 0:
            parts[frame.body].append((link.name, body, frame.rotation, frame.translation))
    return tree, tuple(lump(part) for part in parts), frames


def _refuse_overflow(bodies: Sequence[Body], frames: Mapping[str, Frame]) -> None:
    """Refuse positions, masses and inertias that overflow in sums and products."""
    for name, frame in frames.items():
        if not all(map(math.isfinite, frame.translation.tolist())):
            raise ModelError(f'{named("link", name)} is at {frame.translation.tolist()} m')
    masses = np.array([body.mass for body in bodies])
    arms = np.array([body.center_of_mass for body in bodies])
    moments = np.array([body.inertia for body in bodies])
    largest = masses * (1 + np.square(arms).sum(axis=1)) + np.abs(moments).sum(axis=(1, 2))
    for k in map(int, np.flatnonzero(~np.isfinite(largest))):
        raise InvalidInertiaError(
            f'links {listed(map(repr, bodies[k].links))}: mass and inertia about the joint are '
            f'not finite numbers'
        )


def _gravity(gravity: ArrayLike) -> FloatArray:
    try:
        vector = np.asarray(gravity, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f'gravity is {gravity!r}, expected three finite numbers') from None
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ModelError(f'gravity is {vector.tolist()}, expected three finite numbers')
    return read_only(vector)


def _axis(joint: urdf.Joint, findings: Findings) -> FloatArray:
    given = (1.0, 0.0, 0.0) if joint.axis is None else joint.axis
    axis, largest = np.array(given, dtype=float), max(map(abs, given))
    if largest > _SQUARE_OVERFLOWS:
        axis = axis / largest
    length = norm(axis)
    subject = named('joint', joint.name)
    if length < 1e-6:
        findings.refuse(
            ModelError(f'{subject} has the axis {axis.tolist()}, expected a direction')
        )
        return axis
    if abs(length - 1) > 1e-3 or largest > _SQUARE_OVERFLOWS:
        findings.warn(
            'axis_not_unit',
            subject,
            f'its axis {joint.axis} is no unit vector; its direction is taken',
            'scale it to length 1',
        )
    return read_only(axis / length)


def link_body(link: urdf.Link) -> Body | None:
    """Return a link's own inertia in the link's frame; None if the URDF gives none."""
    if link.inertial is None:
        return None
    tensor = np.array(link.inertial.inertia.to_matrix(), dtype=np.float64)
    rotation, center = placement(link.inertial.origin)
    if link.inertial.origin is not None and any(link.inertial.origin.rpy or ()):
        tensor = product(product(rotation, tensor), rotation.T)
    return Body(float(link.inertial.mass), center, read_only(tensor))


def look_at_inertias(
    model: RigidModel, parsed: ParsedUrdf, findings: Findings, bending: Collection[str] = ()
) -> None:
    """Look for inconsistent masses and inertias, and for joints that move no mass."""
    root = parsed.robot.link_map[model.root_link]
    still = root.name not in bending
    if still and root.inertial is not None and root.inertial.mass:
        findings.warn(
            'root_inertia',
            named('link', root.name),
            f'it is the root, which stands still: its {root.inertial.mass:g} kg have no effect',
            'nothing needs to be done if the base is fixed',
        )
    links = [link for link in parsed.robot.links if link is not root or not still]
    check_inertias(links, findings)
    moving = {name for name, frame in model.frames.items() if frame.body >= 0}
    look_for_missing_masses([link for link in parsed.robot.links if link.name in moving], findings)
    findings.settle()
    massless = set(massless_coordinates(model.joints, model.bodies, model.armature))
    for joint in model.independent_joints:
        if joint.coordinate in massless:
            how = 'turning' if joint.motion.turns else 'sliding'
            findings.warn(
                'massless_joint',
                named('joint', joint.name),
                f'it moves no mass: neither its child link nor anything mounted on it resists the '
                f'{how}; M is singular and there is no forward dynamics',
                'give the link a mass and an inertia, or the joint an armature',
            )


def _farthest_link(frames: dict[str, Frame], tree: Sequence[Joint]) -> str:
    """Return the link moved by the most joints; of several, the last in the tree's order."""
    depths = [0] * (len(tree) + 1)  # the base's is the last
    for k, joint in enumerate(tree):
        depths[k] = depths[joint.parent] + 1
    return max(reversed(frames), key=lambda name: depths[frames[name].body])
