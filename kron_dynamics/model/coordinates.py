# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Generalized coordinates: independent and mimic joints, limits, friction and armature."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.exceptions import ModelError
from kron_dynamics.messages import clipped, listed, named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.joint_properties import joint_friction, joint_limits
from kron_dynamics.model.mimic_limits import look_for_limits_of_mimic
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.typing import FloatArray


class Follower(NamedTuple):
    """Position of a joint as a function of a coordinate: multiplier * q[coordinate] + offset.

    Attributes:
        coordinate: index of the coordinate.
        multiplier: joint position per unit of the coordinate.
        offset: joint position at coordinate zero, rad or m.
        mimics: name of the independent (or fixed) master joint; None for an independent joint.
    """

    coordinate: int
    multiplier: float
    offset: float
    mimics: str | None


def assign_coordinates(
    joints: Sequence[urdf.Joint],
    order: Sequence[str] | None,
    still: Collection[str] = (),
    findings: Findings | None = None,
) -> tuple[tuple[str, ...], dict[str, Follower]]:
    """Return the names of the independent joints, and the follower of each joint by name.

    Args:
        joints: the moving joints, mimic joints included.
        order: order of the coordinates by joint name; None keeps the order of `joints`.
        still: names of the fixed joints; a joint that mimics one is constant at its offset.
        findings: collects warnings and errors.

    Raises:
        ModelError: mimic joints form a cycle, a multiplier or offset overflows, or `order` is not
            a permutation of the independent joints.
    """
    findings = Findings() if findings is None else findings
    by_name = {joint.name: joint for joint in joints}
    known = by_name.keys() | still
    for joint in joints:
        _forget_unknown_master(joint, known, findings)
    independent = tuple(joint.name for joint in joints if joint.mimic is None)
    if order is not None:
        if len(order) != len(independent) or set(order) != set(independent):
            raise ModelError(
                f'joints= names [{listed(map(repr, order))}], expected each of '
                f'[{listed(map(repr, independent))}] once'
            )
        independent = tuple(order)
    found = {
        name: Follower(coordinate, 1.0, 0.0, None) for coordinate, name in enumerate(independent)
    }
    for joint in joints:
        # Walk up the masters to a known joint, then resolve the chain backwards: each joint once.
        chain = []
        while joint.name not in found:
            found[joint.name] = _FOLLOWED
            chain.append(joint)
            master = joint.mimic.joint
            if master in by_name:
                joint = by_name[master]
                continue
            found[joint.name] = _standing_still(joint, findings)
            chain.pop()
        if found[joint.name] is _FOLLOWED:
            names = listed(repr(link.name) for link in chain)
            findings.refuse(ModelError(f'mimic joints follow each other in a circle: [{names}]'))
        for follower in reversed(chain):
            found[follower.name] = _followed(follower, found[follower.mimic.joint], findings)
    findings.settle()
    return independent, {joint.name: found[joint.name] for joint in joints}


# Markers of a joint that is being resolved, and of one whose resolution failed.
_FOLLOWED = Follower(coordinate=0, multiplier=0.0, offset=0.0, mimics=None)
_LOST = Follower(coordinate=0, multiplier=0.0, offset=0.0, mimics=None)


def _forget_unknown_master(joint: urdf.Joint, known: Collection[str], findings: Findings) -> None:
    """Make a joint independent whose master does not exist, with a warning."""
    if joint.mimic is not None and joint.mimic.joint not in known:
        findings.warn(
            'mimic_of_unknown',
            named('joint', joint.name),
            f"it mimics '{clipped(joint.mimic.joint)}', which is not a joint of this robot; it is "
            f'used as an independent joint',
            'name an existing joint, or remove <mimic>',
        )
        joint.mimic = None


def _standing_still(joint: urdf.Joint, findings: Findings) -> Follower:
    """Return the constant follower of a joint whose master is fixed, with a warning."""
    findings.warn(
        'mimic_of_fixed',
        named('joint', joint.name),
        f"it mimics '{clipped(joint.mimic.joint)}', which is fixed: it stands still at "
        f'{joint.mimic.offset:g}',
        'make it fixed too, or name a joint that moves',
    )
    return Follower(0, 0.0, joint.mimic.offset, joint.mimic.joint)


def _followed(joint: urdf.Joint, master: Follower, findings: Findings) -> Follower:
    """Return the follower of a mimic joint whose master has been resolved."""
    multiplier = joint.mimic.multiplier * master.multiplier
    offset = joint.mimic.multiplier * master.offset + joint.mimic.offset
    # Viscous friction and armature scale with the square of the multiplier.
    if not (math.isfinite(multiplier * multiplier) and math.isfinite(offset)):
        findings.refuse(
            ModelError(
                f'{named("joint", joint.name)} mimics with the multiplier {multiplier:g} and the '
                f'offset {offset:g}, expected numbers whose squares are finite'
            )
        )
        return _LOST
    return Follower(master.coordinate, multiplier, offset, master.mimics or joint.mimic.joint)


class CoordinateProperties(NamedTuple):
    """Limits, friction and armature, arrays of shape (n,) named as in `RobotModel`."""

    position_lower: FloatArray
    position_upper: FloatArray
    velocity_limit: FloatArray
    effort_limit: FloatArray
    damping: FloatArray
    friction: FloatArray
    armature: FloatArray


def coordinate_properties(
    joints: Sequence[urdf.Joint],
    names: Sequence[str],
    followers: Mapping[str, Follower],
    armature: Mapping[str, float],
    findings: Findings | None = None,
) -> CoordinateProperties:
    """Return limits of the independent joints, friction and armature with the mimic joints' share.

    Limits of mimic joints are not used; that they would be narrower is a warning.

    A mimic joint with multiplier r turns r times as fast, so its viscous friction and its armature
    count r^2 times and its Coulomb friction abs(r) times on the coordinate (equal power).

    Raises:
        ModelError: an armature is negative or belongs to a joint that does not move, or a sum
            overflows.
    """
    findings = Findings() if findings is None else findings
    limits = {joint.name: joint_limits(joint, findings) for joint in joints if joint.mimic is None}
    damping, friction = np.zeros(len(names)), np.zeros(len(names))
    with np.errstate(over='ignore', invalid='ignore'):
        for joint in joints:
            follower = followers[joint.name]
            if follower.mimics in limits:
                look_for_limits_of_mimic(joint, follower, limits[follower.mimics], findings)
            viscous, coulomb = joint_friction(joint, findings)
            damping[follower.coordinate] += follower.multiplier**2 * viscous
            friction[follower.coordinate] += abs(follower.multiplier) * coulomb
        rotors = _rotors(armature, followers, len(names), findings)
    for what, values in (('damping', damping), ('friction', friction), ('armature', rotors)):
        for k in np.flatnonzero(~np.isfinite(values)):
            subject = named('joint', names[int(k)])
            findings.refuse(ModelError(f'{subject} has {what} that sums up to {values[k]}'))
    findings.settle()
    table = np.array([limits[name] for name in names]).reshape(-1, 4).T
    return CoordinateProperties(*map(read_only, (*table, damping, friction, rotors)))


def _rotors(
    armature: Mapping[str, float],
    followers: Mapping[str, Follower],
    count: int,
    findings: Findings,
) -> FloatArray:
    rotors = np.zeros(count)
    for name, inertia in armature.items():
        if name not in followers:
            findings.refuse(
                ModelError(
                    f"armature is given for '{clipped(name)}', expected one of the moving joints "
                    f'{listed(followers)}'
                )
            )
        elif not 0.0 <= inertia < np.inf:
            findings.refuse(
                ModelError(f'{named("joint", name)} has armature {inertia:g}, expected >= 0')
            )
        else:
            rotors[followers[name].coordinate] += followers[name].multiplier ** 2 * inertia
    return rotors
