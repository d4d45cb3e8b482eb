# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Generalized coordinates: which joints own one, which follow, and what limits they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.exceptions import ModelError
from kron_dynamics.model.robot_model import read_only
from kron_dynamics.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Follower:
    """How a joint's position depends on a coordinate's: multiplier * q[coordinate] + offset."""

    coordinate: int
    multiplier: float
    offset: float
    mimics: str | None


def assign_coordinates(
    joints: Sequence[urdf.Joint], order: Sequence[str] | None
) -> tuple[tuple[str, ...], dict[str, Follower]]:
    """Return the names of the independent joints and, by name, what moves each joint.

    Args:
        joints: the moving joints, mimic joints included.
        order: the coordinates' order wanted; None takes the joints as they come.

    Raises:
        ModelError: a mimic joint follows an unknown, fixed or circular master, or `order` is not
            exactly the independent joints.
    """
    by_name = {joint.name: joint for joint in joints}
    independent = tuple(joint.name for joint in joints if joint.mimic is None)
    if order is not None:
        if len(order) != len(independent) or set(order) != set(independent):
            raise ModelError(
                f'joints= names {list(order)}, expected each of {list(independent)} once'
            )
        independent = tuple(order)
    followers = {}
    for joint in joints:
        multiplier, offset, master = 1.0, 0.0, joint
        seen = [joint.name]
        while master.mimic is not None:
            step, shift = _mimic_numbers(master.mimic)
            multiplier, offset = multiplier * step, multiplier * shift + offset
            if master.mimic.joint not in by_name:
                raise ModelError(
                    f"joint '{master.name}' mimics '{master.mimic.joint}', which is not a moving "
                    f'joint of this robot'
                )
            master = by_name[master.mimic.joint]
            if master.name in seen:
                raise ModelError(f'mimic joints follow each other in a circle: {seen}')
            seen.append(master.name)
        followers[joint.name] = Follower(
            coordinate=independent.index(master.name),
            multiplier=multiplier,
            offset=offset,
            mimics=None if joint.mimic is None else master.name,
        )
    return independent, followers


def _mimic_numbers(mimic: urdf.JointMimic) -> tuple[float, float]:
    multiplier = 1.0 if mimic.multiplier is None else float(mimic.multiplier)
    offset = 0.0 if mimic.offset is None else float(mimic.offset)
    return multiplier, offset


@dataclass(frozen=True, slots=True, eq=False)
class CoordinateProperties:
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
    followers: dict[str, Follower],
    armature: Mapping[str, float],
) -> CoordinateProperties:
    """Return limits of the independent joints, friction and armature with the mimic joints' share.

    A mimic joint with ratio r turns r times as fast, so its viscous friction and its armature
    weigh r^2 and its Coulomb friction abs(r) on the coordinate (equal power).

    Raises:
        ModelError: lower above upper, a negative limit, friction or armature, or an armature for
            a joint that does not move.
    """
    by_name = {joint.name: joint for joint in joints}
    limits = np.array([_limits(by_name[name]) for name in names]).reshape(-1, 4).T
    damping, friction = np.zeros(len(names)), np.zeros(len(names))
    for joint in joints:
        follower = followers[joint.name]
        viscous, coulomb = _friction(joint)
        damping[follower.coordinate] += follower.multiplier**2 * viscous
        friction[follower.coordinate] += abs(follower.multiplier) * coulomb
    rotors = np.zeros(len(names))
    for name, inertia in armature.items():
        if name not in followers:
            raise ModelError(
                f"armature is given for '{name}', expected one of the moving joints "
                f'{", ".join(followers)}'
            )
        if not 0.0 <= inertia < np.inf:
            raise ModelError(f"joint '{name}' has armature {inertia:g}, expected >= 0")
        rotors[followers[name].coordinate] += followers[name].multiplier ** 2 * inertia
    return CoordinateProperties(*map(read_only, (*limits, damping, friction, rotors)))


def _limits(joint: urdf.Joint) -> tuple[float, float, float, float]:
    """Lower, upper, velocity, effort; infinite where the URDF sets none."""
    limit = joint.limit
    if limit is None:
        if joint.type != 'continuous':
            raise ModelError(f"joint '{joint.name}' is {joint.type} but has no <limit>")
        return -np.inf, np.inf, np.inf, np.inf
    for key in ('velocity', 'effort'):
        if getattr(limit, key) < 0:
            raise ModelError(
                f"joint '{joint.name}' has {key} limit {getattr(limit, key):g}, expected >= 0"
            )
    if joint.type == 'continuous':
        return -np.inf, np.inf, limit.velocity, limit.effort
    if limit.lower > limit.upper:
        raise ModelError(
            f"joint '{joint.name}' has lower limit {limit.lower:g} above its upper limit "
            f'{limit.upper:g}'
        )
    return limit.lower, limit.upper, limit.velocity, limit.effort


def _friction(joint: urdf.Joint) -> tuple[float, float]:
    """Viscous and Coulomb friction of one joint."""
    if joint.dynamics is None:
        return 0.0, 0.0
    viscous, coulomb = joint.dynamics.damping or 0.0, joint.dynamics.friction or 0.0
    for key, value in (('damping', viscous), ('friction', coulomb)):
        if value < 0:
            raise ModelError(f"joint '{joint.name}' has {key} {value:g}, expected >= 0")
    return viscous, coulomb
