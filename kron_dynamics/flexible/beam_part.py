# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Separation of the beams from the rigid parts of their links in a URDF."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.dynamics.composite import Inertia
from kron_dynamics.exceptions import InvalidInertiaError, ModelError
from kron_dynamics.flexible.beams.integrals import beam_quadrature
from kron_dynamics.messages import listed, named
from kron_dynamics.model.flexible_description import FlexibleLinkDescription
from kron_dynamics.model.inertia import rotational_inertia
from kron_dynamics.model.load import link_body
from kron_dynamics.model.tree import placement
from kron_dynamics.reproducible import inner, product, symmetric_eigen
from kron_dynamics.typing import FloatArray

# Tolerance relative to mass, size and length, for the rounding of decimal numbers.
_ROUNDING = 1e-9
# The same for numbers with five digits: masses and centres.
_PRINTED = 1e-4
# Distance of a body's centre, in lengths of the beam, beyond which it is a rounding and no body.
_REMOTE = 10.0
# Tolerance relative to the beam's second moment about its centre, for inertias with two digits.
_ROUGH = 1e-2


class BeamPart(NamedTuple):
    """The beam of a link.

    Attributes:
        description: description of the link.
        mass_per_length: mass per length at the description's stations, shape (k,), kg/m.
        sections: distance from the root, m, of each section with children, by the name of the
            fixed joint that represents it.
        missing: second moment along the beam, kg m^2, by which the beam exceeds the link. It is
            subtracted from the beam, so that the undeformed link has the inertia of the URDF.
    """

    description: FlexibleLinkDescription
    mass_per_length: FloatArray
    sections: dict[str, float]
    missing: float = 0.0

    @property
    def inertia(self) -> Inertia:
        """Moments of the undeformed beam about the link's origin, link axes."""
        x, weights = beam_quadrature(self.description.stations, 1)
        dm = weights * np.interp(x, self.description.stations, self.mass_per_length)
        points = self.description.origin + np.outer(x, self.description.axis)
        second = product(points.T * dm, points)
        second -= self.missing * np.outer(self.description.axis, self.description.axis)
        return Inertia(float(dm.sum()), product(points.T, dm), second)


def take_beam(robot: urdf.Robot, description: FlexibleLinkDescription) -> BeamPart:
    """Remove a link's beam from a URDF robot in place, and return the beam.

    The link keeps the mass that is not the beam's. Its children move to new links, one for each
    section with children, fixed to the link at the section's undeformed position.

    Raises:
        ModelError: the link does not exist or has no mass, or an attachment is not its child.
        InvalidInertiaError: the beam has more mass or inertia than the link.
    """
    name = description.link
    if name not in robot.link_map:
        raise ModelError(
            f'{named("flexible link", name)} does not exist in the URDF; its links: '
            f'{listed(link.name for link in robot.links)}'
        )
    link = robot.link_map[name]
    body = link_body(link)
    mass = description.mass_per_length
    if mass is None:
        if body is None or body.mass <= 0:
            raise ModelError(
                f'{named("flexible link", name)} has no mass in the URDF to spread over its '
                f'length: mass_per_length is missing'
            )
        mass = np.full(len(description.stations), body.mass / description.length)
    whole = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
    if body is not None:
        whole = Inertia(body.mass, body.first_moment, body.second_moment)
    beam = _fitted(BeamPart(description, mass, _move_children(robot, description)), whole)
    missing = _subtract_beam(link, whole, beam.inertia, description.axis)
    return beam._replace(missing=missing)


def _fitted(beam: BeamPart, whole: Inertia) -> BeamPart:
    """Return a beam with the mass of its link if the two differ by a rounding only."""
    own = beam.inertia
    remainder = whole - own
    if not _ROUNDING * own.mass < abs(remainder.mass) <= _PRINTED * own.mass:
        return beam
    if np.abs(remainder.first).max() < _REMOTE * beam.description.length * remainder.mass:
        return beam  # a light body of its own
    return beam._replace(mass_per_length=beam.mass_per_length * (whole.mass / own.mass))


def _move_children(robot: urdf.Robot, description: FlexibleLinkDescription) -> dict[str, float]:
    """Move the children of a link to sections; return the sections' distances by name, m."""
    name, sections = description.link, dict[str, float]()
    children = [joint for joint in robot.joints if joint.parent == name]
    if unknown := set(description.attachments) - {joint.child for joint in children}:
        raise ModelError(
            f'{named("flexible link", name)}: attachments name {listed(sorted(unknown))}, '
            f'expected children of the link: {listed(joint.child for joint in children)}'
        )
    for joint in children:
        _, place = placement(joint.origin)
        x = inner(place - description.origin, description.axis)
        x = min(description.attachments.get(joint.child, x), description.length)
        if x <= _ROUNDING * description.length:
            continue  # on the rigid part, before the beam or at its root
        section = f'{name}@{x:.9g}'
        point = description.origin + x * description.axis
        if section not in sections:
            sections[section] = x
            robot.add_link(urdf.Link(name=section))
            robot.add_joint(
                urdf.Joint(
                    name=section,
                    parent=name,
                    child=section,
                    joint_type='fixed',
                    origin=urdf.Pose(xyz=point.tolist()),
                )
            )
        rpy = None if joint.origin is None else joint.origin.rpy
        joint.origin = urdf.Pose(xyz=(place - point).tolist(), rpy=rpy)
        joint.parent = section
    return sections


def _subtract_beam(link: urdf.Link, whole: Inertia, beam: Inertia, axis: FloatArray) -> float:
    """Subtract the beam's mass from a link with the given inertia, in place.

    Returns:
        the second moment along the beam by which the beam exceeds the link, kg m^2.

    Raises:
        InvalidInertiaError: the beam has more mass or inertia than the link.
    """
    remainder = whole - beam
    slack = _ROUNDING * max(whole.mass, beam.mass)
    size = np.sqrt(np.trace(beam.second) / beam.mass)
    mass, center = remainder.mass, np.zeros(3)
    if mass > slack:
        center = remainder.first / mass
    elif mass < -slack or np.abs(remainder.first).max() > _PRINTED * beam.mass * size:
        raise InvalidInertiaError(
            f'{named("flexible link", link.name)}: its beam has {beam.mass:g} kg centred at '
            f'{np.round(beam.first / beam.mass, 6).tolist()} m; that is not part of the link, '
            f'which has {whole.mass:g} kg centred at '
            f'{np.round(whole.first / (whole.mass or 1), 6).tolist()} m'
            + (f': {-mass:.3g} kg less' if mass < -slack else '')
        )
    else:
        mass = 0.0
    second = remainder.second - mass * np.outer(center, center)
    # A slender link is often described by m l^2/12 across and a small inertia about its axis. Its
    # second moment along the axis is then less than that of its own rod; this is tolerated.
    moments = np.linalg.eigvalsh(rotational_inertia(second))
    own = np.trace(beam.second) - inner(beam.first, beam.first) / beam.mass
    if moments[0] < -_ROUGH * own:
        raise InvalidInertiaError(
            f'{named("flexible link", link.name)}: its beam has more inertia than the link; the '
            f'remainder would have the moments of inertia {np.round(moments, 6).tolist()} kg m^2'
        )
    missing = max(0.0, -inner(axis, product(second, axis)))
    principal, axes = symmetric_eigen(second + missing * np.outer(axis, axis))
    inertia = rotational_inertia(product(axes * np.maximum(principal, 0), axes.T))
    entries = dict(
        zip(('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'), inertia[np.triu_indices(3)], strict=True)
    )
    link.inertial = urdf.Inertial(
        mass=float(mass),
        inertia=urdf.Inertia(**{key: float(value) for key, value in entries.items()}),
        origin=urdf.Pose(xyz=center.tolist()),
    )
    return missing
