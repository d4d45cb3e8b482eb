# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Payloads: point masses fixed to links of a URDF, which the URDF does not know of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.exceptions import InvalidInertiaError, ModelError
from kron_dynamics.messages import clipped, listed
from kron_dynamics.model.tree import find_root, walk
from kron_dynamics.model.urdf import ParsedUrdf
from kron_dynamics.typing import ArrayLike, FloatArray

# A mass at the link's origin, kg, or (mass, place in the link's frame, shape (3,), m).
Payload: TypeAlias = float | tuple[float, ArrayLike]


def with_payloads(parsed: ParsedUrdf, payload: Mapping[str, Payload]) -> ParsedUrdf:
    """Return a URDF with point masses fixed to some of its links.

    Each is a link of its own in the tree, fixed to the link that carries it. So what a rigid body
    carries is lumped into it, and what a flexible link carries rides on the beam's section there.

    Args:
        parsed: the URDF, which is changed.
        payload: by the name of the link: kg at the link's origin, or (kg, place), the place in
            the link's frame, shape (3,), m.

    Raises:
        ModelError: a link is unknown or does not move, or a number is none; the message names the
            link.
        InvalidInertiaError: a mass is negative.
    """
    if not payload:
        return parsed
    robot = parsed.robot
    moving = {find_root(robot): False}
    for joint, link in walk(robot, find_root(robot)):
        moving[link.name] = moving[joint.parent] or joint.type != 'fixed'
    names = set()
    for link, value in payload.items():
        if link not in moving:
            raise ModelError(
                f"payload: link '{clipped(str(link))}' does not exist in the URDF; its links: "
                f'{listed(moving)}'
            )
        if not moving[link]:
            raise ModelError(f"payload: link '{link}' does not move, a mass on it changes nothing")
        mass, place = _mass_and_place(link, value)
        name = f'{link}/payload'
        inertial = urdf.Inertial(mass=mass, inertia=urdf.Inertia())
        robot.add_link(urdf.Link(name=name, inertial=inertial))
        origin = urdf.Pose(xyz=place.tolist())
        robot.add_joint(
            urdf.Joint(name=name, parent=link, child=name, joint_type='fixed', origin=origin)
        )
        names.add(name)
    return replace(parsed, payloads=frozenset(names))


def _mass_and_place(link: str, value: Any) -> tuple[float, FloatArray]:
    """The two, checked."""
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
