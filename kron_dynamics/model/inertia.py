# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Masses and inertias: what a real body can have, and how bodies fixed together add up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kron_dynamics.exceptions import InvalidInertiaError
from kron_dynamics.model.robot_model import Body, read_only
from kron_dynamics.typing import FloatArray, ScalarArray

# Relative to the largest principal moment. CAD exports round to three or four digits, and a thin
# plate (izz = ixx + iyy exactly) then misses the triangle inequality by that rounding.
_TOLERANCE = 1e-3
# Square of a radius of gyration, m^2, below which an inertia is rounding: one micrometre.
_NEGLIGIBLE = 1e-12


def check_inertia(link: str, mass: float, inertia: FloatArray) -> None:
    """Refuse a mass or inertia that no distribution of matter has.

    Args:
        link: name for the message.
        mass: kg.
        inertia: shape (3, 3), about the centre of mass, kg m^2.

    Raises:
        InvalidInertiaError: negative mass, negative principal moment, or a principal moment
            larger than the sum of the other two.
    """
    if mass < 0:
        raise InvalidInertiaError(f"link '{link}' has mass {mass:g} kg, expected >= 0")
    principal = np.asarray(np.linalg.eigvalsh(inertia), dtype=np.float64)
    slack = _TOLERANCE * abs(principal).max() + _NEGLIGIBLE * max(mass, 1e-6)
    if principal[0] < -slack:
        raise InvalidInertiaError(
            f"link '{link}' has an inertia that is not positive semi-definite: principal moments "
            f'{_format(principal)} kg m^2'
        )
    if principal[2] > principal[0] + principal[1] + slack:
        raise InvalidInertiaError(
            f"link '{link}' has an inertia that violates the triangle inequality: principal "
            f'moments {_format(principal)} kg m^2, the largest exceeds the sum of the others'
        )


def _format(principal: FloatArray) -> str:
    return '(' + ', '.join(f'{moment:.6g}' for moment in principal) + ')'


def rotational_inertia(second_moment: ScalarArray) -> ScalarArray:
    """Return tr(S) E - S, shape (3, 3), kg m^2: the inertia that S = int r r^T dm is.

    Args:
        second_moment: S, shape (3, 3), kg m^2; the inertia is about the same point.
    """
    trace: ScalarArray = np.trace(second_moment) * np.eye(3, dtype=int)
    return trace - second_moment


def resists_turning(body: Body, axis: FloatArray) -> bool:
    """Return whether a body has inertia about an axis through its frame's origin.

    Args:
        body: the body.
        axis: unit vector, shape (3,), body frame.
    """
    return bool(axis @ rotational_inertia(body.second_moment) @ axis > _NEGLIGIBLE * body.mass)


def lump(parts: Sequence[tuple[str, Body, FloatArray, FloatArray]]) -> Body:
    """Return one body for several that are fixed together.

    Args:
        parts: (link name, body, rotation (3, 3), translation (3,)) of each part, the placement
            being that of the part's frame in the common frame.
    """
    mass = sum(body.mass for _, body, _, _ in parts)
    placed = [(body, R, R @ body.center_of_mass + p) for _, body, R, p in parts]
    if mass > 0:
        center = sum((body.mass * c for body, _, c in placed), np.zeros(3)) / mass
    else:
        center = np.zeros(3)
    inertia = np.zeros((3, 3))
    for body, R, c in placed:
        r = c - center
        inertia += R @ body.inertia @ R.T + body.mass * (r @ r * np.eye(3) - np.outer(r, r))
    return Body(
        mass=float(mass),
        center_of_mass=read_only(center),
        inertia=read_only(inertia),
        links=tuple(name for name, _, _, _ in parts),
    )
