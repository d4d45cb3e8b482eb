# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of <equality> in MJCF as constraints between links or joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from kron_dynamics.constraints.constraint import Constraint
from kron_dynamics.constraints.couplings import Coupling, PolynomialCoupling, PrescribedMotion
from kron_dynamics.constraints.formats.mjcf_bodies import WORLD, MjcfBodies
from kron_dynamics.constraints.formats.mjcf_orientations import quaternion_rotation
from kron_dynamics.constraints.loops import Attachment, PointLoop, WeldLoop
from kron_dynamics.model.poses import pose_of
from kron_dynamics.model.xml_nodes import Node
from kron_dynamics.reproducible import product
from kron_dynamics.typing import FloatArray

_LINEAR = 2  # number of coefficients of a linear polynomial, which is a gear


def _sides(
    node: Node, bodies: MjcfBodies, ends: Callable[[str, str], tuple[FloatArray, FloatArray]]
) -> tuple[Attachment, Attachment]:
    """Return the frames on both bodies: of two sites, or from `ends` of the two bodies' names."""
    if node.text('site1') is not None or node.text('site2') is not None:
        if node.text('body1') is not None or node.text('anchor') is not None:
            raise node.error('has sites and a body or an anchor, expected one of both')
        return bodies.site(node, 'site1'), bodies.site(node, 'site2')
    one, other = bodies.body(node, 'body1'), bodies.body(node, 'body2', WORLD)
    first, second = ends(one, other)
    return bodies.frame(one, first), bodies.frame(other, second)


def _connect(node: Node, name: str, bodies: MjcfBodies) -> Constraint:
    def ends(one: str, other: str) -> tuple[FloatArray, FloatArray]:
        anchor = node.numbers('anchor', 3)
        if anchor is None:
            raise node.error("has no attribute 'anchor'")
        there = product(bodies.between(other, one), [*anchor, 1.0])
        return pose_of(np.eye(3), anchor), pose_of(np.eye(3), there[:3])

    a, b = (Attachment(side.link, side.point) for side in _sides(node, bodies, ends))
    return PointLoop(name, a, b)


def _weld(node: Node, name: str, bodies: MjcfBodies) -> Constraint:
    scale = node.numbers('torquescale', 1)
    if scale is not None and scale[0] == 0.0:
        raise node.error('has torquescale 0, which leaves it free to turn, expected a <connect>')

    def ends(one: str, other: str) -> tuple[FloatArray, FloatArray]:
        given, relpose = node.numbers('anchor', 3), node.numbers('relpose', 7)
        anchor = pose_of(np.eye(3), np.zeros(3) if given is None else given)
        if relpose is None or not relpose[3:].any():
            return product(bodies.between(one, other), anchor), anchor
        # relpose is the pose of body2's anchor, not of its origin, in body1.
        return pose_of(quaternion_rotation(relpose[3:]), relpose[:3]), anchor

    return WeldLoop(name, *_sides(node, bodies, ends))


def _joint(node: Node, name: str, bodies: MjcfBodies) -> Constraint:
    y = bodies.joint(node, 'joint1')
    given = node.numbers('polycoef')
    c = [0.0, 1.0] if given is None else given.tolist()
    if len(c) > 5:
        raise node.error(f'has {len(c)} numbers as polycoef, expected up to 5')
    c = [*c, *[0.0, 1.0][len(c) :]]  # missing coefficients have their defaults
    offset, joint = y.position + c[0], node.need('joint1')
    if node.text('joint2') is None:
        return PrescribedMotion(name, joint, offset, unit=y.unit)
    x, driver = bodies.joint(node, 'joint2'), node.need('joint2')
    if any(c[_LINEAR:]):
        return PolynomialCoupling(
            name, joint, driver, (offset, *c[1:]), about=x.position, unit=y.unit
        )
    if c[1] == 0.0:
        return PrescribedMotion(name, joint, offset, unit=y.unit)
    ratios = {joint: 1.0, driver: -c[1]}
    return Coupling(name, ratios, signal=offset - c[1] * x.position, unit=y.unit)


EQUALITIES: Mapping[str, Callable[[Node, str, MjcfBodies], Constraint]] = {
    'connect': _connect,
    'weld': _weld,
    'joint': _joint,
}
