# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Masses and inertias: physical consistency, and lumping of bodies fixed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from urdf_parser_py import urdf

from kron_dynamics.exceptions import InvalidInertiaError
from kron_dynamics.messages import named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.robot_model import Body, Joint, read_only
from kron_dynamics.reproducible import inner, product
from kron_dynamics.typing import FloatArray, ScalarArray

# Tolerance of the checks, relative to the largest principal moment. CAD exports round to three or
# four digits, and a thin plate (izz = ixx + iyy exactly) then violates the triangle inequality.
_TOLERANCE = 1e-3
# Square of a radius of gyration, m^2, below which an inertia is rounding: one micrometre.
_NEGLIGIBLE = 1e-12
# Rounding error of a moment, relative to the sum of the other moments, above which it is reported.
_ACCURACY = 1e-9


def check_inertias(links: Sequence[urdf.Link], findings: Findings) -> None:
    """Look for masses and inertias that no mass distribution has.

    A negative mass is an error: it would accelerate against its force, and a model-based
    controller would push the wrong way. Inconsistent inertias are frequent in CAD exports, and
    the equations can still be evaluated, so they are a warning.
    """
    given = [link for link in links if link.inertial is not None]
    if not given:
        return
    tensors = np.array([link.inertial.inertia.to_matrix() for link in given], dtype=np.float64)
    largest = np.abs(tensors).max(axis=(1, 2))
    scales = np.where(largest > 0, largest, 1.0)
    moments = np.linalg.eigvalsh(tensors / scales[:, None, None])
    masses = np.array([link.inertial.mass for link in given], dtype=np.float64)
    slack = _TOLERANCE * np.abs(moments).max(axis=1)
    slack += _NEGLIGIBLE * np.maximum(masses, 1e-6) / scales
    negative = moments[:, 0] < -slack
    excess = moments[:, 2] - moments[:, 0] - moments[:, 1]
    for k in np.flatnonzero((masses < 0) | negative | (excess > slack)):
        subject = named('link', given[k].name)
        if masses[k] < 0:
            findings.refuse(
                InvalidInertiaError(f'{subject} has mass {masses[k]:g} kg, expected >= 0')
            )
        listing = ', '.join(f'{moment:.6g}' for moment in moments[k] * scales[k])
        if negative[k]:
            findings.warn(
                'not_positive_semidefinite',
                subject,
                f'its inertia is not positive semi-definite: principal moments ({listing}) kg m^2'
                f'{_rounding_remark(moments[k] * scales[k])}',
                'export the inertia again, about the centre of mass; signs of products of inertia '
                'may be wrong',
            )
        elif excess[k] > slack[k]:
            findings.warn(
                'triangle_inequality',
                subject,
                f'its inertia violates the triangle inequality: principal moments ({listing}) kg '
                f'm^2, the largest exceeds the sum of the others by {excess[k] * scales[k]:.3g}'
                f'{_rounding_remark(moments[k] * scales[k])}',
                'export the inertia again with more digits, or correct the moment that is off',
            )


def look_for_missing_masses(links: Sequence[urdf.Link], findings: Findings) -> None:
    """Look for inertias without a mass.

    Args:
        links: links that move: those at rest have no effect.
        findings: collects warnings.
    """
    without = {found.subject for found in findings.warnings if found.kind == 'missing_mass'}
    for link in links:
        subject = named('link', link.name)
        if link.inertial is None or link.inertial.mass != 0 or subject in without:
            continue
        largest = np.abs(np.array(link.inertial.inertia.to_matrix(), dtype=np.float64)).max()
        if largest > 0:
            findings.warn(
                'massless_inertia',
                subject,
                f'it has no mass, but an inertia of up to {largest:.3g} kg m^2, which counts',
                'give the mass in kg, or the inertia 0',
            )


def _rounding_remark(moments: FloatArray) -> str:
    """Return a remark on moments that are lost to rounding beside a dominating one; '' if none.

    The equations sum integrals of x^2, y^2 and z^2, so the rounding error of every moment is that
    of the largest.
    """
    *others, largest = sorted(np.abs(moments))
    rounding = np.finfo(float).eps * largest
    if rounding <= _ACCURACY * sum(others):
        return ''
    return f'; moments below {rounding:.1g} kg m^2 are lost in the rounding of {largest:.3g}'


def rotational_inertia(second_moment: ScalarArray) -> ScalarArray:
    """Return the inertia tr(S) E - S, with E the identity, shape (3, 3), kg m^2.

    Args:
        second_moment: S = int r r^T dm, shape (3, 3), kg m^2; the inertia is about the same point.
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


def massless_coordinates(
    joints: Sequence[Joint], bodies: Sequence[Body], armature: FloatArray
) -> tuple[int, ...]:
    """Return the coordinates that move no mass in any pose: their row of M is zero.

    A sliding joint moves mass if a body slides with it, a turning joint if its body has inertia
    about its axis or if descendants have mass, which further joints can move off the axis.

    Args:
        joints: joints of a model.
        bodies: bodies of a model.
        armature: armatures of a model, shape (n,): a coordinate with a rotor moves inertia.
    """
    mass = [body.mass for body in bodies]
    has_matter = [body.mass > 0 or bool(body.inertia.any()) for body in bodies]
    carries = [False] * len(joints)
    moves = armature > 0
    for k in reversed(range(len(joints))):
        joint = joints[k]
        if joint.multiplier != 0 and not moves[joint.coordinate]:
            by_sliding = joint.motion.slides and mass[k] > 0
            by_turning = joint.motion.turns and (
                carries[k] or resists_turning(bodies[k], joint.axis)
            )
            moves[joint.coordinate] = by_sliding or by_turning
        if joint.parent >= 0 and has_matter[k]:
            mass[joint.parent] += mass[k]
            has_matter[joint.parent] = carries[joint.parent] = True
    return tuple(int(k) for k in np.flatnonzero(~moves))


def lump(parts: Sequence[tuple[str, Body, FloatArray, FloatArray]]) -> Body:
    """Return one body for several that are fixed together.

    Args:
        parts: (link name, body, rotation (3, 3), translation (3,)) of each part; rotation and
            translation place the part's frame in the common frame.
    """
    if len(parts) == 1 and parts[0][1].mass > 0:
        name, body, rotation, translation = parts[0]
        if (rotation == np.eye(3)).all() and not translation.any():
            return replace(body, links=(name,))
    mass = sum(body.mass for _, body, _, _ in parts)
    placed = [(body, R, product(R, body.center_of_mass) + p) for _, body, R, p in parts]
    if mass > 0:
        center = sum((body.mass * c for body, _, c in placed), np.zeros(3)) / mass
    else:
        center = np.zeros(3)
    inertia, single = np.zeros((3, 3)), []
    for (name, *_), (body, R, c) in zip(parts, placed, strict=True):
        r, own = c - center, product(product(R, body.inertia), R.T)
        inertia += own + body.mass * (inner(r, r) * np.eye(3) - np.outer(r, r))
        single.append(Body(body.mass, read_only(c), read_only(own), (name,)))
    return Body(
        mass=float(mass),
        center_of_mass=read_only(center),
        inertia=read_only(inertia),
        links=tuple(name for name, _, _, _ in parts),
        parts=tuple(single) if len(single) > 1 else (),
    )
