# Copyright 2026 The kron_dynamics Authors
# SPDX-License-Identifier: Apache-2.0
"""Limits and friction of a joint, with warnings for implausible values."""

from __future__ import annotations

import math

from urdf_parser_py import urdf

from kron_dynamics.messages import named
from kron_dynamics.model.findings import Findings
from kron_dynamics.model.joint_kinds import ROTATION, joint_kind

# Position limit, rad, above which limits may be in degrees: joints rarely turn more than twice.
_TWICE_ROUND = 4 * math.pi


def joint_limits(joint: urdf.Joint, findings: Findings) -> tuple[float, float, float, float]:
    """Return the lower, upper, velocity and effort limits; infinite if the URDF sets none."""
    subject = named('joint', joint.name)
    if joint.limit is None:
        if not joint_kind(joint.type).is_endless:
            findings.warn(
                'missing_limit',
                subject,
                f'it is {joint.type} but has no <limit>; none is taken',
                'give lower, upper, effort and velocity: Pinocchio and other readers refuse the '
                'file',
            )
        return -math.inf, math.inf, math.inf, math.inf
    velocity = _magnitude(joint, 'velocity', findings)
    effort = _magnitude(joint, 'effort', findings)
    if joint_kind(joint.type).is_endless:
        return -math.inf, math.inf, velocity, effort
    lower, upper = joint.limit.lower, joint.limit.upper
    if lower > upper:
        findings.warn(
            'limits_reversed',
            subject,
            f'its lower limit {lower:g} is above its upper limit {upper:g}; the range between '
            f'the two is taken',
            'exchange them, or make the joint continuous if it has none',
        )
        lower, upper = upper, lower
    elif lower == upper:
        findings.warn(
            'no_range',
            subject,
            f'its lower and upper limit are both {lower:g}: it cannot move',
            'give the limits (0 where the file has none), or make the joint fixed or continuous',
        )
    if joint_kind(joint.type).motion == ROTATION:  # screws turn often
        _look_for_degrees(subject, lower, upper, findings)
    return lower, upper, velocity, effort


def _magnitude(joint: urdf.Joint, key: str, findings: Findings) -> float:
    value: float = getattr(joint.limit, key)
    subject = named('joint', joint.name)
    if value < 0:
        findings.warn(
            'negative_limit',
            subject,
            f'its {key} limit is {value:g}; the magnitude is taken',
            'write it without the sign: the limit holds both ways',
        )
    elif value == 0:
        findings.warn(
            'zero_limit',
            subject,
            f'its {key} limit is 0: {_NOTHING[key]}',
            f'give the {key} limit, or leave out the limit where there is none',
        )
    return abs(value)


_NOTHING = {
    'velocity': 'no motion of it is allowed',
    'effort': 'its drive has no effort',
}


def _look_for_degrees(subject: str, lower: float, upper: float, findings: Findings) -> None:
    largest = max(abs(lower), abs(upper))
    whole = all(math.isinf(x) or x == round(x) for x in (lower, upper))
    # 100 rad, and limits above 720, are usual placeholders for no limit.
    if _TWICE_ROUND < largest <= 720 and whole and largest != 100:
        findings.warn(
            'limit_in_degrees',
            subject,
            f'its limits are {lower:g} and {upper:g} rad, {largest / (2 * math.pi):.3g} turns',
            f'write {lower * math.pi / 180:.4g} and {upper * math.pi / 180:.4g} if degrees are '
            f'meant',
        )


def joint_friction(joint: urdf.Joint, findings: Findings) -> tuple[float, float]:
    """Return the viscous and Coulomb friction of one joint."""
    if joint.dynamics is None:
        return 0.0, 0.0
    viscous, coulomb = joint.dynamics.damping or 0.0, joint.dynamics.friction or 0.0
    for key, value in (('damping', viscous), ('friction', coulomb)):
        if value < 0:
            findings.warn(
                'negative_friction',
                named('joint', joint.name),
                f'its {key} is {value:g}, which accelerates the joint; it is used as it is',
                'write it without the sign',
            )
    return viscous, coulomb
