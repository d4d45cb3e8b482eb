# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads: additional bodies fixed to links of a URDF."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.arguments import finite_array, real_number
from kron_dynamics.exceptions import InvalidInertiaError, ModelError, ShapeError
from kron_dynamics.messages import clipped, listed, named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.inertia import check_inertias
from kron_dynamics.model.magnitudes import reach_of
from kron_dynamics.model.robot_model import RobotModel, read_only
from kron_dynamics.model.tree import find_root, walk
from kron_dynamics.model.urdf import ParsedUrdf
from kron_dynamics.typing import ArrayLike, FloatArray

# Allowed asymmetry of an inertia relative to its largest entry: rounding of printed numbers.
_SYMMETRIC = 1e-6
# Largest plausible distance of a payload's centre of mass from its link, and radius of gyration,
# in multiples of the robot's reach; numbers in mm are a thousand times too large.
_FAR = 10.0
# Suffix of the names of the links that payloads become.
_PAYLOAD = '/payload'


@dataclass(frozen=True, slots=True, eq=False)
class RigidPayload:
    """A rigid body that a link carries.

    Attributes:
        mass: kg, 0 or more.
        center_of_mass: shape (3,), in the link's frame, m.
        inertia: shape (3, 3), about the payload's centre of mass, in the link's axes, kg m^2;
            must be 0 without mass.
    """

    mass: float
    center_of_mass: FloatArray = field(default_factory=lambda: np.zeros(3))
    inertia: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))

    def __post_init__(self) -> None:
        """Convert to read-only arrays and check them.

        Raises:
            ArgumentTypeError: a value is not a real number.
            ShapeError: an array has another shape.
            NonFiniteError: a number is NaN or infinite.
            InvalidInertiaError: the mass is negative, or 0 with an inertia; or the inertia is not
                symmetric, or overflows.
        """
        object.__setattr__(
            self, 'mass', float(finite_array(real_number(self.mass, 'mass'), 'mass'))
        )
        for name, shape in (('center_of_mass', (3,)), ('inertia', (3, 3))):
            values = finite_array(getattr(self, name), name)
            if values.shape != shape:
                raise ShapeError(f'{name} has shape {values.shape}, expected {shape}')
            object.__setattr__(self, name, read_only(values))
        if self.mass < 0.0:
            raise InvalidInertiaError(f'mass is {self.mass:g} kg, expected >= 0')
        off = np.abs(self.inertia - self.inertia.T).max()
        if off > _SYMMETRIC * np.abs(self.inertia).max():
            raise InvalidInertiaError(f'inertia is not symmetric: {self.inertia.tolist()} kg m^2')
        if self.mass == 0.0 and self.inertia.any():
            raise InvalidInertiaError('a payload without mass has an inertia, expected none')
        with np.errstate(over='ignore', invalid='ignore'):
            reaching = self.mass * (1.0 + self.center_of_mass @ self.center_of_mass)
            largest = reaching + np.abs(self.inertia).sum()
        if not np.isfinite(largest):
            raise InvalidInertiaError(
                f'mass {self.mass:g} kg and centre of mass {self.center_of_mass.tolist()} m: the '
                f'inertia about the link is not finite'
            )

    @property
    def second_moment(self) -> FloatArray:
        """Integral of r r^T dm about the link's origin, shape (3, 3), link axes, kg m^2."""
        c = self.center_of_mass
        centered: FloatArray = np.trace(self.inertia) / 2 * np.eye(3) - self.inertia
        return centered + self.mass * np.outer(c, c)


# A point mass at the link's origin, kg; (mass, position in the link's frame, (3,), m); or a body.
Payload: TypeAlias = float | tuple[float, ArrayLike] | RigidPayload


def rigid_payload(link: str, payload: Payload) -> RigidPayload:
    """Return the payload of a link as a checked `RigidPayload`.

    Raises:
        ModelError: the value is not a payload; the message names the link.
        InvalidInertiaError: a mass is negative.
    """
    if isinstance(payload, RigidPayload):
        return payload
    mass, place = _mass_and_place(link, payload)
    try:
        return RigidPayload(mass, place)
    except InvalidInertiaError as error:
        raise InvalidInertiaError(f"payload: link '{clipped(link)}': {error}") from None


def look_at_payload(
    model: RobotModel, link: str, payload: RigidPayload, findings: Findings
) -> None:
    """Look for an inconsistent inertia, and for numbers that are probably not in SI units.

    Args:
        model: the robot.
        link: name of the link that carries the payload.
        payload: the payload.
        findings: collects warnings.
    """
    check_inertias([_as_link(f'{link}{_PAYLOAD}', payload)], findings)
    reach, subject = reach_of(model), named('link', f'{link}{_PAYLOAD}')
    off = float(np.linalg.norm(payload.center_of_mass))
    if off > _FAR * reach > 0:
        findings.warn(
            'payload_far',
            subject,
            f'its centre of mass is {off:.3g} m from the link, {off / reach:.3g} times as far as '
            f'the robot reaches',
            'give the centre of mass in m and in the frame of the link',
        )
    trace = max(float(np.trace(payload.inertia)), 0.0)
    gyration = float(np.sqrt(trace / 2 / payload.mass)) if payload.mass else 0.0
    if gyration > _FAR * reach > 0:
        findings.warn(
            'payload_inertia',
            subject,
            f'its radius of gyration is {gyration:.3g} m, {gyration / reach:.3g} times as far as '
            f'the robot reaches',
            'give the inertia in kg m^2',
        )


def _as_link(name: str, payload: RigidPayload) -> urdf.Link:
    xx, xy, xz, _, yy, yz, _, _, zz = payload.inertia.ravel().tolist()
    inertia = urdf.Inertia(ixx=xx, ixy=xy, ixz=xz, iyy=yy, iyz=yz, izz=zz)
    return urdf.Link(name=name, inertial=urdf.Inertial(mass=payload.mass, inertia=inertia))


def with_payloads(
    parsed: ParsedUrdf, payload: Mapping[str, Payload], bending: Collection[str] = ()
) -> ParsedUrdf:
    """Return a URDF with payloads fixed to some of its links.

    Each payload becomes an additional link, fixed to the link that carries it. It is therefore
    lumped into a rigid body, or mounted on the beam's section of a flexible link.

    Args:
        parsed: the URDF, which is changed.
        payload: payloads by link name: a mass at the link's origin, kg; (mass, position in the
            link's frame, shape (3,), m); or a `RigidPayload`.
        bending: names of flexible links. What is fixed to them may move: when the links have been
            divided into sections, `refuse_still_payloads` tells.

    Raises:
        ModelError: a link is unknown or does not move, or a number is not finite; the message
            names the link.
        InvalidInertiaError: a mass is negative.
    """
    if not payload:
        return parsed
    robot, moving = parsed.robot, _moving_links(parsed, bending)
    names = set()
    for link, value in payload.items():
        if link not in moving:
            raise ModelError(
                f"payload: link '{clipped(str(link))}' does not exist in the URDF; its links: "
                f'{listed(moving)}'
            )
        if not moving[link]:
            raise still_payload(link)
        body = rigid_payload(link, value)
        name = f'{link}{_PAYLOAD}'
        robot.add_link(_as_link(name, body))
        origin = urdf.Pose(xyz=body.center_of_mass.tolist())
        robot.add_joint(
            urdf.Joint(name=name, parent=link, child=name, joint_type='fixed', origin=origin)
        )
        names.add(name)
    return parsed._replace(payloads=frozenset(names))


def refuse_still_payloads(parsed: ParsedUrdf) -> None:
    """Refuse payloads that neither a joint nor a section of a flexible link moves.

    Raises:
        ModelError: there is one; the message names its link.
    """
    moving = _moving_links(parsed)
    for name in sorted(parsed.payloads):
        if not moving[name]:
            raise still_payload(name.removesuffix(_PAYLOAD))


def still_payload(link: str) -> ModelError:
    """Return the error for a payload on a link that does not move."""
    return ModelError(
        f'payload: {named("link", link)} does not move, a mass on it changes nothing'
    )


def _moving_links(parsed: ParsedUrdf, bending: Collection[str] = ()) -> dict[str, bool]:
    """Return by name of the link whether a joint, a section or a flexible link moves it."""
    root = find_root(parsed.robot)
    moving = {root: root in bending}
    for joint, link in walk(parsed.robot, root):
        moves = joint.type != 'fixed' or joint.name in parsed.sections or link.name in bending
        moving[link.name] = moving[joint.parent] or moves
    return moving


def _mass_and_place(link: str, value: Any) -> tuple[float, FloatArray]:
    """Return the mass, kg, and position, shape (3,), m, of a point payload, checked."""
    given = value if isinstance(value, (tuple, list)) else (value, (0.0, 0.0, 0.0))
    try:
        mass, place = float(given[0]), np.array(given[1], dtype=np.float64)
        fits = len(given) == 2 and place.shape == (3,) and np.isfinite([mass, *place]).all()
    except (TypeError, ValueError, IndexError):
        fits = False
    if not fits:
        raise ModelError(
            f"payload: link '{link}' carries {value!r}, expected a mass in kg or (mass, place) "
            f'with a place of three numbers in m, all finite'
        )
    if mass < 0:
        raise InvalidInertiaError(
            f"payload: link '{link}' carries a mass of {mass:g} kg, expected >= 0"
        )
    return mass, place
