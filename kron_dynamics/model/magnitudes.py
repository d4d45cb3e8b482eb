# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Hints about magnitudes that do not look like kg, m and kg m^2.

Rules compare numbers with others of the same robot, so that small grippers and ship cranes both
pass. They are only hints, since the numbers may be intended.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from kron_dynamics.messages import named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.geometry import Shape
from kron_dynamics.model.rigid_model import RigidModel
from kron_dynamics.model.robot_model import Body, RobotModel
from kron_dynamics.model.urdf import ParsedUrdf

# Plausible densities of a link's collision geometry, kg/m^3: from a hollow case to above platinum.
_DENSITIES = (10.0, 25000.0)
# Links with less than this share of the moving mass or of the reach are not checked: they are
# often placeholders.
_SMALL = 0.02
# Plausible moving mass over the cube of the reach, kg/m^3: robots have 1 to 300. Masses in g give
# a thousand times that, lengths in mm 1e-9 times.
_PACKED, _THIN = 2.5e3, 1e-5
# Largest plausible radius of gyration of a link, and distance of its centre of mass from its
# joint, in multiples of the robot's reach.
_GYRATION, _FAR = 10.0, 3.0


def look_at_magnitudes(model: RigidModel, parsed: ParsedUrdf, findings: Findings) -> None:
    """Look for numbers that are probably not in SI units.

    Args:
        model: the robot.
        parsed: its description.
        findings: collects hints.
    """
    reach = reach_of(model, parsed.shapes)
    if not 0 < reach < math.inf:
        return
    _look_at_densities(parsed, _SMALL * model.total_mass, _SMALL * reach, findings)
    for body in model.bodies:
        _look_at_body(body, reach, findings)
    # The size of a robot is at least the size of its largest body.
    size = max(reach, *(_gyration(body) for body in model.bodies))
    heaviest = max(model.bodies, key=lambda body: body.mass)
    packed = model.total_mass / size / size / size
    if packed > _PACKED and heaviest.links:
        findings.warn(
            'mass_magnitude',
            named('link', heaviest.links[0]),
            f'{heaviest.mass:.6g} kg are much for a robot that reaches {reach:.3g} m',
            'give masses in kg, not g',
        )
    if 0 < packed < _THIN and reach > 20:
        findings.warn(
            'length_magnitude',
            'URDF',
            f'the robot reaches {reach:.4g} m and moves {model.total_mass:.4g} kg',
            'give lengths in m, not mm',
        )


def _look_at_body(body: Body, reach: float, findings: Findings) -> None:
    if not body.links:
        return
    subject = named('link', body.links[0])
    gyration = _gyration(body)
    if gyration > _GYRATION * reach:
        findings.warn(
            'inertia_magnitude',
            subject,
            f'its radius of gyration is {gyration:.3g} m, {gyration / reach:.3g} times as far as '
            f'the robot reaches',
            'give inertias in kg m^2, not kg mm^2 or g mm^2',
        )
    off = math.hypot(*body.center_of_mass)
    if off > _FAR * reach:
        findings.warn(
            'center_of_mass_far',
            subject,
            f'its centre of mass is {off:.3g} m from its joint, {off / reach:.3g} times as far as '
            f'the robot reaches',
            'give the <origin> of <inertial> in m and in the frame of the link',
        )


def _gyration(body: Body) -> float:
    """Return an upper estimate of the radii of gyration about the centre of mass, m."""
    if body.mass <= 0:
        return 0.0
    trace = float(body.inertia[0, 0] + body.inertia[1, 1] + body.inertia[2, 2])
    return math.sqrt(max(trace, 0.0) / 2 / body.mass)


def reach_of(model: RobotModel, shapes: Mapping[str, Shape] = MappingProxyType({})) -> float:
    """Return the reach: the longest distance from the base along joints and links, m.

    Args:
        model: the robot.
        shapes: collision shapes by link name, whose sizes are added.
    """
    far = [0.0] * (len(model.joints) + 1)  # the base's is the last
    for k, joint in enumerate(model.joints):
        far[k] = far[joint.parent] + math.hypot(*joint.translation)
    reach = 0.0
    for name, frame in model.frames.items():
        extent = shapes[name].size if name in shapes else 0.0
        reach = max(reach, far[frame.body] + math.hypot(*frame.translation) + extent)
    return reach


def _look_at_densities(
    parsed: ParsedUrdf, least: float, smallest: float, findings: Findings
) -> None:
    lower, upper = _DENSITIES
    for name, shape in parsed.shapes.items():
        inertial = parsed.robot.link_map[name].inertial
        if inertial is None or inertial.mass < least or shape.size < smallest:
            continue
        density = inertial.mass / shape.volume
        if density > 0 and not lower <= density <= upper:
            findings.warn(
                'density',
                named('link', name),
                f'its {inertial.mass:.4g} kg fill the {shape.volume:.3g} m^3 of its collision '
                f'geometry with {density:.3g} kg/m^3',
                f'give kg and m; matter has {lower:g} to {upper:g} kg/m^3',
            )
